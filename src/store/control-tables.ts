/** The tables of accounts, keys and people, in `control.sqlite` or PostgreSQL. */

/** Columns of a table, each with its type and constraints in SQL. The name `primary key` stands for that of the table. */
type Columns = Readonly<Record<string, string>>;

/** Types of the values in tables, by the name of the table and of the column. Each column may be null unless it says so. */
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

/** Returns statements that create tables. @param indent spaces before each line but the first. */
export const createTables = (
  tables: Readonly<Record<string, Columns>>,
  indent: string,
): readonly string[] =>
  Object.entries(tables).map(([table, columns]) => {
    const lines = Object.entries(columns).map(([name, column]) => `\n${indent}  ${name} ${column}`);
    return `create table ${table} (${lines.join()}\n${indent})`;
  });

/** Name of the plan of accounts without another one. The plan need not exist. */
export const defaultPlan = "default";

/**
 * All tables. Times are ISO 8601 text in UTC, always of one length, so that texts sort like times. Nothing here counts by
 * itself: the holder of the write lock gives accounts and entries their numbers.
 */
const tables = {
  /** A plan: requests for each account on it. Null stands for those of the plan `default`, or of the service. */
  plan: {
    name: "text primary key",
    per_minute: "integer",
    per_hour: "integer",
    per_day: "integer",
    /** May they read changes? 1 or 0; null as the plan `default` says, or 1 without one. */
    changes: "integer",
    created_at: "text not null",
  },
  account: {
    /** Number that quotas are counted by. It is never reused, because accounts are closed and never deleted. */
    number: "integer primary key",
    id: "text not null unique",
    name: "text not null",
    /** Name in lower case, which no two accounts share. A closed account has its id here, which cannot be a name. */
    name_folded: "text not null unique",
    /** Requests; null stands for those of the plan. */
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
    /** SHA-256 of the whole key, 32 bytes. The key itself is stored nowhere. */
    digest: "bytea not null unique",
    account: "integer not null references account",
    name: "text not null",
    /** First 8 characters of the key. */
    hint: "text not null",
    /** 1 for the key that a demo prints, which works only from this machine. */
    is_demo: "integer not null",
    created_at: "text not null",
    expires_at: "text",
    revoked_at: "text",
    /** Id of the key that replaced it in a rotation. */
    replaced_by: "text",
    /** Id of the person who made it; null if a command did. Stays when the person is deleted. */
    made_by: "text",
    /** One-time value of the form that made it. No two keys of an account share one. */
    form: "text",
  },
  /** A person. One is created only by following a link sent to the address, so every address is proven. */
  person: {
    id: "text primary key",
    email: "text not null",
    /** Form of the address that no two people share. */
    email_folded: "text not null unique",
    /** Hash `$argon2id$…`, with its parameters. */
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
    /** SHA-256 of the token in the cookie; the token itself is stored nowhere. */
    digest: "bytea primary key",
    id: "text not null unique",
    person: "text not null references person",
    /** Account that the person looks at, if still a member of it. */
    account: "integer references account",
    created_at: "text not null",
    /** Last time seen, to the minute. */
    seen_at: "text not null",
    ends_at: "text not null",
    /** Client network; of IPv6 only the first 64 bits. */
    network: "text not null",
    /** Name of the browser, such as `Firefox on Linux`. */
    browser: "text not null",
  },
  /** A browser that somebody has signed in with. Wrong guesses of others do not slow it down. */
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
    /** Address that it was sent to. */
    email: "text not null",
    email_folded: "text not null",
    /** Person that it is for, if there is one already. */
    person: "text references person",
    /** Account of an invitation; null for an account of their own. */
    account: "integer references account",
    role: "text",
    created_at: "text not null",
    expires_at: "text not null",
    used_at: "text",
  },
  throttle: {
    /** Counted thing, hashed, so that a wrong guess stores nobody's address. */
    subject: "text primary key",
    failures: "integer not null",
    /** Time of the next allowed attempt, or of a new start of a network's count. */
    next_at: "text not null",
  },
  /** The audit log. Entries are added, never changed, and removed only when older than AUDIT_DAYS. */
  audit: {
    number: "bigint primary key",
    at: "text not null",
    /** Id of a person, `operator` for a command, or `service`. */
    actor: "text not null",
    account: "integer",
    action: "text not null",
    /** Id or name of the changed thing. */
    subject: "text",
    /** JSON object; never an address or a secret. */
    detail: "text not null",
  },
  /** A sent notice, noted so that it is sent once. */
  notice: {
    account: "integer not null references account",
    kind: "text not null",
    subject: "text not null",
    at: "text not null",
    "primary key": "(account, kind, subject)",
  },
} as const;

export type Role = "owner" | "member";
export type LinkKind = "sign-up" | "invite" | "reset" | "email";

export type ControlTables = RowsOf<typeof tables> & {
  member: { role: Role };
  link: { kind: LinkKind; role: Role | null };
};

export type AccountTable = ControlTables["account"];
export type ApiKeyTable = ControlTables["api_key"];
export type PersonTable = ControlTables["person"];
export type SessionTable = ControlTables["session"];

/** Statements that create these tables. For PostgreSQL the collation of texts is added. */
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

/** Requests that an account may make; null stands for the default of the service. */
export interface Quotas {
  readonly minute: number | null;
  readonly hour: number | null;
  readonly day: number | null;
}

export function quotasOf(row: Pick<AccountTable, "per_minute" | "per_hour" | "per_day">): Quotas {
  return { minute: row.per_minute, hour: row.per_hour, day: row.per_day };
}
