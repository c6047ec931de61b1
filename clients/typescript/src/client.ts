/** The operations as functions: one page each, or all pages of one dataset; what changed, and whole datasets as files. */
import { UnexpectedAnswerError, VersionChangedError } from "./errors.ts";
import {
  type ClientOptions,
  openTransport,
  type Received,
  type RequestOptions,
} from "./transport.ts";
import type { ExportedDataset, Meta, Operations, Pagination, RecordChange } from "./types.ts";

type Path = keyof Operations;
type Query<At extends Path> = Operations[At]["query"];
type Page<At extends Path> = Operations[At]["answer"] & Received;
type RecordAt<At extends Path> = Operations[At]["answer"]["data"][number];

export interface ListOptions extends RequestOptions {
  /**
   * What happens when another dataset is published between two pages, whose pages do not go together with the earlier
   * ones: `fail` throws a VersionChangedError; `restart` begins again with the first page, so that records come again.
   * `fail` by default.
   */
  onVersionChange?: "fail" | "restart";
}

/** All records of a query, in order, page by page as they are asked for; `limit` is the size of the pages, 100 by default. */
export interface Listing<One, OnePage> extends AsyncIterable<One> {
  /** The pages themselves. After a restart `pagination.offset` is 0 again. */
  pages(): AsyncGenerator<OnePage, void, undefined>;
  /** Every record of one dataset, once: what was gathered before a restart is dropped. */
  toArray(): Promise<One[]>;
}

/** Where no parameter is required, the query may be left out. */
type Arguments<Asked, Options> = object extends Asked
  ? [query?: Asked, options?: Options]
  : [query: Asked, options?: Options];
type Fetch<At extends Path> = (...asked: Arguments<Query<At>, RequestOptions>) => Promise<Page<At>>;
type List<At extends Path> = (
  ...asked: Arguments<Omit<Query<At>, "offset">, ListOptions>
) => Listing<RecordAt<At>, Page<At>>;

export interface Client {
  /** One page of GPs by name, best match first, with their principals and signals. */
  fetchGp: Fetch<"/fetch-gp">;
  /** One page of principals. */
  fetchPrincipals: Fetch<"/fetch-principals">;
  /** One page of signals, newest first. */
  fetchSignals: Fetch<"/fetch-signals">;
  /** One page of projects. */
  fetchProjects: Fetch<"/fetch-projects">;
  /** All GPs that match a name. */
  gps: List<"/fetch-gp">;
  principals: List<"/fetch-principals">;
  signals: List<"/fetch-signals">;
  projects: List<"/fetch-projects">;
  /** The publications of datasets, newest first. */
  changes: List<"/changes">;
  /** What changed from one dataset to another, as a publication names them: `from` and `version`. */
  step(from: string, to: string, options?: RequestOptions): Promise<Step>;
  /** The datasets whose files can be downloaded, the one that is served first. */
  exports(options?: RequestOptions): Promise<ExportedDataset[]>;
  /**
   * The bytes of one file, such as `gp.ndjson`, as they come. A connection that is lost goes on where it was. Hold them against
   * the `sha256` that `exports` gives once the file was asked for.
   */
  exportFile(
    version: string,
    file: string,
    options?: RequestOptions,
  ): AsyncGenerator<Uint8Array, void, undefined>;
}

export interface Step {
  head: StepHead;
  /** By kind, then by id. */
  changes: RecordChange[];
}

export interface StepHead {
  format: number;
  from: string;
  to: string;
  /** Hash of the records it begins with, and of those it leads to, as docs/changes.md defines it. */
  from_hash: string;
  to_hash: string;
  /** How many changes the step has. */
  changes: number;
}

/** Restarts of one listing: datasets that are published faster than they can be read must not keep it going for ever. */
const restartsMax = 10;

/** Changes that one request pays for, which every quota has. */
const stepPart = 100;

/** @throws TypeError for an address or a key that cannot be sent. */
export function createClient(options: ClientOptions): Client {
  const transport = openTransport(options);

  function fetchAt<At extends Path>(path: At) {
    return async (query: object = {}, request: RequestOptions = {}) =>
      (await transport.getJson(path, query, request)) as Page<At>;
  }

  function listAt<At extends Path>(path: At) {
    const fetchPage = fetchAt(path);
    return (query: object = {}, options: ListOptions = {}): Listing<RecordAt<At>, Page<At>> => {
      const pages = () =>
        pagesOf((offset) => fetchPage({ limit: 100, ...query, offset }, options), options);
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
    gps: listAt("/fetch-gp"),
    principals: listAt("/fetch-principals"),
    signals: listAt("/fetch-signals"),
    projects: listAt("/fetch-projects"),
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
    exports: async (options) =>
      (await transport.getList("/exports", options)).data as ExportedDataset[],
    exportFile: (version, file, options) =>
      transport.getFile(
        `/exports/${encodeURIComponent(version)}/${encodeURIComponent(file)}`,
        options,
      ),
  };
}

type AnyPage = Received & { pagination: Pagination; meta: Meta };

/** @throws VersionChangedError */
async function* pagesOf<OnePage extends AnyPage>(
  fetchPage: (offset: number) => Promise<OnePage>,
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
      offset = 0;
      continue;
    }
    yield page;
    offset = page.pagination.next_offset;
  }
}
