/** Checks a PostgreSQL: that the server can do all that is needed here, and that the schema is the present one. Takes missing steps. */
import { DomainError, StoreFault } from "./domain-error.ts";
import { type PostgresStep, postgresSteps } from "./postgres-steps.ts";
import {
  connectPostgres,
  placeName,
  type PostgresPlace,
  type PostgresSession,
} from "./postgres.ts";
import { type Unfit, unfitSchema } from "./schema-steps.ts";

/**
 * Reads the steps. Looks only into the schema of new tables, because another installation's may be on the search path.
 * @returns the steps that the database lacks, and the reason why this program cannot work with it; null if it can.
 * @throws StoreFault `unusable` if there is no such schema.
 */
async function readSchema(
  session: Pick<PostgresSession, "query">,
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
      `${place} has no schema on its search path that this role may use. Create one, or grant its usage.`,
    );
  // The program that took a step noted whether it is additive; an older program knows nothing else about it.
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
 * Refuses a schema that is not the present one.
 * @throws DomainError `conflict` if the schema is behind, or this program cannot work with it.
 */
export async function refuseUnready(
  session: Pick<PostgresSession, "query">,
  place: string,
): Promise<void> {
  const { missing, unfit } = await readSchema(session, place);
  if (unfit !== null) throw refusal(place, unfit);
  const names = missing.map(({ name }) => name).join(", ");
  if (missing.length > 0)
    throw new DomainError(
      "conflict",
      `${place} lacks steps of the schema (${names}): it is older, or has no tables yet. Run \`gp-records migrate\` as the role that owns the tables.`,
    );
}

const refusal = (place: string, { fault, remedy }: Unfit) =>
  new DomainError("conflict", `${place} ${fault}. Nothing was changed. ${remedy}`);

/** Limits of a migration: a step may take long, and so may another migration. */
const patient = { answer: 0, statement: 0, lock: 30_000 };

/** Number of the lock, which must be the same for every gp-records. */
const migrationLock = 7_240_318_115_001;

/**
 * Takes the missing steps in one transaction: all of them, or none if one fails or the process dies. A second one waits.
 * @returns names of the steps that it took.
 * @throws DomainError `conflict` if this program cannot work with the schema, StoreFault `busy` if another migration takes
 *   longer than 30 s.
 */
export async function migratePostgres(
  database: PostgresPlace,
  steps: readonly PostgresStep[] = postgresSteps,
): Promise<string[]> {
  const place = placeName(database.url);
  const session = await connectPostgres(database, { limits: patient });
  try {
    await refuseUnfit(session, database);
    // Before the steps are read: another migration could take them meanwhile. The lock ends with the session.
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
  } finally {
    session.close();
  }
}

/**
 * Refuses a server that cannot do what is needed here: a standby, an encoding other than UTF-8, or a pooler that gives each
 * transaction another connection. Neither LISTEN nor a lock of a session lasts there.
 * @returns the version of the server, such as `15.14`.
 * @throws StoreFault `unusable`.
 */
export async function refuseUnfit(
  session: PostgresSession,
  database: PostgresPlace,
): Promise<string> {
  const place = placeName(database.url);
  const refuse = (reason: string) => {
    throw new StoreFault("unusable", `${place} ${reason}`);
  };
  const [facts] = await session.query<{ version: string; encoding: string; isStandby: boolean }>(
    `select split_part(current_setting('server_version'), ' ', 1) as version,
       current_setting('server_encoding') as encoding, pg_is_in_recovery() as "isStandby"`,
  );
  const { version, encoding, isStandby } = facts!;
  if (isStandby) refuse("is a standby, which takes no writes. Name the primary in DATABASE_URL.");
  if (encoding !== "UTF8")
    refuse(
      `has the encoding ${encoding}. Create the database with: create database … encoding 'UTF8'`,
    );
  if (session.isPooled && (await sharesConnections(session, database)))
    refuse(
      "is behind a pooler in transaction mode, such as pgbouncer with pool_mode = transaction, where LISTEN and locks do not last. Connect to PostgreSQL itself, or set pool_mode = session for this database.",
    );
  return version;
}

/** Reports whether a second session gets the server process of the first, or takes it away. */
async function sharesConnections(
  first: PostgresSession,
  database: PostgresPlace,
): Promise<boolean> {
  const processOf = async (session: PostgresSession) =>
    (await session.query<{ pid: number }>("select pg_backend_pid() as pid"))[0]!.pid;
  const before = await processOf(first);
  const second = await connectPostgres(database);
  try {
    await second.query("begin");
    const others = await processOf(second);
    const after = await processOf(first);
    return others === before || after !== before;
  } finally {
    second.close();
  }
}
