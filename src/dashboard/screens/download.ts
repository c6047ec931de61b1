/** Sends a view of Browse as CSV or as a workbook, and charges the account before the first byte. */
import { setImmediate } from "node:timers/promises";
import { byteOrderMark, csvHeading, csvRow, lineEnd } from "#csv.ts";
import {
  allowanceOf,
  type DownloadFormat,
  downloadFormats,
  downloadPath,
} from "#dashboard/components/download.ts";
import { charge } from "#dashboard/components/charge.ts";
import { wordReply } from "#dashboard/components/page.ts";
import { asSeen, readRecords } from "#dashboard/components/records.ts";
import {
  askedPairs,
  browsePaths,
  nouns,
  readView,
  type View,
  viewHref,
  viewWords,
} from "#dashboard/components/view.ts";
import {
  download,
  isSignedIn,
  type ReaderRequest,
  type Reply,
  route,
  type Route,
} from "#dashboard/screen.ts";
import { columnsOf } from "#operations/formats.ts";
import { lists } from "#operations/lists.ts";
import { recordText } from "#operations/page.ts";
import { grouped } from "#pages/prose.ts";
import { Problem } from "#problems.ts";
import type { RecordColumn, RecordMembers } from "#records/columns.ts";
import { type RecordKind, recordKinds } from "#records/kinds.ts";
import type { Principal } from "#records/principal.ts";
import { prepareInTurns } from "#search/prepare-in-turns.ts";
import type { ReadModel } from "#search/read-model.ts";

export const downloadRoutes: readonly Route[] = recordKinds.map((kind) =>
  route(downloadPath(kind), "reader", {
    POST: (request) => readRecords(request, (model) => sendView(request, model, kind)),
  }),
);

async function sendView(
  request: ReaderRequest,
  model: ReadModel,
  kind: RecordKind,
): Promise<Reply> {
  const format = (request.form.get("format") ?? "csv") as DownloadFormat;
  if (!Object.hasOwn(downloadFormats, format))
    return wordReply(request, 400, "Choose a format", "The field format must be csv or xlsx.");
  const fields = new URLSearchParams(request.form);
  fields.delete("format");
  let view: View;
  try {
    view = readView(model, kind, askedPairs(kind, fields));
  } catch (fault) {
    if (!(fault instanceof Problem)) throw fault;
    return wordReply(
      request,
      400,
      "This view is not valid",
      `${fault.message} Nothing was counted.`,
    );
  }
  const { filter, order } = view.query;
  await prepareInTurns(model, kind, filter, order);
  const { total } = model.select(kind, filter, { limit: 0, offset: 0 });
  const { rows, requests } = await allowanceOf(request, total);
  const back = { href: browsePaths[kind] + viewHref(view), label: "Back to the view" };
  const refused = requests === null ? null : await charge(request, "download", requests, back);
  if (refused !== null) return refused;
  const { positions } = model.select(kind, filter, { limit: rows, offset: 0 }, order);
  const table = {
    view,
    columns: columnsFor(request, kind),
    records: recordsAt(request, view, positions),
  };
  const name = `${nouns[kind][1].toLowerCase()}-${model.parts.version}.${format}`;
  if (format === "csv")
    return download(name, "text/csv; charset=utf-8; header=present", await csvOf(table));
  return download(name, workbookType, await workbookOf(table, { request, rows, total }));
}

const workbookType = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

const contactColumns = ["email", "linkedin_url"];

const columnsFor = (request: ReaderRequest, kind: RecordKind): readonly RecordColumn[] =>
  columnsOf(lists[kind]).filter(
    ({ name }) => isSignedIn(request) || !contactColumns.includes(name),
  );

interface Table {
  view: View;
  columns: readonly RecordColumn[];
  records: Iterable<RecordMembers>;
}

function* recordsAt(
  request: ReaderRequest,
  { kind, model }: View,
  positions: readonly number[],
): Generator<RecordMembers> {
  for (const position of positions) {
    const record = JSON.parse(recordText(model.parts, kind, position, false)) as RecordMembers;
    yield kind === "principal"
      ? (asSeen(request, record as unknown as Principal) as unknown as RecordMembers)
      : record;
  }
}

/** Number of rows written between two pauses, in which other requests are answered. */
const rowsAtATime = 100;

async function csvOf({ columns, records }: Table): Promise<string> {
  const lines = [byteOrderMark + csvHeading(columns)];
  for (const record of records) {
    lines.push(csvRow(columns, record));
    if (lines.length % rowsAtATime === 0) await setImmediate();
  }
  return lines.join(lineEnd) + lineEnd;
}

async function workbookOf(
  { view, columns, records }: Table,
  { request, rows, total }: { request: ReaderRequest; rows: number; total: number },
): Promise<Buffer> {
  // Few people download a workbook, so what writes it is loaded only then.
  const { recordSheet, workbookPieces, notes } = await import("#exports/workbook.ts");
  const { kind, model } = view;
  const { version, updatedAt } = model.parts;
  const about = {
    name: "About",
    headings: ["what", "value"],
    rows: [
      ["Dataset version", version],
      ["Dataset published", updatedAt],
      ["Downloaded", new Date(request.now).toISOString()],
      ["Filters", viewWords(view).trim() || "none"],
      ["Address of the view", `${request.own.base}${browsePaths[kind]}${viewHref(view)}`],
      ["Rows", rows === total ? rows : `the first ${grouped(rows)} of ${grouped(total)}`],
      ...notes,
    ],
  };
  const sheets = [recordSheet(kind, columns, records), about];
  const pieces: Buffer[] = [];
  for await (const piece of workbookPieces(sheets, new Date(request.now))) pieces.push(piece);
  return Buffer.concat(pieces);
}
