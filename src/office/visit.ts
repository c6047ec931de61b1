/** One visit to the account pages: who comes, with what, and where everything is that a page may need. */
import type { Client } from "#accounts/client.ts";
import type { Passwords } from "#accounts/passwords.ts";
import type { Membership, Visitor } from "#accounts/sessions.ts";
import type { ReadModel } from "#search/read-model.ts";
import type { ControlStore, UsageStore } from "#store/stores.ts";
import type { Post } from "./mail/post.ts";
import type { Desk, OfficeSettings } from "./message.ts";
import type { OwnOrigin } from "./own-origin.ts";
import type { PersonLimiter } from "./person-limits.ts";

/** What all visits share. */
export interface Rooms {
  settings: OfficeSettings;
  control: ControlStore;
  usage: UsageStore;
  passwords: Passwords;
  post: Post;
  desk: Desk;
  personLimiter: PersonLimiter;
  /** The records; null while none are published. */
  model(): ReadModel | null;
  complain(complaint: string): void;
}

export interface Visit {
  rooms: Rooms;
  method: "GET" | "POST";
  path: string;
  /** What stood in place of the `{name}`s of the route's path. */
  names: Readonly<Record<string, string>>;
  query: URLSearchParams;
  /** Empty for a GET. */
  form: URLSearchParams;
  client: Client;
  own: OwnOrigin;
  /** Null for whoever is not signed in. */
  visitor: Visitor | null;
  /** Milliseconds since 1970. */
  now: number;
}

/** A visit of somebody who is signed in. */
export interface SignedInVisit extends Visit {
  visitor: Visitor;
}

/** A visit of somebody who looks at an account of theirs. */
export interface AccountVisit extends SignedInVisit {
  account: Membership;
}
