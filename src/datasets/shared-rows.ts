/** The rows of the shared datasets: what is read of each, and of all at one moment. */
import { timeText } from "#store/dataset-tables.ts";
import type { PostgresSession } from "#store/postgres.ts";
import type { Generation } from "./generation.ts";
import type { SharedGeneration, SharedState } from "./remote.ts";

/** A row as `datasetColumns` gives it. */
export interface DatasetRow {
  version: string;
  format: string;
  hash: string;
  sha256: string;
  bytes: number;
  records: Generation["records"];
  built_at: string;
  built_from: string | null;
  status: SharedGeneration["status"];
  published_at: string | null;
  published_after: string | null;
  pinned_at: string | null;
  publisher: string;
}

/** Of a table or a statement called `d`. */
export const datasetColumns = `d.version, d.format, d.hash, d.sha256, d.bytes, d.records, ${timeText("d.built_at", "built_at")},
  d.built_from, d.status, ${timeText("d.published_at", "published_at")}, d.published_after,
  ${timeText("d.pinned_at", "pinned_at")}, d.publisher`;

export const generationOf = (row: DatasetRow): SharedGeneration => {
  const { version, format, hash, sha256, bytes, records, built_at, built_from } = row;
  const { status, published_at, published_after, pinned_at, publisher } = row;
  const file = { version, format, hash, sha256, bytes, records, built_at, built_from };
  return { ...file, status, published_at, published_after, pinned_at, publisher };
};

type StateRow = DatasetRow & { change: number; current: string | null; read_at: number };

export const readShared = async ({ query }: Pick<PostgresSession, "query">): Promise<SharedState> =>
  stateOf(await query<StateRow>(readAll));

/** One statement, so that it is the state of one moment. */
const readAll = `select s.change, s.current, extract(epoch from now()) * 1000 as read_at, ${datasetColumns}
  from dataset_state s left join dataset d on true order by d.version`;

function stateOf(rows: readonly StateRow[]): SharedState {
  const { change, current, read_at } = rows[0]!;
  // Without any dataset there is one row, whose version is null.
  const generations = rows
    .filter(({ version }) => (version as string | null) !== null)
    .map(generationOf);
  return {
    change,
    current: generations.find(({ version }) => version === current) ?? null,
    generations,
    readAt: read_at,
  };
}
