/** The rows that several machines share: datasets, publications, and the servers themselves. */
import { type Publication, withAllStepCounts } from "#records/publication.ts";
import type { PostgresSession } from "#store/postgres.ts";
import type { DatasetList } from "./catalogue.ts";
import { type Generation, withAllCounts } from "./generation.ts";

type Query = Pick<PostgresSession, "query">;

/** All facts about the shared datasets at one moment. */
export interface SharedState {
  /** Number that every change of datasets or publications raises. */
  change: number;
  /** Current version; null if there is none. */
  current: string | null;
  /** Datasets without those that are only added, oldest first. */
  generations: readonly Generation[];
  /**
   * Datasets that imports are about to publish, so that servers can fetch files in advance. The next import removes
   * those that a killed import left.
   */
  added: readonly Generation[];
  /** Time by the database's clock, in ms since 1970. */
  readAt: number;
}

/** The shared datasets at one moment, listed as those of a folder. */
export interface Kept extends DatasetList, Pick<SharedState, "change" | "added" | "readAt"> {}

/** Reads the state in one statement, so that it is consistent. */
export async function readShared({ query }: Query): Promise<SharedState> {
  const factsOf = (condition: string) =>
    `(select coalesce(json_agg(facts order by version), '[]') from dataset where ${condition})`;
  const [row] = await query<SharedState>(
    `select change, current, extract(epoch from now()) * 1000 as "readAt",
       ${factsOf("not is_added")} as generations, ${factsOf("is_added")} as added
     from dataset_state`,
  );
  const { generations, added } = row!;
  return {
    ...row!,
    generations: generations.map(withAllCounts),
    added: added.map(withAllCounts),
  };
}

/** Lists publications, oldest first. */
export async function listPublications({ query }: Query): Promise<Publication[]> {
  const [row] = await query<{ publications: Publication[] }>(
    "select publications from dataset_state",
  );
  return row!.publications.map(withAllStepCounts);
}

/** A server that uses the shared datasets. */
export interface Instance {
  id: string;
  host: string;
  pid: number;
  program: string;
  /** Formats that it can read, in the form of `ownFormat`. */
  formats: readonly string[];
  /** Version that it serves; null while it serves none. */
  served: string | null;
}

/** A server as `instances --json` shows it. */
export interface SeenInstance extends Instance {
  /** True if it was seen recently enough to count as running. */
  live: boolean;
  /** Time when it was last seen, RFC 3339, by the database's clock. */
  seen_at: string;
  /** Time when it was first seen, RFC 3339, by the database's clock. */
  started_at: string;
}

/** Seconds until a silent server no longer counts as running. A running server reports every 2 s. */
const liveSeconds = 15;

/** Returns SQL for a time as RFC 3339 text in UTC, to the second. @param name name of the result column. */
export const timeText = (expression: string, name: string): string =>
  `to_char(${expression} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as ${name}`;

/** Lists servers by host and process. */
export const listInstances = ({ query }: Query): Promise<SeenInstance[]> =>
  query<SeenInstance>(
    `select id, host, pid, seen_at > now() - interval '${liveSeconds} seconds' as live,
       ${timeText("seen_at", "seen_at")}, ${timeText("started_at", "started_at")}, program, formats, served
     from instance order by host, pid, id`,
  );
