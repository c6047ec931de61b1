/**
 * Sends a view of Browse as CSV or as a workbook. Charges a member's account before the first byte. Matches are charged
 * here, too.
 */
import { setImmediate } from "node:timers/promises";
import { quotasInForce } from "#accounts/plans.ts";
import { byteOrderMark, csvHeading, csvRow } from "#csv.ts";
import { laterReply, wordPage, wordReply } from "#dashboard/components/page.ts";
import { asSeen, readRecords } from "#dashboard/components/records.ts";
import { keptFields, type View, viewHref, viewOf, viewWords } from "#dashboard/components/view.ts";
import { download, isSignedIn, type ReaderRequest, type Reply, route } from "#dashboard/screen.ts";
import { greatestRequest } from "#limits/policy.ts";
import { columnsOf } from "#operations/formats.ts";
import { lists } from "#operations/lists.ts";
import { recordText } from "#operations/page.ts";
import { html, type Html, type Part } from "#pages/html.ts";
import { counted, exactTime, grouped } from "#pages/prose.ts";
import { Problem } from "#problems.ts";
import type { RecordMembers } from "#records/columns.ts";
import { kinds, type RecordKind, recordKinds } from "#records/kinds.ts";
import type { Principal } from "#records/principal.ts";
import { prepareInTurns, type ReadModel } from "#search/read-model.ts";

const downloadPath = (kind: RecordKind) => `${kinds[kind].path}/download` as const;

export const downloadRoutes = recordKinds.map((kind) =>
  route(downloadPath(kind), "reader", {
    POST: readRecords((request, model) => sendView(request, model, kind)),
  }),
);

const rowsMax = 10_000;
/** Number of rows that count as one request; also the maximum without signing in. */
const rowsOfRequest = 100;

type Allowance = Awaited<ReturnType<typeof allowanceOf>>;

/**
 * Returns how many rows of a view a reader may download, and how many requests the download counts as. A member gets at
 * most 10,000 rows, and no more than the account's quota allows. Anybody else gets at most 100 rows. Their `requests` is
 * null, because the download counts as a page view.
 * @param total number of rows in the view.
 */
export async function allowanceOf(request: ReaderRequest, total: number) {
  if (!isSignedIn(request)) return { rows: Math.min(total, rowsOfRequest), requests: null };
  const { database } = request.services.control;
  const quotas = await quotasInForce(database, request.account.number);
  const rows = Math.min(total, rowsMax, rowsOfRequest * greatestRequest(quotas));
  // A file with only its heading counts, too.
  return { rows, requests: Math.max(1, Math.ceil(rows / rowsOfRequest)) };
}

export function downloadForm(view: View, total: number, { rows, requests }: Allowance): Html {
  const all = rows === total ? "All" : `The first ${grouped(rows)} of`;
  const cost =
    requests === null
      ? `The download counts as one page view.${rows < total ? " Sign in to get more rows." : ""}`
      : `The download counts as ${counted(requests, "request")} against your quota.`;
  return html`<details class="call">
    <summary class="button">Download</summary>
    <form method="post" action="${downloadPath(view.kind)}">
      ${keptFields(view)}
      <p>${all} ${counted(total, ...kinds[view.kind].nouns)}. ${cost}</p>
      <button name="format" value="csv">CSV</button>
      <button name="format" value="xlsx">XLSX</button>
    </form>
  </details>`;
}

async function sendView(
  request: ReaderRequest,
  model: ReadModel,
  kind: RecordKind,
): Promise<Reply> {
  const fields = new URLSearchParams(request.form);
  const format = fields.get("format") ?? "csv";
  if (format !== "csv" && format !== "xlsx")
    return wordReply(
      request,
      400,
      "Choose a format",
      `'format' must be csv or xlsx, not '${format.slice(0, 50)}'. No request was counted.`,
    );
  fields.delete("format");
  const view = viewOf(model, kind, fields);
  if (view instanceof Problem) {
    const why = `${view.message} No request was counted.`;
    return wordReply(request, 400, "This view is not valid", why);
  }
  const { filter, order } = view.query;
  await prepareInTurns(model, kind, filter, order);
  const { total } = model.select(kind, filter, { limit: 0, offset: 0 });
  const { rows, requests } = await allowanceOf(request, total);
  const back = { href: kinds[kind].path + viewHref(view), label: "Back to the view" };
  const refuse = (text: Part) => wordPage(request, "The download cannot start now", text, back);
  const refused = requests === null ? null : await charge(request, "download", requests, refuse);
  if (refused !== null) return refused;
  const { positions } = model.select(kind, filter, { limit: rows, offset: 0 }, order);
  const seen = seenBy(request, view, positions);
  const name = `${kinds[kind].nouns[1].toLowerCase()}-${model.parts.version}.${format}`;
  if (format === "csv") return download(name, csvType, await csvOf(seen));
  const part = rows === total ? rows : `the first ${grouped(rows)} of ${grouped(total)}`;
  return download(name, workbookType, await workbookOf(request, view, seen, part));
}

const csvType = "text/csv; charset=utf-8; header=present";
const workbookType = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

const contactColumns = ["email", "linkedin_url"];

/** Returns a view's columns and its records at these positions, without what the reader may not see. */
function seenBy(request: ReaderRequest, { kind, model }: View, positions: readonly number[]) {
  const columns = columnsOf(lists[kind]).filter(
    ({ name }) => isSignedIn(request) || !contactColumns.includes(name),
  );
  function* records(): Generator<RecordMembers> {
    for (const position of positions) {
      const record = JSON.parse(recordText(model.parts, kind, position, false));
      yield kind === "principal" ? asSeen(request, record as Principal) : record;
    }
  }
  return { columns, records };
}
type Seen = ReturnType<typeof seenBy>;

/** Number of rows written between two pauses, in which other requests are answered. */
const rowsAtATime = 100;

async function csvOf({ columns, records }: Seen): Promise<string> {
  const lines = [byteOrderMark + csvHeading(columns)];
  for (const record of records()) {
    lines.push(csvRow(columns, record));
    if (lines.length % rowsAtATime === 0) await setImmediate();
  }
  return lines.join("");
}

async function workbookOf(request: ReaderRequest, view: View, seen: Seen, rows: number | string) {
  // Imported here, because few people download a workbook.
  const { fundsSheet, recordSheet, workbookPieces, notes } = await import("#exports/workbook.ts");
  const { kind, model } = view;
  const { version, updatedAt } = model.parts;
  const now = new Date(request.now);
  const about = {
    name: "About",
    headings: ["what", "value"],
    rows: [
      ["Dataset version", version],
      ["Dataset published", updatedAt],
      ["Downloaded", now.toISOString()],
      ["Filters", viewWords(view).trim() || "none"],
      ["Address of the view", `${request.own.base}${kinds[kind].path}${viewHref(view)}`],
      ["Rows", rows],
      ...notes,
    ],
  };
  const { columns, records } = seen;
  const sheets = [
    recordSheet(kind, columns, records()),
    ...(kind === "gp" ? [fundsSheet(records())] : []),
    about,
  ];
  return Buffer.concat(await Array.fromAsync(workbookPieces(sheets, now)));
}

/**
 * Charges the account of a member. Returns a refusal, or null if the work is paid for.
 * @param work noun for the work. @param cost number of requests that the work counts as.
 * @param refuse returns the page that says why the work is refused.
 */
export async function charge(
  request: ReaderRequest,
  work: "download" | "match",
  cost: number,
  refuse: (text: Part) => string,
): Promise<Reply | null> {
  const { services, now } = request;
  const account = request.account!.number;
  const quotas = await quotasInForce(services.control.database, account);
  // Work that counted as more than a whole quota could never be done.
  const requests = Math.min(cost, greatestRequest(quotas));
  const status = await services.takeQuota(account, quotas, requests);
  if (status === null) {
    const text =
      "The service cannot count requests at the moment, so nothing was done or counted. Try again in a moment.";
    return laterReply(refuse(text), 503, 1);
  }
  if (status.admitted) return null;
  const { retryAfterSeconds } = status;
  const freeAt = new Date(now + retryAfterSeconds * 1000).toISOString();
  const left = status.windows.map(
    ({ name, remaining, quota }) => `${grouped(remaining)} of ${grouped(quota)} per ${name}`,
  );
  const text = html`The ${work} counts as ${counted(requests, "request")}. Requests left to your
    account: ${left.join(", ")}. Nothing was counted. Try again at
    <time datetime="${freeAt}">${exactTime(freeAt)}</time>: there is room then unless the account
    sends other requests before that time.`;
  return laterReply(refuse(text), 429, retryAfterSeconds);
}
