/** One request to the account pages: who sends it, what it holds, and the services a page may need. */
import type { Client } from "#accounts/client.ts";
import type { Passwords } from "#accounts/passwords.ts";
import type { Membership } from "#accounts/members.ts";
import type { SignedIn } from "#accounts/sessions.ts";
import { isLoopback } from "#config.ts";
import type { ReadModel } from "#search/read-model.ts";
import type { ControlStore, UsageStore } from "#store/stores.ts";
import type { Mailer } from "./mailer.ts";
import type { LookAtQuota, PageRequest, AccountWorkerSettings } from "./messages.ts";
import type { PersonLimiter } from "./person-limits.ts";

/** What all requests share. */
export interface AccountServices {
  settings: AccountWorkerSettings;
  control: ControlStore;
  usage: UsageStore;
  passwords: Passwords;
  mailer: Mailer;
  lookAtQuota: LookAtQuota;
  personLimiter: PersonLimiter;
  /** The records; null while none are published. */
  model(): ReadModel | null;
  reportError(error: string): void;
}

export interface AccountRequest {
  services: AccountServices;
  method: "GET" | "POST";
  path: string;
  /** The text of the `{name}` segments of the route's path. */
  names: Readonly<Record<string, string>>;
  query: URLSearchParams;
  /** Empty for a GET. */
  form: URLSearchParams;
  client: Client;
  own: OwnOrigin;
  /** Null for somebody who is not signed in. */
  signedIn: SignedIn | null;
  /** Milliseconds since 1970. */
  now: number;
}

/** A request of somebody who is signed in. */
export interface SignedInRequest extends AccountRequest {
  signedIn: SignedIn;
}

/** A request of somebody who looks at an account of theirs. */
export interface MemberRequest extends SignedInRequest {
  account: Membership;
}

/** The scheme and host under which the browser sees these pages. */
interface OwnOrigin {
  /** Without a slash at the end. */
  origin: string;
  /** Precedes a path in links and samples shown on the page itself, never in anything that is mailed. */
  base: string;
  isSecure: boolean;
}

/**
 * From `PUBLIC_URL`; without it from the `Host` header, if that names this machine: any other name may be made up by
 * the client. Null where it cannot be told, and then no page is served.
 */
export function ownOrigin(
  { publicUrl }: Pick<AccountWorkerSettings, "publicUrl">,
  { headers }: Pick<PageRequest, "headers">,
): OwnOrigin | null {
  if (publicUrl !== null) {
    const { origin, protocol, hostname } = new URL(publicUrl);
    const isSecure = protocol === "https:";
    return isSecure || isLoopback(hostname) ? { origin, base: publicUrl, isSecure } : null;
  }
  const { host = "" } = headers;
  const [, name = ""] = /^([^:]+|\[[^\]]*\])(?::\d{1,5})?$/.exec(host) ?? [];
  if (!isLoopback(name)) return null;
  return { origin: `http://${host}`, base: `http://${host}`, isSecure: false };
}
