/** The tables for accounts, keys and people, in `control.sqlite` or PostgreSQL. */
import type { Kysely, Transaction } from "kysely";

/** Columns of a table, each with its SQL type and constraints. `primary key` lists the columns of a composite key. */
type Columns = Readonly<Record<string, string>>;

/** Types of values, by table and column. A column is nullable unless its SQL says otherwise. */
export type RowsOf<Tables> = {
  [Table in keyof Tables]: {
    -readonly [Name in Exclude<keyof Tables[Table], "primary key">]: ValueOf<Tables[Table][Name]>;
  };
};

type ValueOf<Column> = Column extends `${string}not null${string}` | `${string} primary key`
  ? StoredAs<Column>
  : StoredAs<Column> | null;

type StoredAs<Column> = Column extends `text${string}`
  ? string
  : Column extends `bytea${string}`
    ? Uint8Array
    : number;

/** Returns statements that create tables. @param indent spaces before each line except the first. */
export const createTables = (
  tables: Readonly<Record<string, Columns>>,
  indent: string,
): readonly string[] =>
  Object.entries(tables).map(([table, columns]) => {
    const lines = Object.entries(columns).map(([name, column]) => `\n${indent}  ${name} ${column}`);
    return `create table ${table} (${lines.join()}\n${indent})`;
  });

/** Name of the plan for accounts without a plan of their own. It need not exist. */
export const defaultPlan = "default";

/**
 * Tables of each schema's first step. Times are ISO 8601 strings in UTC, which sort correctly up to the year 9999. The
 * database assigns no numbers: the holder of the write lock numbers accounts and audit entries.
 */
const tables = {
  /**
   * A plan, with quotas for its accounts. A null quota means the quota of the plan `default`, or else the service's.
   */
  plan: {
    name: "text primary key",
    per_minute: "integer",
    per_hour: "integer",
    per_day: "integer",
    /** Right to read changes: 1 or 0. Null means the right in the plan `default`, or 1 if there is none. */
    changes: "integer",
    created_at: "text not null",
  },
  account: {
    /** Number by which quotas are counted. It is never reused, because accounts are closed but never deleted. */
    number: "integer primary key",
    id: "text not null unique",
    name: "text not null",
    /** Name in lower case, which no two accounts share. A closed account has its id here, which cannot be a name. */
    name_folded: "text not null unique",
    /** Quotas in requests; null means the plan's quota. */
    per_minute: "integer",
    per_hour: "integer",
    per_day: "integer",
    suspended_at: "text",
    created_at: "text not null",
    plan: "text references plan",
    closed_at: "text",
  },
  api_key: {
    id: "text primary key",
    /** SHA-256 of the whole key, 32 bytes. The database does not contain the key itself. */
    digest: "bytea not null unique",
    account: "integer not null references account",
    name: "text not null",
    /** First 8 characters of the key. */
    hint: "text not null",
    /** 1 for the demo's key, otherwise 0. The demo's key is never accepted through a proxy. */
    is_demo: "integer not null",
    created_at: "text not null",
    expires_at: "text",
    revoked_at: "text",
    /** Id of the key that replaced this one in a rotation; null if none did. */
    replaced_by: "text",
    /** Id of the person who created the key; null if nobody was signed in. It remains after the person is deleted. */
    made_by: "text",
    /** One-time value of the form that created the key; null if no form did. Unique within the account. */
    form: "text",
  },
  /** A person. Everybody has signed up through a link made for their address. */
  person: {
    id: "text primary key",
    email: "text not null",
    /** Folded address, which no two people share. */
    email_folded: "text not null unique",
    /** Password hash with its parameters, `$argon2id$…`. */
    password: "text not null",
    created_at: "text not null",
  },
  member: {
    account: "integer not null references account",
    person: "text not null references person",
    role: "text not null",
    joined_at: "text not null",
    "primary key": "(account, person)",
  },
  session: {
    /** SHA-256 of the token in the cookie. The database does not contain the token itself. */
    digest: "bytea primary key",
    id: "text not null unique",
    person: "text not null references person",
    /** Number of the account that the person is viewing; null if none. Ignored once they are no longer a member. */
    account: "integer references account",
    created_at: "text not null",
    /** Time of a recent request. It is updated at most once a minute. */
    seen_at: "text not null",
    ends_at: "text not null",
    /** Client network: an IPv4 address, an IPv6 /64 or `unknown`. */
    network: "text not null",
    /** Name of the browser and its system, such as `Firefox on Linux`. */
    browser: "text not null",
  },
  /** A browser in which a person has signed in. Wrong guesses from other browsers do not delay its sign-ins. */
  known_browser: {
    /** SHA-256 of the token in the cookie. */
    digest: "bytea primary key",
    person: "text not null references person",
    seen_at: "text not null",
  },
  link: {
    /** SHA-256 of the token in the link. */
    digest: "bytea primary key",
    id: "text not null unique",
    kind: "text not null",
    /** Address that the link was made for; empty for a reset link that was requested for an unknown address. */
    email: "text not null",
    email_folded: "text not null",
    /** Id of the person whose password or address the link changes; null for all other links. */
    person: "text references person",
    /** Number of the account that an invitation is to; null for all other links. */
    account: "integer references account",
    role: "text",
    created_at: "text not null",
    expires_at: "text not null",
    used_at: "text",
  },
  throttle: {
    /** Kind of the subject and a hash of its value, so that a wrong guess stores nobody's address. */
    subject: "text primary key",
    failures: "integer not null",
    /** Time of the next allowed attempt. For the kinds `network`, `site` and `mail`, the end of the window. */
    next_at: "text not null",
  },
  /** The audit log. Entries are added, never changed, and removed only when older than AUDIT_DAYS days. */
  audit: {
    number: "bigint primary key",
    at: "text not null",
    /** Id of a person, `operator` for a command, or `service` if nobody is signed in or the action is automatic. */
    actor: "text not null",
    account: "integer",
    action: "text not null",
    /** Id or name of the changed object; null if there is none. */
    subject: "text",
    /** JSON object without addresses or secrets. */
    detail: "text not null",
  },
  /** A notice to the owners of an account, recorded so that it is sent only once. */
  notice: {
    account: "integer not null references account",
    kind: "text not null",
    subject: "text not null",
    at: "text not null",
    "primary key": "(account, kind, subject)",
  },
} as const;

/** Tables that later steps of each schema add, in the order of the steps. */
const addedTables = {
  /** A view of records that an account follows through a private feed. */
  followed_view: {
    /** SHA-256 of the secret in the feed's address. The database does not contain the secret itself. */
    digest: "bytea primary key",
    id: "text not null unique",
    account: "integer not null references account",
    kind: "text not null",
    /** Query of the kind's list, without paging; empty for all records. */
    query: "text not null",
    /** Id of the person who follows the view. The view is deleted with the person. */
    made_by: "text not null",
    created_at: "text not null",
  },
  /** A person who is kept out of the records. No other table stores the name. */
  suppression: {
    number: "integer primary key",
    name: "text not null",
    /** Limit to records with this GP name, CIK or CRD number. At most one of the three is set; none means no limit. */
    gp: "text",
    cik: "text",
    crd: "text",
    reason: "text not null",
    created_at: "text not null",
    /** Time when the person was gone from all datasets and the steps between them; null until then. */
    applied_at: "text",
  },
  /** Time of a source's last successful sync, even one without changes; before any success, the first sync's start. */
  sync: { source: "text primary key", succeeded_at: "text not null" },
} as const;

/** Names of all tables; parents come before tables that refer to them. */
export const controlTableNames: readonly string[] = [tables, addedTables].flatMap(Object.keys);

export type Role = "owner" | "member";
export type LinkKind = "sign-up" | "invite" | "reset" | "email";

export type ControlTables = RowsOf<typeof tables & typeof addedTables> & {
  member: { role: Role };
  link: { kind: LinkKind; role: Role | null };
  /** Public ids of GPs that the limit was found to cover, separated by spaces. It covers them for good. */
  suppression: { gp_ids: string };
};

/** Connection to the store for reading, or a transaction. */
export type ControlDatabase = Kysely<ControlTables>;
/** Transaction that holds the store's write lock. */
export type ControlTransaction = Transaction<ControlTables>;

export type AccountTable = ControlTables["account"];
export type ApiKeyTable = ControlTables["api_key"];
export type PersonTable = ControlTables["person"];
export type SyncTable = ControlTables["sync"];

/** Statements that create the first step's tables and indexes. PostgreSQL's schema adds a collation to each `text`. */
export const controlTableSql: readonly string[] = [
  ...createTables(tables, "  "),
  "create index account_plan on account (plan)",
  "create index api_key_account on api_key (account)",
  "create unique index api_key_form on api_key (account, form)",
  "create index member_person on member (person)",
  "create index session_person on session (person)",
  "create index known_browser_person on known_browser (person)",
  "create index link_email on link (email_folded)",
  "create index audit_account on audit (account, number)",
];

const createAdded = (table: keyof typeof addedTables) =>
  createTables({ [table]: addedTables[table] }, "  ");

/** Statements of the later steps, by what they add. */
export const addedSql = {
  followedViews: [
    ...createAdded("followed_view"),
    "create index followed_view_account on followed_view (account)",
  ],
  suppressions: createAdded("suppression"),
  syncs: createAdded("sync"),
  suppressedGps: [
    "alter table suppression add column gp_ids text not null default ''",
    // Applying these suppressions again finds their GPs.
    "update suppression set applied_at = null where coalesce(gp, cik, crd) is not null",
  ],
};

/** Maximum number of requests in each window; null means the plan's or the service's maximum. */
export interface OwnQuotas {
  readonly minute: number | null;
  readonly hour: number | null;
  readonly day: number | null;
}

export function quotasOf(
  row: Pick<AccountTable, "per_minute" | "per_hour" | "per_day">,
): OwnQuotas {
  return { minute: row.per_minute, hour: row.per_hour, day: row.per_day };
}
