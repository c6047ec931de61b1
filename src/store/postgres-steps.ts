/** The steps that the schema of a PostgreSQL database goes through, oldest first. A released step is never changed, only followed. */
import { controlTableSql } from "./control-tables.ts";
import { datasetTables } from "./dataset-tables.ts";
import { postgresCountsSql } from "./postgres-counts-sql.ts";
import { postgresUsageSchema } from "./usage-schema.ts";

export interface PostgresStep {
  name: string;
  /** Whether programs that do not know the step can go on working beside those that do, as during a rolling upgrade. */
  isAdditive: boolean;
  sql: string;
}

/** Texts are compared and sorted byte by byte, as SQLite does, whatever the collation of the database. */
const control = `${controlTableSql.join(";\n").replaceAll(/\btext\b/g, 'text collate "C"')};

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

const tables = [control, postgresCountsSql, datasetTables, postgresUsageSchema].join("\n");

export const postgresSteps: readonly PostgresStep[] = [
  { name: "0001-tables", isAdditive: false, sql: tables },
];
