/** The steps of a PostgreSQL schema, oldest first. A released step is never changed, only followed by others. */
import { controlTableSql } from "./control-tables.ts";
import { datasetTables } from "./dataset-tables.ts";
import { postgresCountsSql } from "./postgres-counts-sql.ts";
import { postgresUsageSchema } from "./usage-schema.ts";

export interface PostgresStep {
  name: string;
  /** Can programs that do not know the step go on beside those that do, as during a rolling upgrade? */
  isAdditive: boolean;
  sql: string;
}

/** SQL of the control tables. Texts compare and sort byte by byte, as in SQLite, whatever the collation of the database. */
const control = `${controlTableSql.join(";\n").replaceAll(/\btext\b/g, 'text collate "C"')};

-- Changes of keys, for servers that keep keys in memory. Account 0 counts all changes. The row of an account has the count at
-- which its keys changed last. Account -1 has the same for a change that may concern all accounts. The row of account 0 stays
-- locked until the change is committed, so a server that has seen a count has seen all changes up to it.
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
  { name: "0001-schema", isAdditive: false, sql: tables },
];
