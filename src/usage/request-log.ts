/** The request log of an account, newest first, page by page; and a request by its id. */
import type { Selectable, SelectQueryBuilder } from "kysely";
import type { UsageStore } from "#store/stores.ts";
import type { RequestLogTable, UsageTables } from "#store/usage-tables.ts";
import type { AnsweredRequest } from "./request-chunk.ts";
import { type StatusClass, statusRange } from "./status-class.ts";

/** In place of the id of a key, for calls made in the explorer of the account pages. */
export const explorerKey = "explorer";

/** A request as the log stores it. */
export interface LoggedRequest extends AnsweredRequest {
  /** ISO time at which it was answered. */
  at: string;
}

/** Times are milliseconds since 1970; `until` is exclusive. */
export interface RequestFilter {
  key?: string | undefined;
  operation?: string | undefined;
  statusClass?: StatusClass | undefined;
  requestId?: string | undefined;
  since?: number | undefined;
  until?: number | undefined;
}

interface PageOrder {
  account: number;
  filter?: RequestFilter;
  limit: number;
  /** `next` of the page before; any other text means the first page. */
  after?: string | undefined;
}

interface RequestPage {
  requests: LoggedRequest[];
  /** Null on the last page. */
  next: string | null;
}

export async function readRequests(usage: UsageStore, order: PageOrder): Promise<RequestPage> {
  const { account, filter = {}, limit, after } = order;
  const place = after === undefined ? undefined : readPlace(after);
  let query = filtered(rowsOf(usage), filter).where("account", "=", account);
  if (place !== undefined)
    query = query.where((where) =>
      where(where.refTuple("at", "number"), "<", where.tuple(place.at, place.number)),
    );
  const rows = await newestFirst(query)
    .limit(limit + 1)
    .execute();
  const last = rows[limit - 1];
  return {
    requests: rows.slice(0, limit).map(requestOf),
    next: rows.length > limit ? `${last!.at}-${last!.number}` : null,
  };
}

const pageSize = 1000;

/** For more than one page; stops after `countMax` requests. */
export async function* requestsInPages(
  usage: UsageStore,
  { account, filter = {}, countMax }: Omit<PageOrder, "limit" | "after"> & { countMax: number },
): AsyncGenerator<LoggedRequest[]> {
  let after: string | null | undefined;
  for (let left = countMax; left > 0 && after !== null;) {
    const limit = Math.min(left, pageSize);
    const page = await readRequests(usage, { account, filter, limit, after });
    if (page.requests.length > 0) yield page.requests;
    left -= page.requests.length;
    after = page.next;
  }
}

interface FindOrder {
  /** All accounts where it is left out. */
  account?: number | undefined;
  filter: RequestFilter & { requestId: string };
  limit: number;
}

/** Newest first; a client may give many requests the same id. */
export async function findRequests(
  usage: UsageStore,
  { account, filter, limit }: FindOrder,
): Promise<LoggedRequest[]> {
  const all = filtered(rowsOf(usage), filter);
  const query = account === undefined ? all : all.where("account", "=", account);
  const rows = await newestFirst(query).limit(limit).execute();
  return rows.map(requestOf);
}

type Rows = SelectQueryBuilder<UsageTables, "request_log", Selectable<RequestLogTable>>;

const rowsOf = (usage: UsageStore): Rows => usage.database.selectFrom("request_log").selectAll();

const newestFirst = (query: Rows): Rows => query.orderBy("at", "desc").orderBy("number", "desc");

function filtered(rows: Rows, filter: RequestFilter): Rows {
  const { key, operation, statusClass, requestId, since, until } = filter;
  let query = rows;
  if (key !== undefined) query = query.where("key", "=", key);
  if (operation !== undefined) query = query.where("operation", "=", operation);
  if (requestId !== undefined) query = query.where("request_id", "=", requestId);
  if (since !== undefined) query = query.where("at", ">=", since);
  if (until !== undefined) query = query.where("at", "<", until);
  if (statusClass === undefined) return query;
  const [first, end] = statusRange(statusClass);
  return query.where("status", ">=", first).where("status", "<", end);
}

/** The position after a page: time and number of its last request. */
function readPlace(text: string): { at: number; number: number } | undefined {
  const [, at, number] = /^(\d{1,15})-(\d{1,15})$/.exec(text) ?? [];
  return at === undefined ? undefined : { at: Number(at), number: Number(number) };
}

const requestOf = (row: Selectable<RequestLogTable>): LoggedRequest => ({
  at: new Date(row.at).toISOString(),
  account: row.account,
  key: row.key,
  operation: row.operation,
  status: row.status,
  milliseconds: row.milliseconds,
  bytes: row.bytes,
  dataset: row.dataset,
  problem: row.problem,
  requestId: row.request_id,
  query: row.query,
});
