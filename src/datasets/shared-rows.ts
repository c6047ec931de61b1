/** The rows of the shared datasets: reads one, or all of one moment. */
import { hostname } from "node:os";
import { timeText } from "#store/dataset-tables.ts";
import type { PostgresSession } from "#store/postgres.ts";
import type { SharedGeneration, SharedState } from "./remote.ts";

/** Name of this process in the rows that it writes. */
export const publisher = `process ${process.pid} on ${hostname()}`;

const columns = [
  "version",
  "format",
  "hash",
  "sha256",
  "bytes",
  "records",
  "built_at",
  "built_from",
  "status",
  "published_at",
  "published_after",
  "pinned_at",
  "publisher",
] as const satisfies (keyof SharedGeneration)[];

/** Columns of a table or a statement called `d`. */
export const datasetColumns = columns
  .map((name) => (name.endsWith("_at") ? timeText(`d.${name}`, name) : `d.${name}`))
  .join(", ");

/** Returns the dataset of a row with these columns, and perhaps others. */
export const generationOf = (row: SharedGeneration): SharedGeneration =>
  Object.fromEntries(columns.map((name) => [name, row[name]])) as unknown as SharedGeneration;

export async function insertGeneration(
  { query }: Pick<PostgresSession, "query">,
  generation: SharedGeneration,
): Promise<void> {
  const places = columns.map((_, i) => `$${i + 1}`).join(", ");
  const values = columns.map((name) => generation[name]);
  await query(`insert into dataset (${columns.join(", ")}) values (${places})`, values);
}

type StateRow = SharedGeneration & { change: number; current: string | null; read_at: number };

export const readShared = async ({ query }: Pick<PostgresSession, "query">): Promise<SharedState> =>
  stateOf(await query<StateRow>(readAll));

/** Query for the state of one moment, so it is one statement. */
const readAll = `select s.change, s.current, extract(epoch from now()) * 1000 as read_at, ${datasetColumns}
  from dataset_state s left join dataset d on true order by d.version`;

function stateOf(rows: readonly StateRow[]): SharedState {
  const { change, current, read_at } = rows[0]!;
  // Without any dataset there is one row, with null for its version.
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
