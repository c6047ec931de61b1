/** Reads the request log, newest first and page by page. */
import { type RawBuilder, sql } from "kysely";
import type { Column } from "#csv.ts";
import type { UsageStore } from "#store/stores.ts";
import type { AnsweredRequest } from "./recording.ts";
import type { StatusClass } from "./totals.ts";
import { packRequestId, readRequestId } from "./writes.ts";

export interface LoggedRequest extends AnsweredRequest {
  /** Time of the response in ISO 8601. */
  at: string;
}

/** Columns of a request in machine-readable output. An account's number means nothing outside the service. */
export const requestColumns: readonly Column<LoggedRequest>[] = [
  { name: "at", of: (request) => request.at },
  { name: "request_id", of: (request) => request.requestId },
  { name: "key", of: (request) => request.key },
  { name: "operation", of: (request) => request.operation },
  { name: "status", of: (request) => request.status },
  { name: "ms", of: (request) => request.milliseconds },
  { name: "bytes", of: (request) => request.bytes },
  { name: "dataset", of: (request) => request.dataset },
  { name: "problem", of: (request) => request.problem },
  { name: "query", of: (request) => request.query },
];

/** Conditions on requests. Times are ms since 1970; `until` is exclusive. */
export interface RequestFilter {
  key?: string | undefined;
  operation?: string | undefined;
  statusClass?: StatusClass | undefined;
  requestId?: string | undefined;
  since?: number | undefined;
  until?: number | undefined;
}

interface PageOrder {
  /** Number of the account; null for all accounts. */
  account: number | null;
  filter?: RequestFilter;
  limit: number;
  /** `next` of the previous page; any other value means the first page. */
  after?: string | undefined;
}

/** Returns a page of requests. Several requests may have the same id, because a client can choose it. */
export async function readRequests(usage: UsageStore, order: PageOrder) {
  const { account, filter = {}, limit, after } = order;
  const wanted = [sql`request.at >= (select at from request_log_start)`, ...conditionsOf(filter)];
  if (account !== null) wanted.push(sql`request.account = ${account}`);
  const [, at, number] = /^(\d{1,15})-(\d{1,15})$/.exec(after ?? "") ?? [];
  if (at !== undefined)
    wanted.push(sql`(request.at, request.number) < (${Number(at)}, ${Number(number)})`);
  const { rows: found } = await sql<Row>`
    select request.number, request.at, account, key.word as key, operation.word as operation, status, bytes,
      hundredths / 100.0 as milliseconds, dataset.word as dataset, problem.word as problem, id, query
    from request
      left join word as key on key.number = request.key
      left join word as operation on operation.number = request.operation
      left join word as dataset on dataset.number = request.dataset
      left join word as problem on problem.number = request.problem
    where ${sql.join(wanted, sql` and `)}
    order by request.at desc, request.number desc limit ${limit + 1}`.execute(usage.database);
  const last = found[limit - 1];
  return {
    requests: found.slice(0, limit).map((row): LoggedRequest => {
      const { number: _, at, id, ...others } = row;
      return { ...others, at: new Date(at).toISOString(), requestId: readRequestId(id) };
    }),
    /** Position of the next page; null on the last page. */
    next: found.length > limit ? `${last!.at}-${last!.number}` : null,
  };
}

const pageSize = 1000;

/** Yields one page after another, with at most `countMax` requests in all. */
export async function* requestsInPages(
  usage: UsageStore,
  { account, filter = {}, countMax }: Omit<PageOrder, "limit" | "after"> & { countMax: number },
): AsyncGenerator<LoggedRequest[]> {
  let after: string | null | undefined;
  for (let left = countMax; left > 0 && after !== null;) {
    const limit = Math.min(left, pageSize);
    const page = await readRequests(usage, { account, filter, limit, after });
    yield page.requests;
    left -= page.requests.length;
    after = page.next;
  }
}

function conditionsOf(filter: RequestFilter): RawBuilder<unknown>[] {
  const { key, operation, statusClass, requestId, since, until } = filter;
  const conditions: RawBuilder<unknown>[] = [];
  if (key !== undefined) conditions.push(sql`request.key = ${numberOf(key)}`);
  if (operation !== undefined) conditions.push(sql`request.operation = ${numberOf(operation)}`);
  if (statusClass !== undefined) {
    const first = Number(statusClass[0]) * 100;
    conditions.push(sql`request.status >= ${first} and request.status < ${first + 100}`);
  }
  if (requestId !== undefined)
    conditions.push(sql`request.id = ${Uint8Array.from(packRequestId(requestId))}`);
  if (since !== undefined) conditions.push(sql`request.at >= ${since}`);
  if (until !== undefined) conditions.push(sql`request.at < ${until}`);
  return conditions;
}

const numberOf = (word: string) => sql`(select number from word where word = ${word})`;

interface Row extends Omit<AnsweredRequest, "requestId"> {
  number: number;
  /** Milliseconds since 1970. */
  at: number;
  id: Uint8Array;
}
