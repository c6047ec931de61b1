/** The steps that the schema of a PostgreSQL database goes through, oldest first. A released step is never changed, only followed. */
import { datasetTables, publicationTables } from "./dataset-tables.ts";
import { postgresCountsSql, postgresWholesSql } from "./postgres-counts-sql.ts";
import { postgresUsageSchema } from "./usage-schema.ts";

export interface PostgresStep {
  name: string;
  /** Whether programs that do not know the step can go on working beside those that do, as during a rolling upgrade. */
  isAdditive: boolean;
  sql: string;
}

/**
 * Texts are compared and sorted byte by byte, as SQLite does, whatever the collation of the database. Numbers of accounts and entries
 * are given by whoever holds the write lock, so nothing here counts by itself.
 */
const control = `
create table plan (
  name text collate "C" primary key,
  per_minute integer,
  per_hour integer,
  per_day integer,
  created_at text collate "C" not null
);

create table account (
  number integer primary key,
  id text collate "C" not null unique,
  name text collate "C" not null,
  name_folded text collate "C" not null unique,
  per_minute integer,
  per_hour integer,
  per_day integer,
  suspended_at text collate "C",
  created_at text collate "C" not null,
  plan text collate "C" references plan,
  closed_at text collate "C"
);
create index account_plan on account (plan);

create table api_key (
  id text collate "C" primary key,
  digest bytea not null unique,
  account integer not null references account,
  name text collate "C" not null,
  hint text collate "C" not null,
  is_demo integer not null,
  created_at text collate "C" not null,
  expires_at text collate "C",
  revoked_at text collate "C",
  replaced_by text collate "C",
  made_by text collate "C",
  form text collate "C"
);
create index api_key_account on api_key (account);
create unique index api_key_form on api_key (account, form);

create table person (
  id text collate "C" primary key,
  email text collate "C" not null,
  email_folded text collate "C" not null unique,
  password text collate "C" not null,
  created_at text collate "C" not null
);

create table member (
  account integer not null references account,
  person text collate "C" not null references person,
  role text collate "C" not null,
  joined_at text collate "C" not null,
  primary key (account, person)
);
create index member_person on member (person);

create table session (
  digest bytea primary key,
  id text collate "C" not null unique,
  person text collate "C" not null references person,
  account integer references account,
  created_at text collate "C" not null,
  seen_at text collate "C" not null,
  ends_at text collate "C" not null,
  network text collate "C" not null,
  browser text collate "C" not null
);
create index session_person on session (person);

create table known_browser (
  digest bytea primary key,
  person text collate "C" not null references person,
  seen_at text collate "C" not null
);
create index known_browser_person on known_browser (person);

create table link (
  digest bytea primary key,
  id text collate "C" not null unique,
  kind text collate "C" not null,
  email text collate "C" not null,
  email_folded text collate "C" not null,
  person text collate "C" references person,
  account integer references account,
  role text collate "C",
  created_at text collate "C" not null,
  expires_at text collate "C" not null,
  used_at text collate "C"
);
create index link_email on link (email_folded);

create table throttle (
  subject text collate "C" primary key,
  failures integer not null,
  next_at text collate "C" not null
);

create table audit (
  number bigint primary key,
  at text collate "C" not null,
  actor text collate "C" not null,
  account integer,
  action text collate "C" not null,
  subject text collate "C",
  detail text collate "C" not null
);
create index audit_account on audit (account, number);

create table notice (
  account integer not null references account,
  kind text collate "C" not null,
  subject text collate "C" not null,
  at text collate "C" not null,
  primary key (account, kind, subject)
);

-- What a server keeps in memory of keys changed: account 0 counts all changes, the row of an account says at which count its
-- keys changed last, and account -1 the same for a change that may concern all of them. The row of account 0 stays locked until
-- the change is committed, so whoever has seen a count has seen all changes up to it.
create table key_change (
  account integer primary key,
  count bigint not null
);
insert into key_change values (0, 0), (-1, 0);

create function note_key_change() returns trigger language plpgsql as $$
declare
  whose integer := -1;
  counted bigint;
begin
  if tg_op <> 'DELETE' then
    if tg_table_name = 'account' then whose := new.number; end if;
    if tg_table_name = 'api_key' then whose := new.account; end if;
  end if;
  update key_change set count = count + 1 where account = 0 returning count into counted;
  insert into key_change (account, count) values (whose, counted)
    on conflict (account) do update set count = excluded.count;
  perform pg_notify('gp_records_keys', '');
  return null;
end $$;

create trigger key_change after insert or update or delete on api_key
  for each row execute function note_key_change();
create trigger key_change after insert or update or delete on account
  for each row execute function note_key_change();
create trigger key_change after insert or update or delete on plan
  for each row execute function note_key_change();
`;

/** Whether accounts on a plan may read what changed; null as the plan `default` says. */
const planChanges = "alter table plan add column changes integer;";

export const postgresSteps: readonly PostgresStep[] = [
  { name: "0001-control", isAdditive: false, sql: control },
  { name: "0002-counts", isAdditive: true, sql: postgresCountsSql },
  { name: "0003-datasets", isAdditive: true, sql: datasetTables },
  { name: "0004-usage", isAdditive: true, sql: postgresUsageSchema },
  { name: "0006-weights", isAdditive: true, sql: postgresWholesSql },
  { name: "0007-changes", isAdditive: true, sql: planChanges + publicationTables },
];
