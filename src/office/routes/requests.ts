/** The request log of an account: page by page, or as one file. */
import { listKeys } from "#keys/keys.ts";
import { operations } from "#operations/index.ts";
import { framed } from "#office/frame.ts";
import { download, page, type Reply } from "#office/reply.ts";
import { filterNames, type FilterReading, readFilter } from "#office/request-filter.ts";
import { type Route, route } from "#office/route.ts";
import type { AccountVisit } from "#office/visit.ts";
import { isLive } from "#pages/account/key-state.ts";
import { type RequestRow, requestsPage } from "#pages/account/requests.ts";
import { csvHeading, csvRow, requestColumns } from "#usage/columns.ts";
import {
  explorerKey,
  type LoggedRequest,
  readRequests,
  requestsInPages,
} from "#usage/request-log.ts";

const rowsOfPage = 40;
/** Some 2 MB. */
const csvRowsMax = 10_000;
/** So many keys the filter offers to choose from; any other stands in its address. */
const keysOffered = 60;

async function showRequests(visit: AccountVisit): Promise<Reply> {
  const reading = readFilter(visit.query);
  const isOff = visit.rooms.settings.usageLogDays === 0;
  if (isOff || reading.fault !== undefined)
    return page(await markup(visit, reading, { requests: [], next: null }), isOff ? 200 : 400);
  const found = await readRequests(visit.rooms.usage, {
    account: visit.account.number,
    filter: reading.filter,
    limit: rowsOfPage,
    after: visit.query.get("after") ?? undefined,
  });
  return page(await markup(visit, reading, found));
}

async function markup(
  visit: AccountVisit,
  { typed, fault }: FilterReading,
  { requests, next }: { requests: readonly LoggedRequest[]; next: string | null },
): Promise<string> {
  const { rooms, account, now } = visit;
  const keys = (await listKeys(rooms.control, { accountNumber: account.number, now })).toReversed();
  const explorer = { id: explorerKey, name: "Explorer" };
  const offered = [explorer, ...keys.filter(isLive), ...keys.filter((key) => !isLive(key))];
  const names = new Map(offered.map(({ id, name }) => [id, name]));
  return requestsPage({
    frame: framed(visit),
    logDays: rooms.settings.usageLogDays,
    typed,
    fault,
    keys: offered.filter(({ id }, i) => i < keysOffered || id === typed.key),
    operations: operations.map(({ name }) => name),
    rows: requests.map((request) => rowOf(request, names)),
    olderHref: next === null ? null : hrefOf("/account/requests", typed, next),
    csvHref: hrefOf("/account/requests.csv", typed),
    csvRowsMax,
  });
}

const rowOf = (request: LoggedRequest, names: ReadonlyMap<string, string>): RequestRow => ({
  ...request,
  keyHref: request.key === explorerKey ? "/account/explorer" : `/account/keys/${request.key}`,
  keyName: names.get(request.key) ?? request.key,
});

function hrefOf(path: string, typed: FilterReading["typed"], after?: string): string {
  const query = new URLSearchParams();
  for (const name of filterNames) {
    const value = typed[name];
    if (value !== undefined) query.set(name, value);
  }
  if (after !== undefined) query.set("after", after);
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}

/** A filter with a fault has its page; a file of the wrong requests would look like the right one. */
async function downloadRequests(visit: AccountVisit): Promise<Reply> {
  const { filter, fault } = readFilter(visit.query);
  const { usage, settings } = visit.rooms;
  if (fault !== undefined || settings.usageLogDays === 0) return showRequests(visit);
  const lines = [csvHeading(requestColumns)];
  const order = { account: visit.account.number, filter, countMax: csvRowsMax };
  for await (const requests of requestsInPages(usage, order))
    for (const request of requests) lines.push(csvRow(requestColumns, request));
  const name = `requests-${new Date(visit.now).toISOString().slice(0, 10)}.csv`;
  return download(name, "text/csv; charset=utf-8; header=present", `${lines.join("\r\n")}\r\n`);
}

export const requestsRoutes: readonly Route[] = [
  route("/account/requests", "member", { GET: showRequests }),
  route("/account/requests.csv", "member", { GET: downloadRequests }),
];
