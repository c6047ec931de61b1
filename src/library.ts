/** The engine as a library: opens a dataset and answers the operations without a server or a key. */
import { statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { openCatalogue } from "#datasets/catalogue.ts";
import { DatasetFault } from "#datasets/dataset-fault.ts";
import { startLoad } from "#datasets/start-load.ts";
import type { Meta, Pagination } from "#operations/envelope.ts";
import type { fetches } from "#operations/fetches.ts";
import { json } from "#operations/formats.ts";
import { operations } from "#operations/index.ts";
import type { lists } from "#operations/lists.ts";
import type { Operation } from "#operations/operation.ts";
import { queryText, readQuery } from "#operations/parameters.ts";
import { Problem } from "#problems.ts";
import type { declarations, RecordOf } from "#records/declarations.ts";
import type { RecordKind } from "#records/kinds.ts";
import { openReadModel } from "#search/read-model.ts";

export { DatasetFault, Problem };

export interface NameParameters {
  gp_name?: string;
  /** Page size: 1 to `pageSizeMax`, 20 by default. */
  limit?: number;
  /** Number of records to skip; 0 by default. */
  offset?: number;
}

/**
 * Parameters to fetch records of a kind. All given filters must hold. A filter with several values holds if one fits.
 * Fetching GPs needs a `gp_name`.
 */
export type FetchParameters<K extends RecordKind> = NameParameters & {
  [Filter in Exclude<keyof (typeof fetches)[K]["filters"] & string, "gp_name">]?: ValueOf<Filter>;
} & (K extends "gp" ? { gp_name: string } : unknown);

/** Name of a condition on records of a kind. */
type Condition<K extends RecordKind> = keyof (typeof declarations)[K]["filterable"] & string;

/** Names of a condition's filters: type and dates of a signal, both ends of a range, or one filter of the same name. */
type FilterOf<K extends RecordKind, Name extends Condition<K>> = Name extends "signal"
  ? "signal_type" | "signal_date_from" | "signal_date_to"
  : Name extends `${string}date` | `${string}_at` | `${string}_as_of`
    ? `${Name}_from` | `${Name}_to`
    : Name extends "confidence" | NumbersOf<RecordOf<K>>
      ? `${Name}_min` | `${Name}_max`
      : Name;
type NumbersOf<R> = { [Name in keyof R]: R[Name] extends number | null ? Name : never }[keyof R];

type ValueOf<Filter extends string> = Filter extends `${string}_min` | `${string}_max`
  ? number
  : Filter extends `has_${string}`
    ? boolean
    : Filter extends `${string}_from` | `${string}_to` | "name"
      ? string
      : string | readonly string[];

/**
 * Parameters to list records of a kind. All given filters must hold. A filter with several values holds if one fits.
 * Ranges include both ends. A date is a year, a month or a day (`2026`, `2026-03`, `2026-03-31`), or relative to the
 * day of the dataset, such as `-90d`.
 */
export type ListParameters<K extends RecordKind> = NameParameters & {
  [Filter in { [Name in Condition<K>]: FilterOf<K, Name> }[Condition<K>]]?: ValueOf<Filter>;
} & {
  /** Order: a name such as `updated_at`, or `-updated_at` for the descending order. */
  sort?: string;
};

/** A GP as `listGps` returns it. */
export type ListedGp = Omit<RecordOf<"gp">, "principals" | "signals">;

export interface Answer<OneRecord> {
  /** Body that the service would send for the same request, uncompressed: JSON in UTF-8. */
  readonly body: Uint8Array;
  /** Number of records that satisfy the filters. */
  readonly total: number;
  /** Parses `body`. */
  json(): AnswerBody<OneRecord>;
}

export interface AnswerBody<OneRecord> {
  data: OneRecord[];
  pagination: Pagination;
  meta: Meta;
}

/** Method name of an operation, such as `fetchGp` for `fetch-gp`. */
type MethodOf<Name> = Name extends `${infer Verb}-${infer Rest}`
  ? `${Verb}${Capitalize<MethodOf<Rest>>}`
  : Name;

/** A read of records. Its parameters may be left out unless one is required. */
type Read<Parameters, OneRecord> = object extends Parameters
  ? (parameters?: Parameters) => Answer<OneRecord>
  : (parameters: Parameters) => Answer<OneRecord>;

/** Reads of each kind of record by GP, such as `fetchGp` and `fetchProjects`. */
type Fetches = {
  [K in RecordKind as MethodOf<(typeof fetches)[K]["name"]>]: Read<FetchParameters<K>, RecordOf<K>>;
};

/**
 * Lists of each kind of record, such as `listGps` and `listProjects`. GPs come without principals and signals. The
 * first call of a list may take longer, because it reads the records.
 */
type Lists = {
  [K in RecordKind as MethodOf<(typeof lists)[K]["name"]>]: Read<
    ListParameters<K>,
    K extends "gp" ? ListedGp : RecordOf<K>
  >;
};

/**
 * An open dataset. Each method throws a Problem with the code `invalid-parameters` if the service would answer 400. The
 * problem's `members.errors` lists the first faults, at most 20.
 */
export interface Records extends Fetches, Lists {
  readonly datasetVersion: string;
  /** Time when the dataset was built (RFC 3339, UTC). */
  readonly datasetUpdatedAt: string;
}

export interface OpenOptions {
  /** Largest `limit`, 100 by default, like the service's PAGE_SIZE_MAX. */
  pageSizeMax?: number;
}

/**
 * Reads a dataset into memory: about 60 MB for 65,000 records, freed once nothing refers to the result. The files are
 * only read, and may be removed afterwards.
 * @param path dataset file (`<version>.sqlite`, with `<version>.json` beside it), or data folder whose current dataset
 *   is opened.
 * @throws DatasetFault if there is no dataset at the path, or if it cannot be loaded.
 */
export async function open(
  path: string,
  { pageSizeMax = 100 }: OpenOptions = {},
): Promise<Records> {
  const load = startLoad({ ...find(path), isTakeover: false });
  const { parts } = await load.loaded
    .catch((error: Error) => {
      // The error lost its class on the way from the loading thread.
      throw new DatasetFault(error.message, "unfit", { cause: error });
    })
    .finally(load.stop);
  const model = openReadModel(parts);
  const answer = <R>(operation: Operation, parameters: object): Answer<R> => {
    const day = parts.updatedAt.slice(0, 10);
    // As a client would send it, so that library and service refuse the same parameters.
    const query = readQuery(operation, queryText(parameters), pageSizeMax, operations, { day });
    const { body: shared, total } = json.write(operation, model, query);
    // Copied, because the shared block holds other answers, too.
    const body = new Uint8Array(shared);
    return { body, total, json: () => JSON.parse(Buffer.from(body.buffer).toString()) };
  };
  const methods = operations.map((operation) => [
    operation.name.replaceAll(/-./g, ([, letter]) => letter!.toUpperCase()),
    (parameters = {}) => answer(operation, parameters),
  ]);
  return {
    datasetVersion: parts.version,
    datasetUpdatedAt: parts.updatedAt,
    ...(Object.fromEntries(methods) as Fetches & Lists),
  };
}

function find(path: string) {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined)
    throw new DatasetFault(
      `${path} does not exist. Name a data folder, or a file <version>.sqlite in one.`,
    );
  const isFolder = found.isDirectory();
  const folder = isFolder ? join(path, "datasets") : dirname(path);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new DatasetFault(`${path} is not a data folder: it has no folder 'datasets'.`);
  const catalogue = openCatalogue(folder);
  const version = basename(path, ".sqlite");
  if (!isFolder && !catalogue.has(version))
    throw new DatasetFault(
      `${path} is not a dataset: name a file <version>.sqlite with <version>.json beside it.`,
    );
  const generation = isFolder ? catalogue.current() : catalogue.find(version);
  if (generation === null)
    throw new DatasetFault(
      `No dataset is published in ${path}. Publish one with 'gp-records import' or 'gp-records datasets publish'.`,
    );
  return { path: catalogue.pathOf(generation.version), generation };
}
