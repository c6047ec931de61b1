/** Reads a Form D as EDGAR keeps it: a full submission with its header, or a bare `primary_doc.xml`. */
import { SaxesParser } from "saxes";
import { ImportFault } from "#importers/import-fault.ts";
import { accessionIn, cik, date, decoded, formDFile, type SkipReason, text } from "./cells.ts";
import columns from "./form-d-columns.json" with { type: "json" };
import { type Cells, formDOf, noParts, partReaders, type PartTable, partTables } from "./form-d.ts";
import type { PlaceReader } from "./places.ts";
import type { FormD, RowOrigin } from "./rows.ts";

/** Largest filing that is read. The largest real ones, with 100 persons and 100 issuers, have less than a tenth. */
const filingBytesMax = 4 * 1024 * 1024;
const depthMax = 20;

/** Element of a document: its own text, and its children by name. */
interface Element {
  content: string;
  children: Map<string, Element[]>;
}

const newElement = (): Element => ({ content: "", children: new Map() });

/** Returns the elements at a path of names below an element. */
const all = (element: Element, ...path: readonly string[]): Element[] =>
  path.reduce((found, name) => found.flatMap((one) => one.children.get(name) ?? []), [element]);

/** Returns the text of the first element at a path. Returns null if there is none, or if it is blank or `None`. */
const first = (element: Element, ...path: readonly string[]): string | null =>
  text(all(element, ...path)[0]?.content);

const cut = (path: string): readonly string[] => path.split("/");
const paths = new Map(
  partTables.map((table) => [
    table,
    new Map(Object.entries(columns.paths[table]).map(([column, path]) => [column, cut(path)])),
  ]),
);

/** Returns the cells that the row of a table would have for an element. */
function cellsOf(element: Element, table: PartTable): Cells {
  const at = (column: string) => paths.get(table)!.get(column) ?? [""];
  return {
    cell: (column) => first(element, ...at(column)),
    list: (column) => all(element, ...at(column)).flatMap(({ content }) => text(content) ?? []),
  };
}

/**
 * Reads a filing. The accession number is that of the header, else that in the path of the origin.
 * @throws ImportFault if the filing is cut off, is not well-formed or is too large, with its file and line.
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
  const accession = accessionIn(headerFact(header, "accession") ?? origin.file);
  if (accession === null) return "no_accession";
  const parts = noParts();
  for (const table of partTables)
    for (const element of columns.elements[table].flatMap((path) => all(root, ...cut(path)))) {
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

/** Facts of a header, in either of its forms: `KEY:  value` and `<TAG>value`. */
const headerFacts = {
  accession: /^(?:ACCESSION NUMBER:|<ACCESSION-NUMBER>)\s*([\d-]+)/m,
  filedOn: /^(?:FILED AS OF DATE:|<FILING-DATE>)\s*(\d{8})/m,
  fileNumber: /^\s*(?:SEC FILE NUMBER:|<FILE-NUMBER>)\s*([\d-]+)/m,
  sicCode: /^\s*(?:STANDARD INDUSTRIAL CLASSIFICATION:[^\n[]*\[|<ASSIGNED-SIC>)\s*(\d{4})/m,
  filerCik: /^\s*(?:CENTRAL INDEX KEY:|<CIK>)\s*(\d+)/m,
};

const headerFact = (header: string, name: keyof typeof headerFacts): string | null =>
  headerFacts[name].exec(header)?.[1] ?? null;

/** Returns the part of a header about a filer. Falls back to the first filer, whose file number the others extend. */
function filerOf(header: string, issuerCik: string | undefined): string {
  const filers = header.split(/^(?:FILER:|<FILER>)/m).slice(1);
  return filers.find((one) => cik(headerFact(one, "filerCik")) === issuerCik) ?? filers[0] ?? "";
}

const closing = "</edgarSubmission>";

/** Parses the document that starts at an offset of a text. Entities of its own, which could grow without end, are faults. */
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
    throw new ImportFault(file, line, `is not well-formed XML: ${reason}; download it again`);
  };
  parser.on("error", ({ message }) => refuse(message.replace(/^\d+:\d+: /, "").replace(/\.$/, "")));
  parser.on("opentag", ({ name }) => {
    if (open.length > depthMax) refuse(`elements lie more than ${depthMax} deep`);
    const element = newElement();
    const { children } = open.at(-1)!;
    const same = children.get(name);
    if (same === undefined) children.set(name, [element]);
    else same.push(element);
    open.push(element);
  });
  const add = (content: string) => void (open.at(-1)!.content += content);
  parser.on("text", add);
  parser.on("cdata", add);
  parser.on("closetag", () => void open.pop());
  parser.write(written.slice(start, end + closing.length)).close();
  return all(root, "edgarSubmission")[0]!;
}
