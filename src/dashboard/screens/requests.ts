/** An account's request log, newest first: filtered, page by page, or as a CSV file. */
import { byteOrderMark, csvTable } from "#csv.ts";
import { listOwn } from "./keys.ts";
import { choice, type Choice, field, headedPage } from "#dashboard/components/page.ts";
import {
  download,
  type MemberRequest,
  page,
  type Reply,
  route,
  withQuery,
} from "#dashboard/screen.ts";
import { isLive, type ListedKey } from "#keys/keys.ts";
import { readNames } from "#operations/reads.ts";
import { html, type Html, type Part, table } from "#pages/html.ts";
import { counted, exactTime, grouped, wordList } from "#pages/prose.ts";
import { problemCodes } from "#problems/kinds.ts";
import { echo } from "#problems.ts";
import { existsInCalendar } from "#records/fields.ts";
import { dayMilliseconds } from "#store/durations.ts";
import {
  requestColumns,
  type LoggedRequest,
  readRequests,
  type RequestFilter,
  requestsInPages,
} from "#usage/request-log.ts";
import { statusClasses } from "#usage/totals.ts";

export const requestsRoutes = [
  route("/account/requests", "member", {
    GET: showRequests,
    link: { group: "API", label: "Requests" },
  }),
  route("/account/requests.csv", "member", { GET: downloadRequests }),
];

const rowsOfPage = 40;
/** Maximum number of rows in a CSV file, which make about 2 MB. */
const csvRowsMax = 10_000;

async function showRequests(request: MemberRequest): Promise<Reply> {
  const { services, account, query } = request;
  if (services.settings.usageLogDays === 0) return page(headedPage(request, switchedOff));
  const { filter, typed, fault } = readFilter(query);
  const { requests, next } =
    fault === undefined
      ? await readRequests(services.usage, {
          account: account.number,
          filter,
          limit: rowsOfPage,
          after: query.get("after") ?? undefined,
        })
      : { requests: [], next: null };
  const keys = await listOwn(request);
  const names = new Map(keys.map(({ id, name }) => [id, name]));
  const isFiltered = Object.keys(typed).length > 0;
  // The page of an ended key links to its requests, so the form must offer that key too.
  const offered = keys.filter((key) => isLive(key) || key.id === typed.key);
  const log = html`<details ${isFiltered && html`open`}>
      <summary>Filter the requests, or find one by its id</summary>
      ${filterForm(typed, offered)}
    </details>
    ${
      requests.length > 0
        ? foundRequests(typed, requestTable(requests, names), next)
        : fault === undefined &&
          html`<p>No request matches the filters. <a href="/account/requests">Show all</a></p>`
    }`;
  const markup = headedPage(request, {
    title: "Requests",
    heading: `Requests of the last ${counted(services.settings.usageLogDays, "day")}`,
    fault,
    main: requests.length === 0 && !isFiltered ? noneYet : log,
  });
  return page(markup, fault === undefined ? 200 : 400);
}

const hrefOf = (path: string, typed: Typed, after?: string): string =>
  withQuery(path, new URLSearchParams({ ...typed, ...(after !== undefined && { after }) }));

/**
 * Returns a CSV file. Returns the page instead if the log is off, or if the filter has an error: a file of the wrong
 * requests would look right.
 */
async function downloadRequests(request: MemberRequest): Promise<Reply> {
  const { filter, fault } = readFilter(request.query);
  const { usage, settings } = request.services;
  if (fault !== undefined || settings.usageLogDays === 0) return showRequests(request);
  const order = { account: request.account.number, filter, countMax: csvRowsMax };
  const pages = await Array.fromAsync(requestsInPages(usage, order));
  const text = byteOrderMark + csvTable(requestColumns, pages.flat());
  const name = `requests-${new Date(request.now).toISOString().slice(0, 10)}.csv`;
  return download(name, "text/csv; charset=utf-8; header=present", text);
}

const switchedOff = {
  title: "No log of requests",
  main: html`<p>
    The operator of this service keeps no log of requests: the setting
    <code>USAGE_LOG_DAYS</code> is 0. Totals by hour and day are on the page
    <a href="/account/usage">Usage</a>.
  </p>`,
};

const noneYet = html`<p>
  No requests in this time. Send one with <a href="/account/keys">one of your keys</a>.
</p>`;

function filterForm(typed: Typed, keys: readonly ListedKey[]): Html {
  const any = { value: "", label: "all" };
  const pick = (name: keyof typeof typed, label: string, choices: readonly Choice[]) =>
    choice(name, label, [any, ...choices], typed[name] ?? "");
  const plain = (values: readonly string[]) => values.map((value) => ({ value, label: value }));
  return html`<form method="get" action="/account/requests">
    <div class="fields">
      ${pick(
        "key",
        "Key",
        keys.map(({ id, name }) => ({ value: id, label: name })),
      )}
      ${pick("operation", "Operation", plain(readNames))}
      ${pick("status", "Status", plain(statusClasses))}
      ${field({ name: "day", label: "Day (UTC)", type: "date", value: typed.day, isOptional: true })}
      ${field({ name: "id", label: "Request id", value: typed.id, isOptional: true, lengthMax: 64 })}
    </div>
    <button>Show requests</button>
  </form>`;
}

/** Returns the requests and the links below them. @param next start of the next page; null on the last page. */
const foundRequests = (typed: Typed, rows: Html, next: string | null): Html =>
  html`${rows}
    <p>
      ${next !== null && html`<a class="button" href="${hrefOf("/account/requests", typed, next)}">Older requests</a>`}
    </p>
    <p>
      <a href="${hrefOf("/account/requests.csv", typed)}">Download as CSV</a>
      <span class="muted"
        >the requests that match the filters, at most the newest ${grouped(csvRowsMax)}</span
      >
    </p>`;

/** Returns a table whose cells hold several facts, so that a row fits a narrow screen. */
const requestTable = (
  requests: readonly LoggedRequest[],
  names: ReadonlyMap<string, string>,
): Html =>
  table({
    label: "Requests, newest first",
    columns: [
      "Time (UTC), request id",
      { label: "Operation, key", isPlain: true },
      "Status",
      { label: "ms", isNumber: true },
      { label: "Bytes", isNumber: true },
    ],
    rows: requests.map((one) => [
      html`<time datetime="${one.at}">${exactTime(one.at).slice(0, -4)}</time><br />
        <code class="long">${one.requestId}</code>`,
      html`${one.operation}<br />
        <a class="name" href="/account/keys/${one.key}">${names.get(one.key) ?? one.key}</a>
        ${one.query !== null && html`<br /><code class="long">${one.query}</code>`}`,
      html`${one.status}<br />${becauseOf(one)}`,
      one.milliseconds.toFixed(1),
      grouped(one.bytes),
    ]),
  });

/** Returns a link to the request's problem, or the response's dataset if there was no problem. */
function becauseOf({ problem: code, dataset }: LoggedRequest): Part {
  if (code === null) return html`<span class="mono muted">${dataset}</span>`;
  // A code that an older version logged may have no page.
  return (problemCodes as string[]).includes(code)
    ? html`<a href="/errors/${code}">${code}</a>`
    : code;
}

const filterNames = ["key", "operation", "status", "day", "id"] as const;

/** Fields as typed, but trimmed, for the form; empty fields are left out. */
type Typed = Partial<Record<(typeof filterNames)[number], string>>;

export function readFilter(query: URLSearchParams) {
  const typed: Typed = {};
  for (const name of filterNames) {
    const value = query.get(name)?.trim() ?? "";
    if (value !== "") typed[name] = value;
  }
  const { key, operation, status, day, id: requestId } = typed;
  const statusClass = statusClasses.find((one) => one === status);
  const isDay = day !== undefined && /^\d{4}-\d\d-\d\d$/.test(day) && existsInCalendar(day);
  const range = isDay && { since: Date.parse(day), until: Date.parse(day) + dayMilliseconds };
  const filter: RequestFilter = { key, operation, statusClass, requestId, ...range };
  let fault: string | undefined;
  if (status !== undefined && statusClass === undefined)
    fault = `Status must be ${wordList(statusClasses, "or")}, not “${echo(status)}”.`;
  else if (day !== undefined && !isDay)
    fault = `Day must be a date that exists, such as 2026-11-21, not “${echo(day)}”.`;
  return { filter, typed, fault };
}
