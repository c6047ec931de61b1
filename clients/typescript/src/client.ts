/** Client with functions that fetch a page, list all records, fetch changes between datasets, and download files. */
import { UnexpectedAnswerError, VersionChangedError } from "./errors.ts";
import {
  type ClientOptions,
  openTransport,
  type Received,
  type RequestOptions,
} from "./transport.ts";
import type {
  ExportedDataset,
  Explanation,
  Meta,
  Operations,
  Pagination,
  RecordChange,
} from "./types.ts";

type Path = keyof Operations;
type Query<At extends Path> = Operations[At]["query"];
type Page<At extends Path> = Operations[At]["answer"] & Received;
type RecordAt<At extends Path> = Operations[At]["answer"]["data"][number];

export interface ListOptions extends RequestOptions {
  /**
   * Reaction to a dataset published between two pages, since pages of two datasets form no list. `fail`, the default,
   * throws a VersionChangedError. `restart` begins again at the first page, up to 10 times, so some records come twice.
   * It waits before each restart but the first.
   */
  onVersionChange?: "fail" | "restart";
}

/** All records of a query, in order. Pages are fetched when they are needed; `limit` is their size, 100 by default. */
export interface Listing<One, OnePage> extends AsyncIterable<One> {
  /** Yields the pages. After a restart, `pagination.offset` is 0 again. */
  pages(): AsyncGenerator<OnePage, void, undefined>;
  /** Returns every record of one dataset once. A restart drops the records gathered before it. */
  toArray(): Promise<One[]>;
}

/** Arguments of an operation. The query is optional if no parameter is required. */
type Arguments<Asked, Options> = object extends Asked
  ? [query?: Asked, options?: Options]
  : [query: Asked, options?: Options];
type Fetch<At extends Path> = (...asked: Arguments<Query<At>, RequestOptions>) => Promise<Page<At>>;
type List<At extends Path> = (
  ...asked: Arguments<Omit<Query<At>, "offset">, ListOptions>
) => Listing<RecordAt<At>, Page<At>>;

/** Names of an operation's methods. */
type MethodOf<At> = At extends `/list-${infer Name}`
  ? `list${Capitalize<Name>}` | `all${Capitalize<Name>}` | Name
  : At extends `/fetch-${infer Name}`
    ? `fetch${Capitalize<Name>}`
    : never;

export interface Client {
  /** Fetches one page of GPs by name, best match first, with their principals and signals. */
  fetchGp: Fetch<"/fetch-gp">;
  /** Fetches one page of principals. */
  fetchPrincipals: Fetch<"/fetch-principals">;
  /** Fetches one page of signals, newest first. */
  fetchSignals: Fetch<"/fetch-signals">;
  /** Fetches one page of projects. */
  fetchProjects: Fetch<"/fetch-projects">;
  /** Fetches one page of GPs by any of their values, without their principals and signals. */
  listGps: Fetch<"/list-gps">;
  /** Fetches one page of principals by any of their values. */
  listPrincipals: Fetch<"/list-principals">;
  /** Fetches one page of signals by any of their values. */
  listSignals: Fetch<"/list-signals">;
  /** Fetches one page of projects by any of their values. */
  listProjects: Fetch<"/list-projects">;
  /** Lists all GPs that match a name. */
  gps: List<"/fetch-gp">;
  principals: List<"/fetch-principals">;
  signals: List<"/fetch-signals">;
  projects: List<"/fetch-projects">;
  /** Lists all GPs that satisfy the filters of `listGps`. */
  allGps: List<"/list-gps">;
  allPrincipals: List<"/list-principals">;
  allSignals: List<"/list-signals">;
  allProjects: List<"/list-projects">;
  /** Lists the publications of datasets, newest first. */
  changes: List<"/changes">;
  /** Fetches the changes from one dataset to another. A publication names both: `from` and `version`. */
  step(from: string, to: string, options?: RequestOptions): Promise<Step>;
  /** Fetches the evidence for a GP, a principal or a project, including the evidence that was refused. */
  explain(id: string, options?: RequestOptions): Promise<Explanation>;
  /** Fetches the datasets that can be downloaded, the served one first. */
  exports(options?: RequestOptions): Promise<ExportedDataset[]>;
  /**
   * Yields the bytes of one file, such as `gp.ndjson`, as they arrive. A lost connection resumes at the next byte.
   * Check the bytes against the file's `sha256`: `exports` gives it once the file has been requested.
   */
  exportFile(
    version: string,
    file: string,
    options?: RequestOptions,
  ): AsyncGenerator<Uint8Array, void, undefined>;
}

export interface Step {
  head: StepHead;
  /** Changes, sorted by kind, then by id. */
  changes: RecordChange[];
}

export interface StepHead {
  format: number;
  from: string;
  to: string;
  /** Hashes of the records before and after the step, as docs/changes.md defines them. */
  from_hash: string;
  to_hash: string;
  /** Number of changes in the step. */
  changes: number;
}

/** Maximum number of restarts of a listing. Datasets published faster than they are read would restart it for ever. */
const restartsMax = 10;

/** Number of changes per request. A request for up to 100 counts only once, so that it fits into any quota. */
const stepPart = 100;

/** Creates a client. @throws TypeError if the address or the key cannot be sent. */
export function createClient(options: ClientOptions): Client {
  const transport = openTransport(options);

  function fetchAt<At extends Path>(path: At) {
    return async (query: object = {}, request: RequestOptions = {}) =>
      (await transport.getJson(path, query, request)) as Page<At>;
  }

  function listAt<At extends Path>(path: At) {
    const fetchPage = fetchAt(path);
    return (
      query: { limit?: number } = {},
      options: ListOptions = {},
    ): Listing<RecordAt<At>, Page<At>> => {
      if ("offset" in query) throw new TypeError("A listing begins at offset 0: leave offset out.");
      const pages = () =>
        pagesOf(
          (offset) => fetchPage({ ...query, limit: query.limit ?? 100, offset }, options),
          (restarts) => transport.pause(restarts, options),
          options,
        );
      return {
        pages,
        async *[Symbol.asyncIterator]() {
          for await (const { data } of pages()) yield* data as RecordAt<At>[];
        },
        async toArray() {
          const gathered: RecordAt<At>[] = [];
          for await (const { data, pagination } of pages()) {
            if (pagination.offset === 0) gathered.length = 0;
            for (const one of data) gathered.push(one);
          }
          return gathered;
        },
      };
    };
  }

  return {
    fetchGp: fetchAt("/fetch-gp"),
    fetchPrincipals: fetchAt("/fetch-principals"),
    fetchSignals: fetchAt("/fetch-signals"),
    fetchProjects: fetchAt("/fetch-projects"),
    listGps: fetchAt("/list-gps"),
    listPrincipals: fetchAt("/list-principals"),
    listSignals: fetchAt("/list-signals"),
    listProjects: fetchAt("/list-projects"),
    gps: listAt("/fetch-gp"),
    principals: listAt("/fetch-principals"),
    signals: listAt("/fetch-signals"),
    projects: listAt("/fetch-projects"),
    allGps: listAt("/list-gps"),
    allPrincipals: listAt("/list-principals"),
    allSignals: listAt("/list-signals"),
    allProjects: listAt("/list-projects"),
    changes: listAt("/changes"),
    async step(from, to, options) {
      const path = `/changes/${encodeURIComponent(from)}..${encodeURIComponent(to)}.ndjson`;
      const readPart = (offset: number) =>
        transport.getLines(path, { limit: stepPart, offset }, options);
      const { data, requestId } = await readPart(0);
      const [head, ...changes] = data as [StepHead | undefined, ...RecordChange[]];
      for (let isMore = head !== undefined && head.changes > changes.length; isMore;) {
        const part = (await readPart(changes.length)).data as RecordChange[];
        changes.push(...part);
        isMore = part.length > 0 && changes.length < head!.changes;
      }
      if (head?.to !== to || head.from !== from || head.changes !== changes.length)
        throw new UnexpectedAnswerError(
          `${path} is not the step that was asked for.`,
          requestId,
          200,
        );
      return { head, changes };
    },
    explain: async (id, options) =>
      (await transport.getData(`/explain/${encodeURIComponent(id)}`, options)) as Explanation,
    exports: async (options) => (await transport.getData("/exports", options)) as ExportedDataset[],
    exportFile: (version, file, options) =>
      transport.getFile(
        `/exports/${encodeURIComponent(version)}/${encodeURIComponent(file)}`,
        options,
      ),
  } satisfies Client & { [At in Path as MethodOf<At>]: unknown };
}

type AnyPage = Received & { pagination: Pagination; meta: Meta };

/** Yields the pages of a listing. @throws VersionChangedError if the dataset changes and no restart is allowed. */
async function* pagesOf<OnePage extends AnyPage>(
  fetchPage: (offset: number) => Promise<OnePage>,
  pause: (restarts: number) => Promise<void>,
  { onVersionChange = "fail" }: ListOptions,
): AsyncGenerator<OnePage, void, undefined> {
  let from: string | undefined;
  let restarts = 0;
  for (let offset: number | null = 0; offset !== null;) {
    const page: OnePage = await fetchPage(offset);
    const to = page.meta.dataset_version;
    if (from !== undefined && from !== to) {
      if (onVersionChange === "fail" || restarts === restartsMax)
        throw new VersionChangedError(
          `The dataset changed from ${from} to ${to} between two pages${restarts > 0 ? `, for the ${restarts + 1}th time` : ""}; begin again.`,
          page.requestId,
          { from, to },
        );
      restarts++;
    }
    const isOther = from !== undefined && from !== to;
    from = to;
    if (isOther && offset > 0) {
      // Until every server has taken over the dataset, pages may be of either one.
      if (restarts > 1) await pause(restarts - 1);
      offset = 0;
      continue;
    }
    yield page;
    offset = page.pagination.next_offset;
  }
}
