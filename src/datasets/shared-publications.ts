/** The publications of shared datasets and the steps between them, in PostgreSQL. */
import { recordKinds } from "#records/kinds.ts";
import { changeKinds, type Publication } from "#records/publication.ts";
import { timeText } from "#store/dataset-tables.ts";
import { connectPostgres, type PostgresPlace, type PostgresSession } from "#store/postgres.ts";
import { DatasetFault } from "./dataset-fault.ts";
import { hashFile } from "./file-hash.ts";
import { partLimits, pullParts, pushParts, type StoredFile } from "./stored-parts.ts";

/** Publications of shared datasets. Each call throws a StoreFault if the database is away. */
export interface SharedPublications {
  /** Lists publications, oldest first. */
  list(): Promise<Publication[]>;
  /** Stores the file of a step, whole or not at all, if it is not there yet. */
  pushStep(path: string, from: string, to: string): Promise<void>;
  /** Fetches a step into a new file. @throws DatasetFault naming a missing or damaged part. */
  pullStep(path: string, from: string, to: string): Promise<void>;
  /** Notes the current version if it was published while CHANGES_DAYS was 0. @param hash null if it is not known. */
  noteBase(version: string, hash: string | null): Promise<void>;
  /** Removes publications older than this many days, except the newest one; 0 removes that, too. */
  forget(days: number): Promise<void>;
}

export const openSharedPublications = (
  { query }: Pick<PostgresSession, "query">,
  place: PostgresPlace,
): SharedPublications => ({
  list: () => listPublications({ query }),
  async pushStep(path, from, to) {
    const session = await connectPostgres(place, { limits: partLimits });
    try {
      await session.inTransaction(() => pushStep(session, path, from, to));
    } finally {
      session.close();
    }
  },
  async pullStep(path, from, to) {
    const session = await connectPostgres(place, { limits: partLimits });
    try {
      await pullStep(session, path, from, to);
    } finally {
      session.close();
    }
  },
  async noteBase(version, hash) {
    await query(noteBaseSql, [version, hash]);
  },
  async forget(days) {
    await query(forgetSql, [days]);
    await query(forgetStepsSql);
  },
});

/** Lists publications, oldest first. */
export async function listPublications({
  query,
}: Pick<PostgresSession, "query">): Promise<Publication[]> {
  const rows = await query<Row>(listSql);
  return rows.map(({ version, published_at, previous, facts, hash }) => {
    return { version, published_at, from: previous, hash, step: facts && inOrder(facts) };
  });
}

/** Stores the file of a step. Returns null if it was there already. */
export async function pushStep(
  session: PostgresSession,
  path: string,
  from: string,
  to: string,
): Promise<StoredFile | null> {
  const step = { of: "step", name: nameOf(from, to), ...hashFile(path) } as const;
  const added = await session.query(insertStepSql, [step.name, step.sha256, step.bytes]);
  if (added.length === 0) return null;
  await pushParts(session, path, step);
  return step;
}

const insertStepSql =
  "insert into dataset_step (name, sha256, bytes) values ($1, $2, $3) on conflict do nothing returning name";

/** Fetches a step into a new file. @throws DatasetFault naming a missing or damaged part. */
export async function pullStep(
  session: PostgresSession,
  path: string,
  from: string,
  to: string,
): Promise<void> {
  const name = nameOf(from, to);
  const sql = "select sha256, bytes from dataset_step where name = $1";
  const [row] = await session.query<{ sha256: string; bytes: number }>(sql, [name]);
  if (row === undefined)
    throw new DatasetFault(`The stored step ${name} is missing: it was removed.`);
  await pullParts(session, { of: "step", name, ...row }, path);
}

/** Restores the order of members: the database keeps JSON in an order of its own. */
const inOrder = ({ changes, counts }: NonNullable<Publication["step"]>): Publication["step"] => ({
  changes,
  counts: byName(recordKinds, (kind) => byName(changeKinds, (change) => counts[kind][change])),
});

const byName = <Name extends string, Value>(
  names: readonly Name[],
  valueOf: (name: Name) => Value,
) => Object.fromEntries(names.map((name) => [name, valueOf(name)])) as Record<Name, Value>;

/** Returns the name of a step in the database. */
export const nameOf = (from: string, to: string) => `${from}..${to}`;

interface Row {
  version: string;
  published_at: string;
  previous: string | null;
  facts: Publication["step"];
  hash: string | null;
}

const listSql = `select version, ${timeText("published_at", "published_at")}, previous, facts, hash
  from dataset_publication order by number`;

const noteBaseSql = `
  with known as (
    update dataset_publication set hash = coalesce(hash, $2) where version = $1 returning number
  )
  insert into dataset_publication (version, published_at, hash)
  select version, published_at, $2 from dataset
  where version = $1 and published_at is not null and not exists (select from known)`;

const forgetSql = `
  with gone as (
    delete from dataset_publication where $1::integer = 0 or (
      published_at < now() - make_interval(days => $1)
      and number < (select max(number) from dataset_publication)
    ) returning number
  )
  update dataset_state set change = change + 1 where exists (select from gone)`;

/** Query that deletes unused steps, such as one that was stored for a failed publication. */
const forgetStepsSql = `delete from dataset_step
  where name not in (select step from dataset_publication where step is not null)`;
