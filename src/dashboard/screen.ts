/** A screen of the pages for people: who may use it, the requests it gets and the replies it gives. */
import type { Membership } from "#accounts/members.ts";
import type { Passwords } from "#accounts/passwords.ts";
import type { SignedIn } from "#accounts/sessions.ts";
import { type Client, TooOften } from "#accounts/throttle.ts";
import type { OwnOrigin } from "#config.ts";
import type { ChangesReader } from "#datasets/joined-steps.ts";
import type { Explained } from "#records/explanation.ts";
import type { ReadModel } from "#search/read-model.ts";
import { DomainError, StoreFault } from "#store/store-fault.ts";
import type { ControlStore, UsageStore } from "#store/stores.ts";
import type { Mailer } from "./mailer.ts";
import type { AccountWorkerSettings, LookAtQuota, PageAnswer, TakeQuota } from "./messages.ts";
import type { PersonLimiter } from "./person-limits.ts";

/** Path of the page to show after signing in, unless another one is asked for. */
export const homePath = "/browse/gps";

/** Levels of access to a route, each with the type of request that the route's functions get. */
interface RequestByAccess {
  anyone: AccountRequest;
  /** Signed-in members of an account, or anybody if pages show records to everyone. */
  reader: ReaderRequest;
  /** Anybody who is signed in, even without an account. */
  person: SignedInRequest;
  /** Anybody who is signed in and a member of an account. */
  member: MemberRequest;
  owner: MemberRequest;
}
type Access = keyof RequestByAccess;

/** Result of a route's function: a reply, or a page's markup. */
export type Given = Reply | string;

export type Serve<R extends AccountRequest = AccountRequest> = (
  request: R,
) => Given | Promise<Given>;

interface Served<R extends AccountRequest = AccountRequest> {
  /** Serves GET and HEAD. */
  GET?: Serve<R>;
  POST?: Serve<R>;
  /** Link to the page in the navigation. */
  link?: { group: "API" | "Account"; label: string };
  /** True if a page's script makes the request, not a person who opens a page. */
  isBackground?: boolean;
}

export interface Route extends Served {
  /** Path in which a segment `{name}` matches any non-empty text without a slash. */
  path: `/${"account" | "browse" | "search" | "feeds"}${string}`;
  access: Access;
}

/** Declares a route. answer-request.ts calls its functions only with the type of request that `access` promises. */
export const route = <A extends Access>(
  path: Route["path"],
  access: A,
  served: Served<RequestByAccess[A]>,
): Route => ({ path, access, ...(served as Served) });

/**
 * Returns a function that does what a form asks for. On a DomainError other than `not_found`, the function shows the
 * form's page again with the reason.
 * @param page returns the page with the form and the reason.
 */
export const posting =
  <R extends AccountRequest>(
    page: (request: R, fault: string) => string | Promise<string>,
    act: (request: R) => Promise<Given>,
  ): Serve<R> =>
  async (request) => {
    try {
      return await act(request);
    } catch (fault) {
      // If the form's subject no longer exists, there is no page to show the error on.
      if (!(fault instanceof DomainError) || fault.kind === "not_found") throw fault;
      return refusal(fault, await page(request, wordsFor(fault)));
    }
  };

/** Returns the first route that matches a path, with the text of its `{name}` segments; undefined if none does. */
export function findRoute(
  routes: readonly Route[],
  path: string,
): { found: Route; names: Record<string, string> } | undefined {
  const parts = path.split("/");
  for (const found of routes) {
    const wanted = found.path.split("/");
    if (wanted.length !== parts.length) continue;
    const names: Record<string, string> = {};
    const isFound = wanted.every((part, i) => {
      if (!part.startsWith("{")) return part === parts[i];
      names[part.slice(1, -1)] = parts[i]!;
      return parts[i] !== "";
    });
    if (isFound) return { found, names };
  }
  return undefined;
}

export interface AccountServices {
  settings: AccountWorkerSettings;
  control: ControlStore;
  usage: UsageStore;
  passwords: Passwords;
  mailer: Mailer;
  lookAtQuota: LookAtQuota;
  takeQuota: TakeQuota;
  personLimiter: PersonLimiter;
  changes: ChangesReader;
  /** Returns the records, or null if none can be shown. */
  model(): ReadModel | null;
  explain(id: string): Explained;
  /** Returns who may see these records. */
  browse(): AccountWorkerSettings["browse"];
  reportError(error: string): void;
}

export interface AccountRequest {
  services: AccountServices;
  method: "GET" | "POST";
  path: string;
  /** Text of the path's `{name}` segments, by name. */
  names: Readonly<Record<string, string>>;
  query: URLSearchParams;
  /** Form fields; empty for a GET. */
  form: URLSearchParams;
  /** File sent with the form; null if none was. */
  file: { name: string; bytes: Buffer } | null;
  client: Client;
  own: OwnOrigin;
  /** All routes, to find the requested one and to list pages in the navigation. */
  routes: readonly Route[];
  signedIn: SignedIn | null;
  /** Time of the request, in ms since 1970. */
  now: number;
  /** Time of the request on the monotonic clock, in µs. */
  monotonicMicroseconds: number;
}

export interface SignedInRequest extends AccountRequest {
  signedIn: SignedIn;
}

export interface MemberRequest extends SignedInRequest {
  account: Membership;
}

export interface ReaderRequest extends AccountRequest {
  /** Account of a signed-in member; null for anybody else. */
  account: Membership | null;
}

/** Reports whether a reader is a member. Only members see e-mail addresses and LinkedIn pages of people. */
export const isSignedIn = (request: ReaderRequest): request is MemberRequest =>
  request.account !== null;

/** Returns the account's number, the acting person's id and the time, for functions that change the account. */
export const acting = ({ account, signedIn, now }: MemberRequest) => ({
  account: account.number,
  actor: signedIn.person.id,
  now,
});

export type Reply = PageAnswer;

const replyOf = (status: number, body: Reply["body"], ...headers: Reply["headers"]): Reply => ({
  status,
  headers,
  body,
});

export const page = (markup: string, status = 200): Reply =>
  replyOf(status, markup, ["content-type", "text/html; charset=utf-8"]);

/** Returns a 401, which must name a way to authenticate (RFC 9110 §11.6.1). @param markup sign-in page. */
export const unauthorized = (markup: string): Reply =>
  withHeader(page(markup, 401), "www-authenticate", "Form realm=account");

/** Returns a redirect. After a POST the browser sends a GET to `path`, so a reload posts nothing (RFC 9110 §15.4.4). */
export const seeOther = (path: string): Reply => replyOf(303, "", ["location", path]);

export const withQuery = (path: string, query: URLSearchParams): string =>
  query.size === 0 ? path : `${path}?${query.toString()}`;

export const moved = (path: string, query: URLSearchParams): Reply =>
  replyOf(308, "", ["location", withQuery(path, query)]);

/** Returns a file to save. @param name file name of letters, digits, dots and hyphens. */
export const download = (name: string, contentType: string, body: Reply["body"]): Reply => {
  const disposition = `attachment; filename="${name}"`;
  return replyOf(200, body, ["content-type", contentType], ["content-disposition", disposition]);
};

export const withHeader = (reply: Reply, name: string, value: string): Reply => ({
  ...reply,
  headers: [...reply.headers, [name, value]],
});

const statusOf: Readonly<Record<DomainError["kind"], number>> = {
  invalid: 400,
  refused: 403,
  not_found: 404,
  conflict: 409,
  too_often: 429,
  busy: 503,
  unusable: 503,
  full: 503,
};

/** Returns a page about a fault, with `retry-after` if a later attempt may work. @param markup a whole page. */
export function refusal(fault: DomainError, markup: string): Reply {
  const reply = page(markup, statusOf[fault.kind]);
  const seconds = fault instanceof TooOften ? fault.retryAfterSeconds : 1;
  const isWorthWaiting = fault instanceof TooOften || reply.status === 503;
  return isWorthWaiting ? withHeader(reply, "retry-after", String(seconds)) : reply;
}

/** Returns a fault's text for the person who sent the request. A StoreFault's own text is for the operator only. */
export const wordsFor = (fault: DomainError): string =>
  fault instanceof StoreFault
    ? "The service cannot read or write its accounts at the moment. Try again; if it still fails in a few minutes, tell the operator."
    : fault.message;
