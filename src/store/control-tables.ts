/** The tables of accounts, keys and people, in `control.sqlite` or PostgreSQL. */

/** ISO 8601 text in UTC, always of one length, so that texts sort like times. */
type Time = string;

export interface AccountTable {
  /** Number that quotas are counted by. It is never reused, because accounts are closed and never deleted. */
  number: number;
  id: string;
  name: string;
  /** Name in lower case, which no two accounts share. A closed account has its id here, which cannot be a name. */
  name_folded: string;
  /** Requests; null stands for those of the plan. */
  per_minute: number | null;
  per_hour: number | null;
  per_day: number | null;
  suspended_at: Time | null;
  created_at: Time;
  plan: string | null;
  closed_at: Time | null;
}

/** Name of the plan of accounts without another one. The plan need not exist. */
export const defaultPlan = "default";

/** A plan: requests for each account on it. Null stands for those of the plan `default`, or of the service. */
interface PlanTable {
  name: string;
  per_minute: number | null;
  per_hour: number | null;
  per_day: number | null;
  /** May they read changes? 1 or 0; null as the plan `default` says, or 1 without one. */
  changes: number | null;
  created_at: Time;
}

export interface ApiKeyTable {
  id: string;
  /** SHA-256 of the whole key, 32 bytes. The key itself is stored nowhere. */
  digest: Uint8Array;
  account: number;
  name: string;
  /** First 8 characters of the key. */
  hint: string;
  /** 1 for the key that a demo prints, which works only from this machine. */
  is_demo: number;
  created_at: Time;
  expires_at: Time | null;
  revoked_at: Time | null;
  /** Id of the key that replaced it in a rotation. */
  replaced_by: string | null;
  /** Id of the person who made it; null if a command did. Stays when the person is deleted. */
  made_by: string | null;
  /** One-time value of the form that made it. No two keys of an account share one. */
  form: string | null;
}

/** A person. One is created only by following a link sent to the address, so every address is proven. */
export interface PersonTable {
  id: string;
  email: string;
  /** Form of the address that no two people share. */
  email_folded: string;
  /** Hash `$argon2id$…`, with its parameters. */
  password: string;
  created_at: Time;
}

export type Role = "owner" | "member";

interface MemberTable {
  account: number;
  person: string;
  role: Role;
  joined_at: Time;
}

export interface SessionTable {
  /** SHA-256 of the token in the cookie; the token itself is stored nowhere. */
  digest: Uint8Array;
  id: string;
  person: string;
  /** Account that the person looks at, if still a member of it. */
  account: number | null;
  created_at: Time;
  /** Last time seen, to the minute. */
  seen_at: Time;
  ends_at: Time;
  /** Client network; of IPv6 only the first 64 bits. */
  network: string;
  /** Name of the browser, such as `Firefox on Linux`. */
  browser: string;
}

/** A browser that somebody has signed in with. Wrong guesses of others do not slow it down. */
interface KnownBrowserTable {
  /** SHA-256 of the token in the cookie. */
  digest: Uint8Array;
  person: string;
  seen_at: Time;
}

export type LinkKind = "sign-up" | "invite" | "reset" | "email";

interface LinkTable {
  /** SHA-256 of the token in the link. */
  digest: Uint8Array;
  id: string;
  kind: LinkKind;
  /** Address that it was sent to. */
  email: string;
  email_folded: string;
  /** Person that it is for, if there is one already. */
  person: string | null;
  /** Account of an invitation; null for an account of their own. */
  account: number | null;
  role: Role | null;
  created_at: Time;
  expires_at: Time;
  used_at: Time | null;
}

interface ThrottleTable {
  /** Counted thing, hashed, so that a wrong guess stores nobody's address. */
  subject: string;
  failures: number;
  /** Time of the next allowed attempt, or of a new start of a network's count. */
  next_at: Time;
}

/** The audit log. Entries are added, never changed, and removed only when older than AUDIT_DAYS. */
interface AuditTable {
  number: number;
  at: Time;
  /** Id of a person, `operator` for a command, or `service`. */
  actor: string;
  account: number | null;
  action: string;
  /** Id or name of the changed thing. */
  subject: string | null;
  /** JSON object; never an address or a secret. */
  detail: string;
}

/** A sent notice, noted so that it is sent once. */
interface NoticeTable {
  account: number;
  kind: string;
  subject: string;
  at: Time;
}

export interface ControlTables {
  account: AccountTable;
  plan: PlanTable;
  api_key: ApiKeyTable;
  person: PersonTable;
  member: MemberTable;
  session: SessionTable;
  known_browser: KnownBrowserTable;
  link: LinkTable;
  throttle: ThrottleTable;
  audit: AuditTable;
  notice: NoticeTable;
}

/**
 * Statements that create these tables. For PostgreSQL the collation of texts is added. Nothing here counts by itself: the
 * holder of the write lock gives accounts and entries their numbers.
 */
export const controlTableSql: readonly string[] = [
  `create table plan (
    name text primary key,
    per_minute integer,
    per_hour integer,
    per_day integer,
    changes integer,
    created_at text not null
  )`,
  `create table account (
    number integer primary key,
    id text not null unique,
    name text not null,
    name_folded text not null unique,
    per_minute integer,
    per_hour integer,
    per_day integer,
    suspended_at text,
    created_at text not null,
    plan text references plan,
    closed_at text
  )`,
  "create index account_plan on account (plan)",
  `create table api_key (
    id text primary key,
    digest bytea not null unique,
    account integer not null references account,
    name text not null,
    hint text not null,
    is_demo integer not null,
    created_at text not null,
    expires_at text,
    revoked_at text,
    replaced_by text,
    made_by text,
    form text
  )`,
  "create index api_key_account on api_key (account)",
  "create unique index api_key_form on api_key (account, form)",
  `create table person (
    id text primary key,
    email text not null,
    email_folded text not null unique,
    password text not null,
    created_at text not null
  )`,
  `create table member (
    account integer not null references account,
    person text not null references person,
    role text not null,
    joined_at text not null,
    primary key (account, person)
  )`,
  "create index member_person on member (person)",
  `create table session (
    digest bytea primary key,
    id text not null unique,
    person text not null references person,
    account integer references account,
    created_at text not null,
    seen_at text not null,
    ends_at text not null,
    network text not null,
    browser text not null
  )`,
  "create index session_person on session (person)",
  `create table known_browser (
    digest bytea primary key,
    person text not null references person,
    seen_at text not null
  )`,
  "create index known_browser_person on known_browser (person)",
  `create table link (
    digest bytea primary key,
    id text not null unique,
    kind text not null,
    email text not null,
    email_folded text not null,
    person text references person,
    account integer references account,
    role text,
    created_at text not null,
    expires_at text not null,
    used_at text
  )`,
  "create index link_email on link (email_folded)",
  `create table throttle (
    subject text primary key,
    failures integer not null,
    next_at text not null
  )`,
  `create table audit (
    number bigint primary key,
    at text not null,
    actor text not null,
    account integer,
    action text not null,
    subject text,
    detail text not null
  )`,
  "create index audit_account on audit (account, number)",
  `create table notice (
    account integer not null references account,
    kind text not null,
    subject text not null,
    at text not null,
    primary key (account, kind, subject)
  )`,
];

/** Requests that an account may make; null stands for the default of the service. */
export interface Quotas {
  readonly minute: number | null;
  readonly hour: number | null;
  readonly day: number | null;
}

export function quotasOf(row: Pick<AccountTable, "per_minute" | "per_hour" | "per_day">): Quotas {
  return { minute: row.per_minute, hour: row.per_hour, day: row.per_day };
}
