/** Checks that a PostgreSQL server is suitable and its schema current, and applies missing steps. */
import { DomainError, StoreFault } from "./store-fault.ts";
import { type PostgresStep, postgresSteps } from "./postgres-steps.ts";
import { placeName, type PostgresSession, withSession } from "./postgres.ts";
import { type Unfit, unfitSchema } from "./sqlite-file.ts";

/** A session, or a store's connection. */
interface Queried {
  readonly setting: string;
  query<Row>(sql: string): Promise<Row[]>;
}

/**
 * Reads the applied steps. Looks only in the schema in which new tables are created, because the search path may also
 * contain another installation's schema.
 * @returns the steps that the database lacks, and the reason why this program cannot use the schema (null if it can).
 * @throws StoreFault `unusable` if there is no schema for new tables.
 */
async function readSchema(
  session: Queried,
  place: string,
  steps: readonly PostgresStep[] = postgresSteps,
) {
  const [found] = await session.query<{ schema: string | null; table: string | null }>(
    `select current_schema() as schema,
       to_regclass(quote_ident(current_schema()) || '.schema_step')::text as table`,
  );
  if (found!.schema === null)
    throw new StoreFault(
      "unusable",
      `${place}: the role in ${session.setting} cannot use any schema on its search_path. If the tables exist, put their schema on the search_path and grant the role USAGE on it; the role of 'gp-records migrate' also needs CREATE.`,
    );
  // Each row says whether the step is additive, because an older program knows nothing else about it.
  const taken =
    found!.table === null
      ? []
      : await session.query<{ name: string; is_additive: boolean }>(
          `select name, is_additive from ${found!.table} order by name`,
        );
  const needed = taken.filter(({ is_additive }) => !is_additive);
  return {
    missing: steps.filter(({ name }) => !taken.some((one) => one.name === name)),
    unfit: unfitSchema(
      steps.map(({ name }) => name),
      needed.map(({ name }) => name),
    ),
  };
}

/**
 * Refuses a schema that is not current.
 * @throws DomainError `conflict` if steps are missing or this program cannot use the schema, StoreFault as `readSchema`
 *   does.
 */
export async function refuseUnready(session: Queried, url: string): Promise<void> {
  const place = placeName(url);
  const { missing, unfit } = await readSchema(session, place);
  if (unfit !== null) throw refusal(place, unfit);
  const names = missing.map(({ name }) => name).join(", ");
  if (missing.length > 0)
    throw new DomainError(
      "conflict",
      `${place} lacks schema migrations (${names}), because it is new or was set up by an older version. Run \`gp-records migrate\` as the role that owns, or will own, the tables.`,
    );
}

const refusal = (place: string, { fault, remedy }: Unfit) =>
  new DomainError("conflict", `${place} ${fault}. Nothing was changed. ${remedy}`);

/** Limits of a migration's session, in ms. A step may take any time; the wait for another migration is 30 s at most. */
const patient = { answer: 0, statement: 0, lock: 30_000 };

/** Advisory lock number for migrations, the same in every version of gp-records. */
const migrationLock = 7_240_318_115_001;

/**
 * Applies the missing steps in one transaction: all of them, or none if one fails or the process dies. A second
 * migration waits for the first.
 * @param setting setting or option that gives the database's URL.
 * @returns the names of the applied steps.
 * @throws DomainError `conflict` if this program cannot use the schema, StoreFault `busy` if another migration takes
 *   longer than 30 s, `unusable` as `refuseUnfit` does.
 */
export function migratePostgres(
  url: string,
  steps: readonly PostgresStep[] = postgresSteps,
  setting = "DATABASE_URL",
): Promise<string[]> {
  const place = placeName(url);
  const migrate = async (session: PostgresSession) => {
    await refuseUnfit(session, url);
    // The lock is taken before the steps are read, because another migration could be applying some. It ends with the
    // session.
    await session.query("select pg_advisory_lock($1)", [migrationLock]);
    const { missing, unfit } = await readSchema(session, place, steps);
    if (unfit !== null) throw refusal(place, unfit);
    if (missing.length === 0) return [];
    await session.inTransaction(async () => {
      await session.query(
        `create table if not exists schema_step (
           name text collate "C" primary key, is_additive boolean not null, taken_at timestamptz not null default now()
         )`,
      );
      for (const { name, isAdditive, sql } of missing) {
        await session.query(sql);
        await session.query("insert into schema_step (name, is_additive) values ($1, $2)", [
          name,
          isAdditive,
        ]);
      }
    });
    return missing.map(({ name }) => name);
  };
  return withSession(url, migrate, { limits: patient, setting });
}

/**
 * Refuses an unsuitable server: a standby, an encoding other than UTF-8, or a pooler that gives each transaction
 * another connection. Behind such a pooler, neither LISTEN nor session locks last.
 * @returns the server's version, such as `15.14`.
 * @throws StoreFault `unusable`.
 */
export async function refuseUnfit(session: PostgresSession, url: string): Promise<string> {
  const place = placeName(url);
  const refuse = (reason: string) => {
    throw new StoreFault("unusable", `${place} ${reason}`);
  };
  const [facts] = await session.query<{ version: string; encoding: string; isStandby: boolean }>(
    `select split_part(current_setting('server_version'), ' ', 1) as version,
       current_setting('server_encoding') as encoding, pg_is_in_recovery() as "isStandby"`,
  );
  const { version, encoding, isStandby } = facts!;
  const { setting } = session;
  if (isStandby) refuse(`is a standby, which takes no writes. Name the primary in ${setting}.`);
  if (encoding !== "UTF8")
    refuse(
      `has the encoding ${encoding}, but gp-records needs UTF8. Create another database (create database NAME encoding 'UTF8' template template0), and name it in ${setting}.`,
    );
  if (session.isPooled && (await sharesConnections(session, url)))
    refuse(
      "is behind a pooler in transaction mode, such as pgbouncer with pool_mode = transaction, where LISTEN and locks do not last. Connect to PostgreSQL itself, or set pool_mode = session for this database.",
    );
  return version;
}

/** Reports whether a pooler gives a second session the first one's server process, or moves the first to another. */
async function sharesConnections(first: PostgresSession, url: string): Promise<boolean> {
  const processOf = async (session: PostgresSession) =>
    (await session.query<{ pid: number }>("select pg_backend_pid() as pid"))[0]!.pid;
  const before = await processOf(first);
  const compare = async (second: PostgresSession) => {
    await second.query("begin");
    const others = await processOf(second);
    const after = await processOf(first);
    return others === before || after !== before;
  };
  return withSession(url, compare, { setting: first.setting });
}
