/** Writes a workbook (xlsx, ECMA-376): sheets of the chosen kinds, of funds and of links, and one about the dataset. */
import { Readable } from "node:stream";
import { ZipFile } from "yazl";
import { looksLikeFormula } from "#csv.ts";
import { DatasetFault } from "#datasets/dataset-fault.ts";
import { GpLink } from "#records/common.ts";
import type { RecordOf } from "#records/declarations.ts";
import { cut } from "#records/fields.ts";
import { Fund } from "#records/gp.ts";
import {
  kinds as allKinds,
  type LinkedKind,
  type RecordKind,
  recordKinds,
} from "#records/kinds.ts";
import { columnsOf, type RecordColumn, type RecordMembers } from "#records/columns.ts";
import { dayMilliseconds } from "#store/durations.ts";
import type { OutputFile } from "#store/whole-file.ts";
import { inPieces, ownSchemaOf, type RecordSource } from "./record-source.ts";

/** Maximum number of rows in a sheet, including its heading. This is the limit of spreadsheet programs. */
export const rowsMax = 1_048_576;

/**
 * Writes a workbook. Strings are stored as text, so that no program runs one as a formula and an id keeps its zeros. A
 * date known to the day is stored as a date, unless it is before March 1900; any other date is text.
 * @throws DatasetFault before anything is written if a sheet would have too many rows.
 */
export async function writeWorkbook(
  source: RecordSource,
  kinds: readonly RecordKind[],
  licence: string | null,
  output: OutputFile,
): Promise<void> {
  const linked = kinds.filter((kind) => kind !== "gp");
  const links = linked.reduce((sum, kind) => sum + source.countLinks(kind), 0);
  const { records } = source.generation;
  for (const kind of kinds) refuseTooMany(allKinds[kind].label, records[kind]);
  if (kinds.includes("gp")) refuseTooMany(fundsName, source.countFunds());
  refuseTooMany(linksName, links);
  const sheets: Sheet[] = [
    ...kinds.map((kind) =>
      recordSheet(kind, columnsOf(ownSchemaOf(kind).properties), source.ownRecords(kind)),
    ),
    ...(kinds.includes("gp") ? [fundsSheet(source.ownRecords("gp"))] : []),
    ...(linked.length === 0 ? [] : [linksSheet(source, linked)]),
    aboutSheet(source, kinds, licence),
  ];
  // With a fixed time, the same dataset gives the same file.
  const time = new Date(source.generation.built_at);
  for await (const piece of workbookPieces(sheets, time)) output.write(piece);
}

/** Yields a workbook in pieces. Reads rows one after another. @param mtime time of the files inside the workbook. */
export function workbookPieces(sheets: readonly Sheet[], mtime: Date): AsyncIterable<Buffer> {
  const zip = new ZipFile();
  const options = { mtime };
  for (const [path, text] of Object.entries(fixedParts(sheets.map(({ name }) => name))))
    zip.addBuffer(Buffer.from(xmlHead + text), path, options);
  sheets.forEach((sheet, i) => {
    zip.addReadStreamLazy(`xl/worksheets/sheet${i + 1}.xml`, options, (take) =>
      take(null, Readable.from(inPieces(sheetXml(sheet)), { objectMode: false })),
    );
  });
  const pieces = zip.outputStream as Readable;
  zip.on("error", (error: Error) => pieces.destroy(error));
  zip.end();
  return pieces;
}

function refuseTooMany(name: string, rows: number): void {
  if (rows < rowsMax) return;
  const words = (count: number) => count.toLocaleString("en-US");
  throw new DatasetFault(
    `The sheet ${name} would have ${words(rows)} rows, but a sheet has room for ${words(rowsMax - 1)} below its heading. No workbook was written. Choose another format, or export fewer kinds of record with --kind.`,
  );
}

interface Sheet {
  name: string;
  headings: readonly string[];
  rows: Iterable<readonly SheetCell[]>;
}

/** Content of a cell; null if empty. `day` is a day number as in spreadsheet programs, with a fraction for the time. */
type SheetCell = string | number | null | { day: number; hasTime: boolean };

const linksName = "Links";
const fundsName = "Funds";

function linksSheet(source: RecordSource, kinds: readonly RecordKind[]): Sheet {
  function* rows() {
    for (const kind of kinds)
      for (const record of source.ownRecords(kind) as Iterable<RecordOf<LinkedKind>>) {
        const name = "name" in record ? record.name : record.title;
        for (const gp of record.gps) yield [kind, record.id, name, gp.id, gp.name];
      }
  }
  return { name: linksName, headings: ["kind", "id", "name", "gp_id", "gp_name"], rows: rows() };
}

function aboutSheet(
  { generation, sources }: RecordSource,
  kinds: readonly RecordKind[],
  licence: string | null,
): Sheet {
  return {
    name: "About",
    headings: ["what", "value"],
    rows: [
      ["Dataset version", generation.version],
      ["Dataset built", momentOf(generation.built_at)],
      [
        "Filters",
        kinds.length === recordKinds.length ? "none: all records" : `only ${kinds.join(", ")}`,
      ],
      ...kinds.map((kind) => [`Records: ${allKinds[kind].label}`, generation.records[kind]]),
      ...Array.from(sources(), ([name, importedAt]) => [
        "Source of the data",
        `${name}, imported ${importedAt}`,
      ]),
      ["Licence of the data", licence ?? "not stated; ask the person who gave you this file"],
      ...notes,
    ],
  };
}

/** Rows of the last sheet that explain the other sheets. */
export const notes: readonly (readonly [what: string, value: string])[] = [
  [
    "Lists",
    "Values of a list are separated by semicolons. Ids are stable from one dataset to the next.",
  ],
  ["Dates", "A date that is not known to the day is text: a year, or a year and a month."],
];

export function recordSheet(
  kind: RecordKind,
  columns: readonly RecordColumn[],
  records: Iterable<RecordMembers>,
): Sheet {
  function* rows() {
    for (const record of records)
      yield columns.map(({ isDate, of }) => {
        const value = of(record);
        const text = typeof value === "object" ? (value?.join("; ") ?? null) : value;
        return isDate ? momentOf(text as string | null) : text;
      });
  }
  return { name: allKinds[kind].label, headings: columns.map(({ name }) => name), rows: rows() };
}

export function fundsSheet(gps: Iterable<RecordMembers>): Sheet {
  const { id: gp_id, name: gp_name } = GpLink.properties;
  function* funds() {
    for (const { id, name, funds } of gps)
      for (const fund of funds as object[]) yield { gp_id: id, gp_name: name, ...fund };
  }
  const columns = columnsOf({ gp_id, gp_name, ...Fund.properties });
  return { ...recordSheet("gp", columns, funds()), name: fundsName };
}

const dayLength = "2026-03-31".length;
/** Day 0 of a spreadsheet. All programs number the days from 1 March 1900 in the same way. */
const firstDay = Date.UTC(1899, 11, 30);
const firstAgreed = Date.UTC(1900, 2, 1);

/** Returns the cell of a day or of a time in UTC. Returns any other text, or a day before March 1900, unchanged. */
function momentOf(text: string | null): SheetCell {
  if (text === null || text.length < dayLength) return text;
  const milliseconds = Date.parse(text);
  if (Number.isNaN(milliseconds) || milliseconds < firstAgreed) return text;
  return { day: (milliseconds - firstDay) / dayMilliseconds, hasTime: text.length > dayLength };
}

/** Indexes of the cell styles in `styles`. */
const style = { heading: 1, text: 2, formulaLike: 3, day: 4, time: 5 } as const;

/**
 * XML of the cell styles. Text has the format "text", so that it stays text when somebody edits it. Text that looks
 * like a formula is also marked as quoted, for programs that parse text again, as some do after pasting.
 */
const styles = `<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">
<numFmts count="2"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/><numFmt numFmtId="165" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/></numFmts>
<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts>
<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>
<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>
<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>
<cellXfs count="6">
<xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>
<xf numFmtId="49" fontId="1" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" applyFont="1"/>
<xf numFmtId="49" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>
<xf numFmtId="49" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" quotePrefix="1"/>
<xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>
<xf numFmtId="165" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>
</cellXfs>
<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles>
</styleSheet>`;

const xmlHead = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';

/** Returns every part of a workbook except its sheets, by path. */
function fixedParts(sheets: readonly string[]) {
  const main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
  const relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
  const packages = "http://schemas.openxmlformats.org/package/2006";
  const types = "application/vnd.openxmlformats-officedocument.spreadsheetml";
  const each = (text: (name: string, number: number) => string) =>
    sheets.map((name, i) => text(name, i + 1)).join("");
  const relation = (id: string, type: string, target: string) =>
    `<Relationship Id="${id}" Type="${relations}/${type}" Target="${target}"/>`;
  return {
    "[Content_Types].xml": `<Types xmlns="${packages}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${types}.sheet.main+xml"/><Override PartName="/xl/styles.xml" ContentType="${types}.styles+xml"/>${each((_, i) => `<Override PartName="/xl/worksheets/sheet${i}.xml" ContentType="${types}.worksheet+xml"/>`)}</Types>`,
    "_rels/.rels": `<Relationships xmlns="${packages}/relationships">${relation("rId1", "officeDocument", "xl/workbook.xml")}</Relationships>`,
    "xl/workbook.xml": `<workbook xmlns="${main}" xmlns:r="${relations}"><sheets>${each((name, i) => `<sheet name="${name}" sheetId="${i}" r:id="rId${i}"/>`)}</sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": `<Relationships xmlns="${packages}/relationships">${each((_, i) => relation(`rId${i}`, "worksheet", `worksheets/sheet${i}.xml`))}${relation("rIdStyles", "styles", "styles.xml")}</Relationships>`,
    "xl/styles.xml": styles,
  };
}

function* sheetXml({ headings, rows }: Sheet): Generator<string> {
  const letters = headings.map((_, i) => columnLetters(i));
  yield `${xmlHead}<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><sheetFormatPr defaultColWidth="18" defaultRowHeight="15"/><sheetData>`;
  yield rowXml(
    1,
    headings.map((heading, i) => textXml(`${letters[i]}1`, style.heading, heading)),
  );
  let number = 1;
  for (const row of rows) {
    number++;
    yield rowXml(
      number,
      row.map((cell, i) => cellXml(`${letters[i]}${number}`, cell)),
    );
  }
  yield "</sheetData></worksheet>";
}

const rowXml = (number: number, cells: readonly string[]) =>
  `<row r="${number}">${cells.join("")}</row>`;

/** Returns the name of a column: A, B, … Z, AA, AB, … */
const columnLetters = (column: number): string =>
  (column < 26 ? "" : columnLetters(Math.floor(column / 26) - 1)) +
  String.fromCharCode(65 + (column % 26));

function cellXml(place: string, cell: SheetCell): string {
  if (cell === null) return "";
  if (typeof cell === "number") return `<c r="${place}"><v>${cell}</v></c>`;
  if (typeof cell === "string")
    return textXml(place, looksLikeFormula(cell) ? style.formulaLike : style.text, cell);
  return `<c r="${place}" s="${cell.hasTime ? style.time : style.day}"><v>${cell.day}</v></c>`;
}

/** Maximum length of a cell's text, in UTF-16 code units. Longer text is cut: programs report it as a damaged file. */
const textLengthMax = 32_767;

function textXml(place: string, number: number, text: string): string {
  return `<c r="${place}" s="${number}" t="inlineStr"><is><t xml:space="preserve">${escapeXml(cut(text, textLengthMax))}</t></is></c>`;
}

const toEscape =
  /[&<>\r\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}|_(?=x[0-9A-Fa-f]{4}_)/gu;
const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/**
 * Escapes text for XML (ECMA-376, ST_Xstring). A character that XML cannot contain or would change is written in the
 * form `_x001F_`. In text that already has this form, the first underscore is escaped in the same way.
 */
const escapeXml = (text: string) =>
  text.replace(
    toEscape,
    (found) =>
      entities[found] ?? `_x${found.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}_`,
  );
