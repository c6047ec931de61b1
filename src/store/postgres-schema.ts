/** The schema of a PostgreSQL database: which steps it has had, and how it takes those it lacks. */
import { DomainError, StoreFault } from "./domain-error.ts";
import {
  connectPostgres,
  placeName,
  type PostgresPlace,
  type PostgresSession,
} from "./postgres.ts";
import { refuseUnfit } from "./refuse-unfit.ts";
import { type PostgresStep, postgresSteps } from "./postgres-steps.ts";
import { type Unfit, unfitSchema } from "./schema-steps.ts";

interface TakenStep {
  name: string;
  /** What the program said that took it; an older one knows of a step nothing else. */
  is_additive: boolean;
}

/** Steps that the database lacks, and why this program cannot work with it; null where it can. */
interface SchemaState {
  missing: readonly PostgresStep[];
  unfit: Unfit | null;
}

/**
 * Looks only into the schema that new tables are made in: elsewhere on the search path may stand those of another installation.
 * @throws StoreFault `unusable` where there is no such schema.
 */
async function readSchema(
  session: Pick<PostgresSession, "query">,
  place: string,
  steps: readonly PostgresStep[] = postgresSteps,
): Promise<SchemaState> {
  const [found] = await session.query<{ schema: string | null; table: string | null }>(
    `select current_schema() as schema,
       to_regclass(quote_ident(current_schema()) || '.schema_step')::text as table`,
  );
  if (found!.schema === null)
    throw new StoreFault(
      "unusable",
      `${place} has no schema on its search path that this role may use. Make one, or grant the usage of it.`,
    );
  const taken =
    found!.table === null
      ? []
      : await session.query<TakenStep>(
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
 * @throws DomainError `conflict` for a schema that is behind, or that this program cannot work with.
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
      `${place} lacks steps of the schema (${names}): it is too old, or new. Run \`gp-records migrate\` as the role that owns the tables.`,
    );
}

const refusal = (place: string, { fault, remedy }: Unfit) =>
  new DomainError("conflict", `${place} ${fault}. Nothing was changed. ${remedy}`);

/** A step may take long, and so may whoever holds the lock. */
const patient = { answer: 0, statement: 0, lock: 30_000 };

/** Any number: it only has to be the same for every gp-records. */
const migrationLock = 7_240_318_115_001;

/**
 * Takes the missing steps in one transaction: all of them or, if one fails or the process dies, none. Whoever comes second waits.
 * @returns the names of those it took.
 * @throws DomainError `conflict` for a schema that this program cannot work with, StoreFault `busy` if another migration takes longer than 30 s.
 */
export async function migratePostgres(
  database: PostgresPlace,
  steps: readonly PostgresStep[] = postgresSteps,
): Promise<string[]> {
  const place = placeName(database.url);
  const session = await connectPostgres(database, { limits: patient });
  try {
    await refuseUnfit(session, database);
    // Before the steps are read: what is read first could be taken by somebody else meanwhile. It ends with the session.
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
