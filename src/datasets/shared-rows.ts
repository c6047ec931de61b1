/** The rows of what several machines share: datasets, publications, and the servers themselves. */
import { allCounts, type Publication } from "#records/publication.ts";
import { timeText } from "#store/dataset-tables.ts";
import type { PostgresSession } from "#store/postgres.ts";
import { type Generation, withAllCounts } from "./generation.ts";

type Query = Pick<PostgresSession, "query">;

/**
 * Status of a row:
 * - `added`: an import is about to publish it; no dataset to anybody else, and removed by the next import if that one died
 * - `staged`: to be published on request
 */
type Status = "added" | "staged" | "published";

/** All facts about the shared datasets at one moment. */
export interface SharedState {
  /** Number that grows with every change. */
  change: number;
  current: Generation | null;
  /** Datasets without those that are only added, oldest first. */
  generations: readonly Generation[];
  added: readonly Generation[];
  /** Time by the clock of the database, in ms since 1970. */
  readAt: number;
}

const columns = [
  "version",
  "hash",
  "sha256",
  "bytes",
  "records",
  "built_at",
  "built_from",
  "published_at",
  "published_after",
  "pinned_at",
] as const satisfies (keyof Generation)[];

/** Columns of a table or a statement called `d`. */
export const datasetColumns = columns
  .map((name) => (name.endsWith("_at") ? timeText(`d.${name}`, name) : `d.${name}`))
  .join(", ");

/** Returns the dataset of a row that has other columns, too. */
export const generationOf = (row: Generation): Generation =>
  withAllCounts(
    Object.fromEntries(columns.map((name) => [name, row[name]])) as unknown as Generation,
  );

export async function insertGeneration(
  { query }: Query,
  generation: Generation,
  status: Status,
): Promise<void> {
  const row = { ...generation, status };
  const names = [...columns, "status"] as const;
  const places = names.map((_, i) => `$${i + 1}`).join(", ");
  const values = names.map((name) => row[name]);
  await query(`insert into dataset (${names.join(", ")}) values (${places})`, values);
}

type StateRow = Generation & {
  status: Status;
  change: number;
  current: string | null;
  read_at: number;
};

/** Reads the state of one moment, so it is one statement. */
export async function readShared({ query }: Query): Promise<SharedState> {
  const rows = await query<StateRow>(
    `select s.change, s.current, extract(epoch from now()) * 1000 as read_at, d.status, ${datasetColumns}
     from dataset_state s left join dataset d on true order by d.version`,
  );
  const { change, current, read_at } = rows[0]!;
  // Without any dataset there is one row, with null for its version and its status.
  const isKept = ({ status }: StateRow) => status === "staged" || status === "published";
  const generations = rows.filter(isKept).map(generationOf);
  return {
    change,
    current: generations.find(({ version }) => version === current) ?? null,
    generations,
    added: rows.filter(({ status }) => status === "added").map(generationOf),
    readAt: read_at,
  };
}

/** Lists publications, oldest first. */
export async function listPublications({ query }: Query): Promise<Publication[]> {
  const rows = await query<Publication>(
    `select version, ${timeText("published_at", "published_at")}, previous as "from", hash, facts as step
     from dataset_publication order by number`,
  );
  return rows.map((row) => ({
    ...row,
    step: row.step && { ...row.step, counts: allCounts(row.step.counts) },
  }));
}

/**
 * Notes the current version if it was published while CHANGES_DAYS was 0.
 * @param hash hash of its records; null if it is not known.
 */
export async function noteBase(
  { query }: Query,
  version: string,
  hash: string | null,
): Promise<void> {
  await query(
    `with known as (
       update dataset_publication set hash = coalesce(hash, $2) where version = $1 returning number
     )
     insert into dataset_publication (version, published_at, hash)
     select version, published_at, $2 from dataset
     where version = $1 and published_at is not null and not exists (select from known)`,
    [version, hash],
  );
}

/**
 * Removes publications older than this many days, except the newest one; 0 removes that, too. Removes steps without a
 * publication, such as one that was stored for a failed publication.
 */
export async function forgetPublications({ query }: Query, days: number): Promise<void> {
  await query(
    `with gone as (
       delete from dataset_publication where $1::integer = 0 or (
         published_at < now() - make_interval(days => $1)
         and number < (select max(number) from dataset_publication)
       ) returning number
     )
     update dataset_state set change = change + 1 where exists (select from gone)`,
    [days],
  );
  await query(
    `delete from dataset_step
     where name not in (select step from dataset_publication where step is not null)`,
  );
}

/** A server on the shared datasets. */
export interface Instance {
  id: string;
  host: string;
  pid: number;
  program: string;
  /** Formats that it can read, as `ownFormat`. */
  formats: readonly string[];
  /** Version that it serves; null while it serves none. */
  served: string | null;
}

export interface SeenInstance extends Instance {
  /** Time when it was first seen, RFC 3339, by the clock of the database. */
  startedAt: string;
  /** Time when it was last seen, RFC 3339, by the clock of the database. */
  seenAt: string;
  /** Was it seen lately enough to count as running? */
  isLive: boolean;
}

/** Seconds until a silent instance no longer counts. It notes every two seconds that it runs. */
const liveSeconds = 15;

/** Notes that a server runs, and forgets servers that were not seen for a day. */
export async function noteInstance({ query }: Query, instance: Instance): Promise<void> {
  const { id, host, pid, program, formats, served } = instance;
  await query(
    `with old as (delete from instance where seen_at < now() - interval '1 day' and id <> $1)
     insert into instance (id, host, pid, seen_at, program, formats, served)
     values ($1, $2, $3, now(), $4, $5, $6)
     on conflict (id) do update set seen_at = now(), served = excluded.served`,
    [id, host, pid, program, formats, served],
  );
}

export async function forgetInstance({ query }: Query, id: string): Promise<void> {
  await query("delete from instance where id = $1", [id]);
}

/** Lists servers by host and process. */
export const listInstances = ({ query }: Query): Promise<SeenInstance[]> =>
  query<SeenInstance>(
    `select id, host, pid, ${timeText("started_at", '"startedAt"')}, ${timeText("seen_at", '"seenAt"')},
       seen_at > now() - interval '${liveSeconds} seconds' as "isLive", program, formats, served
     from instance order by host, pid, id`,
  );
