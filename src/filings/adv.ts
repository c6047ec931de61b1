/** Reads the tables of Form ADV that the SEC publishes, one member of an archive at a time. */
import { isUtf8 } from "node:buffer";
import { ImportFault } from "#importers/import-fault.ts";
import columns from "./adv-columns.json" with { type: "json" };
import {
  type AdvMember,
  type AdvRow,
  cik,
  crd,
  date,
  flag,
  formDFile,
  type RejectedRows,
  text,
  whole,
} from "./cells.ts";
import type { PlaceReader } from "./places.ts";
import type { RowOrigin } from "./rows.ts";

/** Columns that some editions of a member lack. The rows then say nothing of them. */
const optional = new Set<string>([
  ...["formerLegalName", "formerBusinessName", "newName", "secNumber", "lei", "street2", "aumUsd"],
  ...["schedule", "typeOther", "masterFundName", "minimumUsd"],
]);

type Cell = (name: string) => string | null;

/**
 * Reads a member, and adds its rows one by one.
 * @returns the rows that could not be read: such a row has too many or too few cells, or lacks what every row needs.
 * @throws ImportFault if the member is empty or lacks a column.
 */
export async function readAdv(
  { kind, isExempt }: { kind: AdvMember; isExempt: boolean },
  bytes: AsyncIterable<Buffer>,
  origin: RowOrigin,
  placeOf: PlaceReader,
  add: (row: AdvRow) => void,
): Promise<RejectedRows> {
  let header: string[] | undefined;
  let indexes: Readonly<Record<string, number>> = {};
  const rejected: RejectedRows = { count: 0, firstLine: null };
  const take = ({ length, cellAt }: Row, line: number): boolean => {
    if (header === undefined) {
      header = Array.from({ length }, (_, i) => cellAt(i));
      indexes = indexesOf(kind, header, origin.file);
      return true;
    }
    if (length !== header.length) return false;
    const cell: Cell = (name) => {
      const index = indexes[name];
      return index === undefined ? null : text(cellAt(index));
    };
    const row = rowReaders[kind](cell, { ...origin, line }, isExempt, placeOf);
    if (row === null) return false;
    add(row);
    return true;
  };
  await eachRow(bytes, take, (line) => {
    rejected.count++;
    rejected.firstLine ??= line;
  });
  if (header === undefined)
    throw new ImportFault(origin.file, null, "is empty; download the archive again");
  return rejected;
}

const comparable = (title: string) => title.toLowerCase().replaceAll(/[^a-z0-9]/g, "");

/** Returns the index of each column by its name here. */
function indexesOf(kind: AdvMember, header: readonly string[], file: string) {
  const titles = header.map((title) => comparable(title.replace(/^\ufeff/, "")));
  const found: Record<string, number> = {};
  for (const [name, spellings] of Object.entries<readonly string[]>(columns[kind])) {
    const index = titles.findIndex((title) => spellings.some((one) => comparable(one) === title));
    if (index >= 0) found[name] = index;
    else if (!optional.has(name))
      throw new ImportFault(
        file,
        1,
        `has no column "${spellings[0]}"; download the archive again, or leave it out of the folder`,
      );
  }
  return found;
}

type RowReader = (
  cell: Cell,
  origin: RowOrigin,
  isExempt: boolean,
  placeOf: PlaceReader,
) => AdvRow | null;

const ownershipCodes = ["NA", "A", "B", "C", "D", "E"];

/** Readers of rows. They return null for a row that lacks what every row of its kind needs. */
const rowReaders: Readonly<Record<AdvMember, RowReader>> = {
  base: (cell, origin, isExempt, placeOf) => {
    const filingId = cell("filingId");
    const number = crd(cell("crd"));
    const filedOn = date(cell("filedOn"));
    const legalName = cell("legalName") ?? cell("businessName");
    if (filingId === null || number === null || filedOn === null || legalName === null) return null;
    const businessName = cell("businessName");
    const names = ["formerLegalName", "formerBusinessName", "newName"].flatMap(
      (name) => cell(name) ?? [],
    );
    const otherNames = [...new Set(names)].filter(
      (name) => name !== legalName && name !== businessName,
    );
    const filing = {
      filingId,
      crd: number,
      filedOn,
      isExempt,
      legalName,
      businessName,
      otherNames,
      secNumber: /^80[12]-\d+$/.exec(cell("secNumber") ?? "")?.[0] ?? null,
      lei: /^[A-Z0-9]{20}$/.exec(cell("lei")?.toUpperCase() ?? "")?.[0] ?? null,
      place: placeOf({
        streets: [cell("street1"), cell("street2")],
        city: cell("city"),
        stateOrCountry: cell("state"),
        country: cell("country"),
        zip: cell("zip"),
      }),
      aumUsd: whole(cell("aumUsd")),
      origin,
    };
    return { kind: "base", filingId, filing };
  },
  owners: (cell) => {
    const filingId = cell("filingId");
    const name = cell("name");
    if (filingId === null || name === null) return null;
    const code = cell("ownershipCode")?.toUpperCase() ?? "";
    const [, month, year] = /^(\d\d?)\/(\d{4})$/.exec(cell("since") ?? "") ?? [];
    const owner = {
      name,
      isPerson: cell("type")?.toUpperCase() === "I",
      title: cell("title"),
      since: year === undefined ? null : `${year}-${month!.padStart(2, "0")}`,
      ownershipCode: ownershipCodes.includes(code) ? code : null,
      isControlPerson: flag(cell("isControlPerson")),
      schedule: cell("schedule")?.toUpperCase() === "B" ? ("B" as const) : ("A" as const),
      crd: crd(cell("crd")),
    };
    return { kind: "owners", filingId, owner };
  },
  funds: (cell) => {
    const filingId = cell("filingId");
    const referenceId = cell("referenceId");
    const name = cell("name");
    if (filingId === null || referenceId === null || name === null) return null;
    const fund = {
      fundId: cell("fundId"),
      name,
      type: cell("type"),
      typeOther: cell("typeOther"),
      isMaster: flag(cell("isMaster")),
      isFeeder: flag(cell("isFeeder")),
      masterFundId: cell("masterFundId"),
      masterFundName: cell("masterFundName"),
      grossAssetsUsd: whole(cell("grossAssetsUsd")),
      minimumUsd: whole(cell("minimumUsd")),
      state: cell("state"),
      country: cell("country"),
    };
    return { kind: "funds", filingId, referenceId, fund };
  },
  partners: (cell) => {
    const filingId = cell("filingId");
    const referenceId = cell("referenceId");
    const name = cell("name");
    if (filingId === null || referenceId === null || name === null) return null;
    return { kind: "partners", filingId, referenceId, name };
  },
  formDFiles: (cell) => {
    const filingId = cell("filingId");
    const referenceId = cell("referenceId");
    const fileNumber = formDFile(cell("fileNumber"));
    if (filingId === null || referenceId === null || fileNumber === null) return null;
    return { kind: "formDFiles", filingId, referenceId, fileNumber };
  },
  ciks: (cell) => {
    const filingId = cell("filingId");
    const number = cik(cell("cik"));
    if (filingId === null || number === null) return null;
    return { kind: "ciks", filingId, cik: number };
  },
};

const quote = 0x22;
const comma = 0x2c;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
/** Longest row. A quote that is never closed would otherwise take in the rest of the member. */
const rowBytesMax = 256 * 1024;

/**
 * Cuts bytes into rows of cells. Some cells hold quotes that are not doubled, so that a quote ends its cell only before
 * a comma or the end of the line. If a row is not taken, because a quote led astray, its first line is given up and
 * reading goes on with the next line.
 * @param take returns false if the row has another number of cells than it must.
 */
async function eachRow(
  bytes: AsyncIterable<Buffer>,
  take: (row: Row, line: number) => boolean,
  giveUp: (line: number) => void,
): Promise<void> {
  let rest: Buffer = Buffer.alloc(0);
  let line = 1;
  const cut = (isLast: boolean) => {
    let start = 0;
    while (start < rest.length) {
      const row = rowAt(rest, start, isLast);
      if (row === undefined && !isLast && rest.length - start <= rowBytesMax) break;
      if (row !== undefined && (row.isBlank || take(row, line))) {
        start = row.end;
        line += row.lines;
        continue;
      }
      giveUp(line++);
      const end = rest.indexOf(lineFeed, start);
      start = end < 0 ? rest.length : end + 1;
    }
    rest = rest.subarray(start);
  };
  for await (const chunk of bytes) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    cut(false);
  }
  cut(true);
}

interface Row {
  /** Number of cells. */
  length: number;
  /** Decodes a cell. Most of the hundreds of columns are never asked for. */
  cellAt: (index: number) => string;
  isBlank: boolean;
  /** Offset of the next row. */
  end: number;
  /** Number of lines that the row takes. */
  lines: number;
}

/** Returns the row at an offset. Returns undefined if the bytes end before it does. */
function rowAt(bytes: Buffer, start: number, isLast: boolean): Row | undefined {
  /** Begin and end of each cell, without its quotes. */
  const bounds: number[] = [];
  const stop = Math.min(bytes.length, start + rowBytesMax);
  let lines = 1;
  let begin = start;
  let at = start;
  const isEnd = (byte: number | undefined) =>
    byte === comma || byte === lineFeed || byte === carriageReturn || byte === undefined;
  while (at <= stop) {
    const isQuoted = bytes[begin] === quote;
    if (isQuoted) {
      // A run of quotes ends its cell if it is odd, since pairs stand for one quote each, and an end follows.
      for (at = begin + 1; at < stop; at++) {
        if (bytes[at] === lineFeed) lines++;
        if (bytes[at] !== quote) continue;
        let after = at + 1;
        while (bytes[after] === quote) after++;
        const isOdd = (after - at) % 2 === 1;
        if (after === bytes.length && !isLast) return undefined;
        at = after - 1;
        if (isOdd && isEnd(bytes[after])) break;
      }
      if (at >= stop) return undefined;
      bounds.push(begin + 1, at++);
    } else {
      while (at < stop && bytes[at] !== comma && bytes[at] !== lineFeed) at++;
      if (at === stop && !(isLast && stop === bytes.length)) return undefined;
      bounds.push(begin, at);
    }
    while (bytes[at] === carriageReturn) at++;
    if (bytes[at] === comma) {
      begin = ++at;
      continue;
    }
    if (at >= bytes.length && !isLast) return undefined;
    const length = bounds.length / 2;
    const cellAt = (i: number) => decode(bytes.subarray(bounds[2 * i], bounds[2 * i + 1]));
    const isBlank = length === 1 && cellAt(0).trim() === "";
    return { length, cellAt, isBlank, end: Math.min(at + 1, bytes.length), lines };
  }
  return undefined;
}

const windows1252 = new TextDecoder("windows-1252");

/** Decodes a cell. Quotes within it are doubled, if at all, only in a quoted cell. */
function decode(bytes: Buffer): string {
  const written = isUtf8(bytes) ? bytes.toString("utf8") : windows1252.decode(bytes);
  return written.includes('""') ? written.replaceAll('""', '"') : written;
}
