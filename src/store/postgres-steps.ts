/** The steps of a PostgreSQL schema, oldest first. A released step is never changed, only followed by others. */
import { addedSql, controlTableSql } from "./control-tables.ts";
import { postgresUsageSchema } from "./usage-schema.ts";

export interface PostgresStep {
  name: string;
  /** True if programs that do not know the step can run beside programs that do, as during a rolling upgrade. */
  isAdditive: boolean;
  sql: string;
}

/** Returns SQL in which text compares and sorts byte by byte, as in SQLite, whatever the database's collation. */
const sqlOf = (statements: readonly string[]) =>
  `${statements.join(";\n").replaceAll(/\btext\b/g, 'text collate "C"')};\n`;

const control = `${sqlOf(controlTableSql)}

-- Key changes, for servers that keep keys in memory. Account 0 counts all changes. An account's row has the count of
-- its keys' last change. Account -1 has the count of the last change that may concern all accounts. Account 0's row
-- stays locked until the change is committed, so a server that has seen a count has seen all changes up to it.
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

/**
 * SQL for the tables and functions that count requests. Each account has one row. `times` has a day's requests, oldest
 * first, in 5 bytes each: the µs since 1970 modulo 2^40, which is 12.7 days. `newest` is the newest request's whole
 * time, which completes the others. The three counts are upper bounds: no window has more requests than its count.
 * PostgreSQL rewrites a changed value as a whole, so a ring buffer would save nothing.
 *
 * Only admitted requests change `times`, and the time used for a row is never earlier than its `newest`. A row
 * therefore frees no quota when a clock that ran ahead is set back, unless `quota_forget` deletes the row in between.
 * The tables are logged, because a crash empties unlogged ones.
 */
const counts = `
create table quota_count (
  account bigint primary key,
  newest bigint not null default 0,
  minute integer not null default 0,
  hour integer not null default 0,
  day integer not null default 0,
  times bytea not null default ''
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);
alter table quota_count alter times set storage external;

create table quota_charge (
  instance text not null primary key,
  number bigint not null,
  charged_at bigint not null
);

create function quota_now() returns bigint language sql volatile as
$$ select (extract(epoch from clock_timestamp()) * 1000000)::bigint $$;

-- Returns the time of the k-th request from the end.
create function quota_time(times bytea, newest bigint, k integer) returns bigint
language plpgsql immutable as $$
declare
  at integer := octet_length(times) - 5 * k;
begin
  return newest - ((newest - (get_byte(times, at) * 4294967296 + get_byte(times, at + 1) * 16777216::bigint
    + (get_byte(times, at + 2) << 16) + (get_byte(times, at + 3) << 8) + get_byte(times, at + 4))) & 1099511627775);
end $$;

-- Returns the number of requests later than a time. Only the last \`most\` requests can be later.
create function quota_later(times bytea, newest bigint, most integer, than bigint) returns integer
language plpgsql immutable as $$
declare
  outside integer := most;
  inside integer := 0;
  step integer := 1;
  k integer;
begin
  if most = 0 or quota_time(times, newest, most) > than then return most; end if;
  while outside - step > inside loop
    k := outside - step;
    if quota_time(times, newest, k) > than then inside := k; else outside := k; step := step * 2; end if;
  end loop;
  while outside - inside > 1 loop
    k := (outside + inside) / 2;
    if quota_time(times, newest, k) > than then inside := k; else outside := k; end if;
  end loop;
  return inside;
end $$;

-- Decides groups of requests, each for one account. Counts a group's requests until a window is full. With 0 requests
-- it only reads. A negative number stands for one request that costs as many: all are counted, or none. Accounts must
-- ascend, so that callers that lock several cannot deadlock. Returns for each group the number of admitted requests,
-- and for each window its count, the µs until its oldest request leaves, and the µs until it admits another.
create function quota_take(
  accounts bigint[], requests integer[], minutes integer[], hours integer[], days integer[],
  out admitted integer,
  out minute_count integer, out minute_reset bigint, out minute_wait bigint,
  out hour_count integer, out hour_reset bigint, out hour_wait bigint,
  out day_count integer, out day_reset bigint, out day_wait bigint
) returns setof record language plpgsql volatile as $$
declare
  c record;
  now bigint;
  kept integer;
  needed integer;
  entries bytea;
begin
  for i in 1 .. coalesce(array_length(accounts, 1), 0) loop
    if i > 1 and accounts[i] < accounts[i - 1] then raise exception 'accounts must ascend'; end if;
    loop
      if requests[i] = 0 then
        select newest, minute, hour, day, times into c from quota_count where account = accounts[i];
        if not found then select 0::bigint as newest, 0 as minute, 0 as hour, 0 as day, ''::bytea as times into c; end if;
        exit;
      end if;
      select newest, minute, hour, day, times into c from quota_count where account = accounts[i] for update;
      exit when found;
      insert into quota_count (account) values (accounts[i]) on conflict do nothing;
    end loop;
    -- Reads a long value, which is stored outside the row, only once.
    entries := c.times || ''::bytea;
    now := greatest(quota_now(), c.newest);
    minute_count := quota_later(entries, c.newest, c.minute, now - 60000000);
    hour_count := quota_later(entries, c.newest, c.hour, now - 3600000000);
    day_count := quota_later(entries, c.newest, c.day, now - 86400000000);
    kept := day_count;
    admitted := greatest(0, least(abs(requests[i]), minutes[i] - minute_count, hours[i] - hour_count, days[i] - day_count));
    needed := greatest(1, -requests[i]);
    if admitted < needed then admitted := 0; end if;
    if admitted > 0 then
      minute_count := minute_count + admitted;
      hour_count := hour_count + admitted;
      day_count := day_count + admitted;
      entries := substring(entries from octet_length(entries) - 5 * kept + 1)
        || decode(repeat(encode(substring(int8send(now) from 4), 'hex'), admitted), 'hex');
      c.newest := now;
      update quota_count set newest = now, minute = minute_count, hour = hour_count, day = day_count, times = entries
        where account = accounts[i];
    end if;
    minute_reset := 0; minute_wait := 0; hour_reset := 0; hour_wait := 0; day_reset := 0; day_wait := 0;
    if minute_count > 0 then minute_reset := quota_time(entries, c.newest, minute_count) + 60000000 - now; end if;
    if hour_count > 0 then hour_reset := quota_time(entries, c.newest, hour_count) + 3600000000 - now; end if;
    if day_count > 0 then day_reset := quota_time(entries, c.newest, day_count) + 86400000000 - now; end if;
    if minute_count >= minutes[i] - needed + 1 then minute_wait := quota_time(entries, c.newest, minutes[i] - needed + 1) + 60000000 - now; end if;
    if hour_count >= hours[i] - needed + 1 then hour_wait := quota_time(entries, c.newest, hours[i] - needed + 1) + 3600000000 - now; end if;
    if day_count >= days[i] - needed + 1 then day_wait := quota_time(entries, c.newest, days[i] - needed + 1) + 86400000000 - now; end if;
    return next;
  end loop;
end $$;

-- Adds requests that an instance admitted by itself: pairs of an account and an age in µs, sorted by account. A
-- repeated charge changes nothing.
create function quota_add(charged_by text, charge bigint, accounts bigint[], ages bigint[])
returns void language plpgsql volatile as $$
declare
  c record;
  a record;
  now bigint;
  kept integer;
  later integer;
  entries bytea;
begin
  insert into quota_charge as known (instance, number, charged_at) values (charged_by, charge, quota_now())
    on conflict (instance) do update set number = excluded.number, charged_at = excluded.charged_at
    where known.number < excluded.number;
  if not found then return; end if;
  for a in
    select account, array_agg(greatest(age, 0)) as ages from unnest(accounts, ages) as charged (account, age)
    where age < 86400000000 group by account order by account
  loop
    insert into quota_count (account) values (a.account) on conflict do nothing;
    select newest, day, times into c from quota_count where account = a.account for update;
    entries := c.times || ''::bytea;
    now := greatest(quota_now(), c.newest);
    kept := quota_later(entries, c.newest, c.day,
      greatest(c.newest, now - (select min(age) from unnest(a.ages) as age)) - 86400000000);
    -- Requests counted after the oldest added one are merged with the added ones.
    later := quota_later(entries, c.newest, kept, now - (select max(age) from unnest(a.ages) as age));
    with added as (
      select now - age as time from unnest(a.ages) as age
      union all select quota_time(entries, c.newest, k) from generate_series(1, later) as k
    )
    update quota_count set
      newest = (select max(time) from added),
      minute = kept + cardinality(a.ages), hour = kept + cardinality(a.ages), day = kept + cardinality(a.ages),
      times = substring(entries from octet_length(entries) - 5 * kept + 1 for 5 * (kept - later))
        || (select string_agg(substring(int8send(time) from 4), ''::bytea order by time) from added)
      where account = a.account;
  end loop;
end $$;

-- Deletes up to 1,000 accounts without requests in the last 24 hours, and charges too old to be repeated.
create function quota_forget() returns void language sql volatile as $$
  delete from quota_count where account in (
    select account from quota_count where newest < quota_now() - 86400000000 limit 1000 for update skip locked
  );
  delete from quota_charge where charged_at < quota_now() - 86400000000;
$$;
`;

/** SQL for the tables of shared datasets, and of the instances that serve them. */
const datasetTables = `
  -- Files of datasets, named by version, and of the steps between datasets, named FROM..TO.
  create table dataset_file (
    name text collate "C" primary key,
    sha256 text not null,
    bytes bigint not null
  );
  create table dataset_part (
    name text collate "C" not null references dataset_file on delete cascade,
    number integer not null,
    -- 1 MiB of the file, or the rest in the last part, compressed with zstd and a checksum.
    bytes bytea not null,
    primary key (name, number)
  );
  -- The bytes are compressed already. A second attempt would take as long as everything else together.
  alter table dataset_part alter column bytes set storage external;
  create table dataset (
    version text collate "C" primary key references dataset_file on delete cascade,
    facts json not null,
    -- True until the import that added it publishes it. Until then nobody else treats it as a dataset.
    is_added boolean not null
  );
  create table dataset_state (
    is_only boolean primary key default true check (is_only),
    current text collate "C" references dataset,
    -- Publications, oldest first. They and the steps between them outlive the datasets.
    publications json not null default '[]',
    -- Incremented by each change to a row of dataset or to the publications.
    change bigint not null default 0
  );
  insert into dataset_state default values;
  create table instance (
    id text primary key,
    host text not null,
    pid integer not null,
    started_at timestamptz not null default now(),
    seen_at timestamptz not null,
    program text not null,
    formats text[] not null,
    served text collate "C"
  );
`;

const tables = [control, counts, datasetTables, postgresUsageSchema].join("\n");

export const postgresSteps: readonly PostgresStep[] = [
  { name: "0001-all", isAdditive: false, sql: tables },
  { name: "0002-followed-views", isAdditive: true, sql: sqlOf(addedSql.followedViews) },
  { name: "0003-suppressions", isAdditive: true, sql: sqlOf(addedSql.suppressions) },
  { name: "0004-syncs", isAdditive: true, sql: sqlOf(addedSql.syncs) },
  { name: "0005-suppressed-gps", isAdditive: true, sql: sqlOf(addedSql.suppressedGps) },
];
