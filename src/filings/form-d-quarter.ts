/** Reads the six tables of a quarter of Form D filings, as the SEC's data sets have them. */
import { isUtf8 } from "node:buffer";
import { ImportFault } from "#importers/import-fault.ts";
import {
  date,
  decoded,
  flag,
  formDFile,
  type RejectedRows,
  type SkipReason,
  text,
} from "./cells.ts";
import columns from "./form-d-columns.json" with { type: "json" };
import {
  type Cells,
  formDOf,
  type Head,
  noParts,
  type Parts,
  partReaders,
  partTables,
} from "./form-d.ts";
import type { PlaceReader } from "./places.ts";
import type { FormD } from "./rows.ts";

export type QuarterTable = keyof typeof columns.needed;
export const quarterTables = Object.keys(columns.needed) as QuarterTable[];

/** A table of a quarter: a file, or a member of an archive. It may be read more than once. */
export interface TableFile {
  /** Name in messages. */
  shown: string;
  size: number;
  open(): AsyncIterable<Buffer>;
}

/** Bytes of all tables that are joined at once. Larger tables are read several times, each time for other filings. */
const passBytes = 12 * 1024 * 1024;

/**
 * Reads a quarter, and adds its filings one by one.
 * @param skip is told of each filing that is left out.
 * @returns the rows that have too many cells, or belong to no filing, by table.
 * @throws ImportFault if a table lacks a column, or is cut off.
 */
export async function readFormDQuarter(
  files: Readonly<Record<QuarterTable, TableFile>>,
  placeOf: PlaceReader,
  add: (filing: FormD) => void,
  skip: (reason: SkipReason) => void,
): Promise<({ file: string } & RejectedRows)[]> {
  const rejected = new Map<string, RejectedRows>();
  const reject: Reject = (file, line) => {
    const { count, firstLine } = rejected.get(file) ?? { count: 0, firstLine: line };
    rejected.set(file, { count: count + 1, firstLine });
  };
  const bytes = quarterTables.reduce((sum, table) => sum + files[table].size, 0);
  const passes = Math.ceil(bytes / passBytes) || 1;
  for (let pass = 0; pass < passes; pass++) {
    const isDue = (accession: string) => Number(accession.slice(-3)) % passes === pass;
    const drafts = await readDrafts(files, placeOf, isDue, skip, pass === 0 ? reject : () => {});
    for (const { head, parts } of drafts.values()) {
      const filing = formDOf(head, parts);
      if (typeof filing === "string") skip(filing);
      else add(filing);
    }
  }
  return Array.from(rejected, ([file, rows]) => ({ file, ...rows }));
}

type Reject = (file: string, line: number) => void;

async function readDrafts(
  files: Readonly<Record<QuarterTable, TableFile>>,
  placeOf: PlaceReader,
  isDue: (accession: string) => boolean,
  skip: (reason: SkipReason) => void,
  reject: Reject,
): Promise<Map<string, { head: Head; parts: Parts }>> {
  const drafts = new Map<string, { head: Head; parts: Parts }>();
  await readTable(files, "FORMDSUBMISSION", reject, (accession, { cell }, line) => {
    const type = cell("SUBMISSIONTYPE")?.toUpperCase();
    if (!isDue(accession)) return;
    // Older quarters have no such column.
    if ((cell("TESTORLIVE") ?? "LIVE").toUpperCase() !== "LIVE") return skip("test");
    if (type !== "D" && type !== "D/A") return skip("other_form");
    if (drafts.has(accession)) return skip("twice");
    const head = {
      accession,
      type,
      fileNumber: formDFile(cell("FILE_NUM")),
      filedOn: date(cell("FILING_DATE")),
      sicCode: cell("SIC_CODE"),
      origin: { file: files.FORMDSUBMISSION.shown, line },
    } as const;
    drafts.set(accession, { head, parts: noParts() });
  });
  for (const table of partTables)
    await readTable(files, table, reject, (accession, cells) => {
      const parts = drafts.get(accession)?.parts;
      const part = parts && partReaders[table](cells, placeOf);
      if (!part) return;
      const all: unknown[] = parts[table];
      if (flag(cells.cell("IS_PRIMARYISSUER_FLAG"))) all.unshift(part);
      else all.push(part);
    });
  return drafts;
}

const rowLengthMax = 1024 * 1024;

const accessionShape = /^\s*\d{10}-\d\d-\d{6}\s*$/;

async function readTable(
  files: Readonly<Record<QuarterTable, TableFile>>,
  table: QuarterTable,
  reject: Reject,
  take: (accession: string, cells: Cells, line: number) => void,
): Promise<void> {
  const { shown, open } = files[table];
  const cut = "download the quarter again";
  let names: string[] = [];
  let indexes = new Map<string, number>();
  let row: string[] = [];
  let rowLine = 0;
  let rowLength = 0;
  const cell = (column: string) => text(row[indexes.get(column) ?? -1]);
  const list = (column: string) =>
    [column, ...[1, 2, 3].map((number) => `${column}_${number}`)].flatMap((one) => cell(one) ?? []);
  const finish = () => {
    if (row.length > names.length) reject(shown, rowLine);
    else if (row.length > 0) take(cell("ACCESSIONNUMBER")!, { cell, list }, rowLine);
  };
  const tooLong = (line: number) =>
    new ImportFault(shown, line, `is longer than ${rowLengthMax} characters; ${cut}`);
  let line = 0;
  for await (const written of linesOf(open())) {
    line++;
    if (written.length > rowLengthMax) throw tooLong(line);
    const cells = written.split("\t");
    if (line === 1) {
      names = cells.map((name) => name.trim().toUpperCase());
      indexes = new Map(names.map((name, i) => [name, i]));
      const missing = columns.needed[table].filter((name) => !names.includes(name));
      const twice = columns.needed[table].find((name) => indexes.get(name) !== names.indexOf(name));
      if (missing.length === 0 && twice === undefined) continue;
      const what =
        missing.length === 0
          ? `column ${twice} twice`
          : `no column ${missing.join(", ")}, which ${table} needs`;
      throw new ImportFault(shown, 1, `the header has ${what}; ${cut}`);
    }
    if (accessionShape.test(cells[indexes.get("ACCESSIONNUMBER")!] ?? "")) {
      finish();
      row = cells;
      rowLine = line;
      rowLength = written.length;
      // A line break inside of a cell is no end of the row.
    } else if (row.length > 0 && row.length <= names.length) {
      rowLength += written.length;
      if (rowLength > rowLengthMax) throw tooLong(line);
      row.push(`${row.pop()} ${cells[0]}`, ...cells.slice(1));
    } else if (written.trim() !== "") reject(shown, line);
  }
  if (line === 0) throw new ImportFault(shown, null, `is empty; ${cut}`);
  if (row.length > 0 && row.length < names.length)
    throw new ImportFault(shown, rowLine, `the last row breaks off; ${cut}`);
  finish();
}

/** Yields lines without their ends. */
async function* linesOf(bytes: AsyncIterable<Buffer>): AsyncGenerator<string, void> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of bytes) {
    rest = Buffer.concat([rest, chunk]);
    const end = rest.lastIndexOf("\n");
    if (end >= 0) {
      yield* decodedLines(rest.subarray(0, end));
      rest = rest.subarray(end + 1);
    }
    // So many bytes have more characters than a row may have.
    if (rest.length > 3 * rowLengthMax) break;
  }
  if (rest.length > 0) yield decoded(rest);
}

/** Decodes each line by itself where some are not UTF-8. */
function decodedLines(bytes: Buffer): string[] {
  if (isUtf8(bytes)) return bytes.toString("utf8").split("\n");
  return bytes
    .toString("latin1")
    .split("\n")
    .map((line) => decoded(Buffer.from(line, "latin1")));
}
