/** Reads Form D: the six tables of a quarter in the SEC's data sets, and single filings from EDGAR. */
import { isUtf8 } from "node:buffer";
import { dirname, join, resolve } from "node:path";
import { SaxesParser } from "saxes";
import { ImportFault } from "#importers/import-fault.ts";
import {
  accessionIn,
  cik,
  date,
  decoded,
  flag,
  formDFile,
  isIndefinite,
  named,
  type RejectedRows,
  roles,
  type RowOrigin,
  type SkipReason,
  text,
  whole,
} from "./cells.ts";
import columns from "./form-d-columns.json" with { type: "json" };
import { type PlaceReader, withoutStreets } from "./places.ts";

/** Cells of a table row, by column name. */
interface Cells {
  /** Returns the text of a cell; null if it is blank or missing. */
  cell(name: string): string | null;
  /** Returns the texts in a column `NAME` and its repetitions `NAME_1` to `NAME_3`. Leaves out blanks. */
  list(name: string): string[];
}

const placeIn = ({ cell }: Cells, placeOf: PlaceReader) =>
  placeOf({
    streets: [cell("STREET1"), cell("STREET2")],
    city: cell("CITY"),
    stateOrCountry: cell("STATEORCOUNTRY") ?? cell("STATEORCOUNTRYDESCRIPTION"),
    zip: cell("ZIPCODE"),
  });

/** Readers of a row, by table. Amounts are in whole US dollars, dates `YYYY-MM-DD`. */
const partReaders = {
  /** Reads an issuer. Returns null if it has no CIK, or no name with a letter or digit. */
  ISSUERS(cells: Cells, placeOf: PlaceReader) {
    const { cell, list } = cells;
    const [number, name] = [cik(cell("CIK")), named(cell("ENTITYNAME"))];
    if (number === null || name === null) return null;
    return {
      /** CIK of ten digits. */
      cik: number,
      name,
      previousNames: [...new Set([...list("ISSUER_PREVIOUSNAME"), ...list("EDGAR_PREVIOUSNAME")])],
      place: placeIn(cells, placeOf),
    };
  },
  OFFERING: ({ cell, list }: Cells) => ({
    previousAccession: accessionIn(cell("PREVIOUSACCESSIONNUMBER") ?? ""),
    /** Industry group in the filing's words, such as `Pooled Investment Fund`; null if not given. */
    industry: cell("INDUSTRYGROUPTYPE"),
    /** Kind of pooled fund in the filing's words, such as `Private Equity Fund`; null if not given. */
    fundType: cell("INVESTMENTFUNDTYPE"),
    /** True if the filing offers interests in a pooled investment fund. */
    isPooledTicked: flag(cell("ISPOOLEDINVESTMENTFUNDTYPE")),
    isTenantInCommonTicked: flag(cell("ISTENANTINCOMMONTYPE")),
    /** Exemptions as filed, such as `06b` and `3C.5`. */
    exemptions: list("FEDERALEXEMPTIONS_ITEMS_LIST").flatMap(
      (all) => all.match(/[^,;|\s]+/g) ?? [],
    ),
    firstSaleOn: flag(cell("YETTOOCCUR")) ? null : date(cell("SALE_DATE")),
    isIndefinite: isIndefinite(cell("TOTALOFFERINGAMOUNT")),
    /** Amount offered; null if indefinite or not given. */
    offeredUsd: whole(cell("TOTALOFFERINGAMOUNT")),
    soldUsd: whole(cell("TOTALAMOUNTSOLD")),
    remainingUsd: whole(cell("TOTALREMAINING")),
    minimumUsd: whole(cell("MINIMUMINVESTMENTACCEPTED")),
    investorCount: whole(cell("TOTALNUMBERALREADYINVESTED")),
    allowsNonAccredited: flag(cell("HASNONACCREDITEDINVESTORS")),
    /** The filing's remark on its amounts; null if there is none. */
    amountNote: withoutStreets(cell("SALESAMTCLARIFICATIONOFRESP")),
  }),
  /** Reads a related person, who may be an entity. */
  RELATEDPERSONS: (cells: Cells, placeOf: PlaceReader) => ({
    first: cells.cell("FIRSTNAME"),
    middle: cells.cell("MIDDLENAME"),
    last: cells.cell("LASTNAME"),
    roles: roles(cells.list("RELATIONSHIP")),
    clarification: withoutStreets(cells.cell("RELATIONSHIPCLARIFICATION")),
    firmInStreet: placeIn(cells, placeOf).firmInStreet,
  }),
  RECIPIENTS: ({ cell }: Cells) => ({
    name: cell("RECIPIENTNAME"),
    broker: cell("ASSOCIATEDBDNAME"),
  }),
  SIGNATURES: ({ cell }: Cells) => ({
    signer: cell("NAMEOFSIGNER"),
    title: withoutStreets(cell("SIGNATURETITLE")),
  }),
};

type PartTable = keyof typeof partReaders;
const partTables = Object.keys(partReaders) as PartTable[];

type Part<T extends PartTable> = NonNullable<ReturnType<(typeof partReaders)[T]>>;

export type RelatedPerson = Part<"RELATEDPERSONS">;

/** Rows of a filing, by table. A primary issuer comes first. A FormD has at least one issuer. */
type Parts = { [T in PartTable]: Part<T>[] };

const noParts = () =>
  Object.fromEntries(partTables.map((table) => [table, []])) as unknown as Parts;

interface Head {
  /** Accession number, such as `0001234567-25-000001`. */
  accession: string;
  type: "D" | "D/A";
  /** File number, such as `021-400013`; null if no header or quarter gives it. */
  fileNumber: string | null;
  /** `YYYY-MM-DD`; null if no header, quarter or index gives it. */
  filedOn: string | null;
  sicCode: string | null;
  origin: RowOrigin;
}

export type FormD = Exclude<ReturnType<typeof formDOf>, SkipReason>;

/** Makes a filing from its parts. Returns the reason to leave it out if it has no issuer or no offering. */
function formDOf(head: Head, parts: Parts) {
  const { ISSUERS: issuers, RELATEDPERSONS: persons, RECIPIENTS: recipients } = parts;
  const offering = parts.OFFERING.at(-1);
  if (issuers.length === 0) return "no_issuer";
  if (offering === undefined) return "no_offering";
  return { ...head, ...offering, issuers, persons, recipients, signatures: parts.SIGNATURES };
}

type QuarterTable = keyof typeof columns.needed;
const quarterTables = Object.keys(columns.needed) as QuarterTable[];

/** A table of a quarter: a file, or a member of an archive. It may be read more than once. */
export interface TableFile {
  /** Name in messages. */
  shown: string;
  size: number;
  open(): AsyncIterable<Buffer>;
}

export type QuarterFiles = Partial<Record<QuarterTable, TableFile>>;

const tableSuffix = new RegExp(`(${quarterTables.join("|")})\\.tsv$`, "i");

/** Recognises a table by its file name, or else by its header. Returns undefined for any other file. */
export function quarterTableOf(file: string, header = ""): QuarterTable | undefined {
  const names = header.split("\t").map((name) => name.trim().toUpperCase());
  const suffix = tableSuffix.exec(file)?.[1]?.toUpperCase() as QuarterTable | undefined;
  return suffix ?? quarterTables.find((table) => names.includes(columns.mark[table]));
}

/** Returns the path prefix that all tables of a quarter share. */
export const quarterKey = (file: string): string =>
  tableSuffix.test(file) ? file.replace(tableSuffix, "") : join(dirname(file), "/");

/** Adds a table. @throws ImportFault if the quarter already has it. */
export function addTable(files: QuarterFiles, table: QuarterTable, file: TableFile): void {
  const other = files[table]?.shown;
  if (other !== undefined) {
    const reason = `is a second ${table} table besides ${other}; remove one of them`;
    throw new ImportFault(file.shown, null, reason);
  }
  files[table] = file;
}

/** Size up to which one pass reads a quarter, in bytes. A larger one takes several passes, each for other filings. */
const passBytes = 12 * 1024 * 1024;

/**
 * Reads a quarter filing by filing.
 * @param shown name of the quarter in messages.
 * @param take receives each filing, or the reason for leaving it out.
 * @returns count and first line of each file's rejected rows: those with too many cells, and lines outside a row.
 * @throws ImportFault if a table is missing, empty or cut off, lacks or repeats a column, or has too long a row.
 */
export async function readFormDQuarter(
  found: QuarterFiles,
  shown: string,
  placeOf: PlaceReader,
  take: (filing: FormD | SkipReason) => void,
): Promise<({ file: string } & RejectedRows)[]> {
  const missing = quarterTables.filter((table) => found[table] === undefined);
  if (missing.length > 0) {
    const names = missing.map((table) => `${table}.tsv`).join(", ");
    throw new ImportFault(shown, null, `is part of a Form D quarter without ${names}; ${remedy}`);
  }
  const files = found as Record<QuarterTable, TableFile>;
  const rejected = new Map<string, RejectedRows>();
  const reject: Reject = (file, line) => {
    const { count, firstLine } = rejected.get(file) ?? { count: 0, firstLine: line };
    rejected.set(file, { count: count + 1, firstLine });
  };
  const bytes = quarterTables.reduce((sum, table) => sum + files[table].size, 0);
  const passes = Math.ceil(bytes / passBytes) || 1;
  for (let pass = 0; pass < passes; pass++) {
    const isDue = (accession: string) => Number(accession.slice(-3)) % passes === pass;
    const drafts = await readDrafts(files, placeOf, isDue, take, pass === 0 ? reject : () => {});
    for (const { head, parts } of drafts.values()) take(formDOf(head, parts));
  }
  return Array.from(rejected, ([file, rows]) => ({ file, ...rows }));
}

const remedy = "download the quarter again";

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
    // Older quarters have no column TESTORLIVE.
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
    new ImportFault(shown, line, `is longer than ${rowLengthMax} characters; ${remedy}`);
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
      throw new ImportFault(shown, 1, `the header has ${what}; ${remedy}`);
    }
    if (accessionShape.test(cells[indexes.get("ACCESSIONNUMBER")!] ?? "")) {
      finish();
      row = cells;
      rowLine = line;
      rowLength = written.length;
      // A line break inside a cell does not end the row.
    } else if (row.length > 0 && row.length <= names.length) {
      rowLength += written.length;
      if (rowLength > rowLengthMax) throw tooLong(line);
      row.push(`${row.pop()} ${cells[0]}`, ...cells.slice(1));
    } else if (written.trim() !== "") reject(shown, line);
  }
  if (line === 0) throw new ImportFault(shown, null, `is empty; ${remedy}`);
  if (row.length > 0 && row.length < names.length)
    throw new ImportFault(shown, rowLine, `the last row is cut off; ${remedy}`);
  finish();
}

async function* linesOf(bytes: AsyncIterable<Buffer>): AsyncGenerator<string, void> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of bytes) {
    rest = Buffer.concat([rest, chunk]);
    const end = rest.lastIndexOf("\n");
    if (end >= 0) {
      yield* decodedLines(rest.subarray(0, end));
      rest = rest.subarray(end + 1);
    }
    // A UTF-16 code unit takes at most three bytes, so this line is too long.
    if (rest.length > 3 * rowLengthMax) break;
  }
  if (rest.length > 0) yield decoded(rest);
}

/** Decodes lines: all together if they are UTF-8, else one by one. */
function decodedLines(bytes: Buffer): string[] {
  if (isUtf8(bytes)) return bytes.toString("utf8").split("\n");
  return bytes
    .toString("latin1")
    .split("\n")
    .map((line) => decoded(Buffer.from(line, "latin1")));
}

/** Maximum size of a filing, in bytes. The largest real one, with 100 persons and issuers, is under a tenth of this. */
const filingBytesMax = 4 * 1024 * 1024;
export const depthMax = 20;

/** Returns the reason for refusing a document. @param message parser's message; its line and column are dropped. */
export const malformed = (message: string): string =>
  `is not well-formed XML: ${message.replace(/^\d+:\d+: |\.$/g, "")}; download it again`;

/** Element of a document: its own text, and its children by name. */
interface Element {
  content: string;
  children: Map<string, Element[]>;
}

const newElement = (): Element => ({ content: "", children: new Map() });

/** Returns all elements at a path such as `issuer/cik` below an element. */
const all = (element: Element, path: string): Element[] =>
  path
    .split("/")
    .reduce((found, name) => found.flatMap((one) => one.children.get(name) ?? []), [element]);

/** Returns the text at a path, taking the first element at each step. Returns null if there is none. */
function first(element: Element, path: string): string | null {
  let found: Element | undefined = element;
  for (const name of path.split("/")) found = found?.children.get(name)?.[0];
  return text(found?.content);
}

function cellsOf(element: Element, table: PartTable): Cells {
  const paths: Readonly<Record<string, string>> = columns.paths[table];
  return {
    cell: (column) => first(element, paths[column] ?? ""),
    list: (column) =>
      all(element, paths[column] ?? "").flatMap(({ content }) => text(content) ?? []),
  };
}

/**
 * Reads a filing, or returns the reason to leave it out. The accession number comes from the header, or else the path.
 * @throws ImportFault if the filing is cut off, not well-formed or too large.
 */
export function readFormDXml(
  bytes: Buffer,
  origin: RowOrigin,
  placeOf: PlaceReader,
): FormD | SkipReason {
  if (bytes.length > filingBytesMax) {
    const reason = `has more than ${filingBytesMax} bytes, which no Form D has; take it out of the folder`;
    throw new ImportFault(origin.file, null, reason);
  }
  const written = decoded(bytes);
  const start = written.search(/<edgarSubmission[\s>]/);
  if (start < 0) return "other_form";
  const header = written.slice(0, start);
  const root = parse(written, start, origin);
  const type = first(root, "submissionType")?.toUpperCase();
  if (type !== "D" && type !== "D/A") return "other_form";
  if (first(root, "testOrLive")?.toUpperCase() === "TEST") return "test";
  const accession = accessionIn(headerFact(header, "accession") ?? resolve(origin.file));
  if (accession === null) return "no_accession";
  const parts = noParts();
  for (const table of partTables)
    for (const element of columns.elements[table].flatMap((path) => all(root, path))) {
      const part = partReaders[table](cellsOf(element, table), placeOf);
      if (part !== null) (parts[table] as unknown[]).push(part);
    }
  const filer = filerOf(header, parts.ISSUERS[0]?.cik);
  const head = {
    accession,
    type,
    fileNumber: formDFile(headerFact(filer, "fileNumber")),
    filedOn: date(headerFact(header, "filedOn")),
    sicCode: headerFact(filer, "sicCode"),
    origin,
  } as const;
  return formDOf(head, parts);
}

/** Patterns of the facts in a header, in either of its forms: `KEY:  value` and `<TAG>value`. */
const headerFacts = {
  accession: /^(?:ACCESSION NUMBER:|<ACCESSION-NUMBER>)\s*([\d-]+)/m,
  filedOn: /^(?:FILED AS OF DATE:|<FILING-DATE>)\s*(\d{8})/m,
  fileNumber: /^\s*(?:SEC FILE NUMBER:|<FILE-NUMBER>)\s*([\d-]+)/m,
  sicCode: /^\s*(?:STANDARD INDUSTRIAL CLASSIFICATION:[^\n[]*\[|<ASSIGNED-SIC>)\s*(\d{4})/m,
  filerCik: /^\s*(?:CENTRAL INDEX KEY:|<CIK>)\s*(\d+)/m,
};

const headerFact = (header: string, name: keyof typeof headerFacts): string | null =>
  headerFacts[name].exec(header)?.[1] ?? null;

/**
 * Returns the part of a header about the filer with the issuer's CIK, or about the first filer if none has it. Returns
 * "" if the header names no filer.
 */
function filerOf(header: string, issuerCik: string | undefined): string {
  const filers = header.split(/^(?:FILER:|<FILER>)/m).slice(1);
  // The file numbers of the other filers only extend the first one's.
  return filers.find((one) => cik(headerFact(one, "filerCik")) === issuerCik) ?? filers[0] ?? "";
}

const closing = "</edgarSubmission>";

/** Parses the document at an offset in a text. Refuses entities that a document declares: they could grow endlessly. */
function parse(written: string, start: number, { file }: RowOrigin): Element {
  const end = written.indexOf(closing, start);
  const lineOf = (offset: number) => written.slice(0, offset).split("\n").length;
  if (end < 0) {
    const reason = `ends before ${closing} and is cut off; download it again`;
    throw new ImportFault(file, lineOf(written.length), reason);
  }
  const root = newElement();
  const open = [root];
  const parser = new SaxesParser({ position: true });
  const refuse = (reason: string) => {
    const line = lineOf(start) + parser.line - 1;
    throw new ImportFault(file, line, malformed(reason));
  };
  parser.on("error", ({ message }) => refuse(message));
  parser.on("opentag", ({ name }) => {
    if (open.length > depthMax) refuse(`elements are nested more than ${depthMax} deep`);
    const element = newElement();
    const { children } = open.at(-1)!;
    children.getOrInsertComputed(name, () => []).push(element);
    open.push(element);
  });
  const add = (content: string) => void (open.at(-1)!.content += content);
  parser.on("text", add);
  parser.on("cdata", add);
  parser.on("closetag", () => void open.pop());
  parser.write(written.slice(start, end + closing.length)).close();
  return all(root, "edgarSubmission")[0]!;
}
