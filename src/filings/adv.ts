/** Reads Form ADV: the SEC's published tables, one file at a time, and the SEC's daily feed of firms. */
import { basename } from "node:path";
import { SaxesParser } from "saxes";
import { ImportFault, quoted } from "#importers/import-fault.ts";
import { existsInCalendar } from "#records/fields.ts";
import columns from "./adv-columns.json" with { type: "json" };
import {
  cik,
  crd,
  date,
  decoded,
  flag,
  formDFile,
  named,
  type RejectedRows,
  text,
  whole,
} from "./cells.ts";
import { depthMax, malformed } from "./form-d.ts";
import type { PlaceReader } from "./places.ts";
import type { AdviserFiling, AdvRow, Firm, RowOrigin } from "./rows.ts";

/** Kinds of archive members to read, each with the pattern of its file name. */
const kinds = {
  base: /^(?:IA|ERA)_ADV_Base(?:_A)?(?:_\d|\.|$)/i,
  owners: /^(?:IA|ERA)_Schedule_A_B(?:_\d|\.|$)/i,
  funds: /^(?:IA|ERA)_Schedule_D_7B1(?:_\d|\.|$)/i,
  partners: /^(?:IA|ERA)_Schedule_D_7B1A3a(?:_\d|\.|$)/i,
  formDFiles: /^(?:IA|ERA)_Schedule_D_7B1A22(?:_\d|\.|$)/i,
  ciks: /^(?:IA|ERA)_1D3_CIK(?:_\d|\.|$)/i,
} as const;

export interface AdvMember {
  kind: keyof typeof kinds;
  /** True for a table of exempt reporting advisers. */
  isExempt: boolean;
}

/** Recognises a member by its file name. Returns undefined for a file that is not read. */
export function advMemberOf(file: string): AdvMember | undefined {
  const name = basename(file);
  const kind = (Object.keys(kinds) as AdvMember["kind"][]).find((one) => kinds[one].test(name));
  return kind && { kind, isExempt: /^ERA/i.test(name) };
}

/** Number of unreadable rows allowed in a member beyond the number of readable ones. */
const rejectedMax = 10_000;

/**
 * Reads a member and adds its rows one by one.
 * @returns count and first line of the rows that are too long, have a wrong number of cells or lack a needed value.
 * @throws ImportFault if the member is empty or cut off, lacks a needed column, has a column twice, or has more
 *   unreadable rows than `rejectedMax` allows.
 */
export async function readAdv(
  { kind, isExempt }: AdvMember,
  bytes: AsyncIterable<Buffer>,
  origin: RowOrigin,
  placeOf: PlaceReader,
  add: (row: AdvRow) => void,
): Promise<RejectedRows> {
  let header: string[] | undefined;
  let indexes: Readonly<Record<string, number>> = {};
  const rejected: RejectedRows = { count: 0, firstLine: null };
  let taken = 0;
  const take = ({ length, cellAt }: Row, line: number): boolean => {
    if (header === undefined) {
      header = Array.from({ length }, (_, i) => cellAt(i));
      indexes = indexesOf(kind, header, origin.file);
      return true;
    }
    if (length !== header.length) return false;
    const values = valuesOf(kind, (name) => {
      const index = indexes[name];
      return index === undefined ? null : cellAt(index);
    });
    if (values === null) return false;
    taken++;
    add(rowOf(kind, values, { isExempt, origin: { ...origin, line } }, placeOf));
    return true;
  };
  await eachRow(bytes, take, (line, isLast) => {
    const cut = "the last row is cut off; download the archive again";
    if (isLast) throw new ImportFault(origin.file, line, cut);
    rejected.count++;
    rejected.firstLine ??= line;
    // Each unreadable row may cost a long search for a closing quote.
    if (rejected.count <= rejectedMax + taken) return;
    const reason = "has more unreadable rows than readable ones; download the archive again";
    throw new ImportFault(origin.file, rejected.firstLine, reason);
  });
  if (header === undefined)
    throw new ImportFault(origin.file, null, "is empty; download the archive again");
  return rejected;
}

const remedy = "download the archive again, or leave it out of the folder";
const comparable = (title: string) => title.toLowerCase().replaceAll(/[^a-z0-9]/g, "");

/** Returns column indexes by our names. @throws ImportFault for a repeated column, or a missing one that is needed. */
function indexesOf(kind: AdvMember["kind"], header: readonly string[], file: string) {
  const titles = header.map((title) => comparable(title.replace(/^\ufeff/, "")));
  const found: Record<string, number> = {};
  for (const [name, spellings] of Object.entries<readonly string[]>(columns[kind])) {
    const index = titles.findIndex((title) => spellings.some((one) => comparable(one) === title));
    if (index >= 0) found[name] = index;
    // Some editions lack the optional columns.
    else if (!columns.optional.includes(name))
      throw new ImportFault(file, 1, `has no column "${spellings[0]}"; ${remedy}`);
    if (index >= 0 && header.lastIndexOf(header[index]!) > index)
      throw new ImportFault(file, 1, `has column "${header[index]}" twice; ${remedy}`);
  }
  return found;
}

type Values = Record<string, string | null>;

/** Returns the values of a row. Returns null if it lacks a value that every row needs. */
function valuesOf(kind: AdvMember["kind"], cellOf: (name: string) => string | null): Values | null {
  const values = Object.fromEntries(
    Object.keys(columns[kind]).map((name) => [name, (cellReaders[name] ?? text)(cellOf(name))]),
  ) as Values;
  if (kind === "base") values["legalName"] ??= values["businessName"]!;
  return columns.needed[kind].some((name) => values[name] === null) ? null : values;
}

const idIn = (cell: string | null) => /^[\w-]{1,40}$/.exec(text(cell) ?? "")?.[0] ?? null;

/** Readers of cells that are not plain text, by column. */
const cellReaders: Readonly<Record<string, (cell: string | null) => unknown>> = {
  crd,
  cik,
  filedOn: date,
  fileNumber: formDFile,
  aumUsd: whole,
  grossAssetsUsd: whole,
  isMaster: flag,
  isFeeder: flag,
  isControlPerson: flag,
  legalName: named,
  businessName: named,
  filingId: idIn,
  fundId: idIn,
  secNumber: (cell) => /^80[12]-\d{1,10}$/.exec(text(cell) ?? "")?.[0] ?? null,
  lei: (cell) => /^[A-Z0-9]{20}$/.exec(text(cell)?.toUpperCase() ?? "")?.[0] ?? null,
  isPerson: (cell) => text(cell)?.toUpperCase() === "I",
  ownershipCode: (cell) => /^(?:NA|[A-E])$/.exec(text(cell)?.toUpperCase() ?? "")?.[0] ?? null,
  schedule: (cell) => (text(cell)?.toUpperCase() === "B" ? "B" : "A"),
  since: (cell) => {
    const [, month, year] = /^(\d\d?)\/(\d{4})$/.exec(text(cell) ?? "") ?? [];
    const iso = `${year}-${month?.padStart(2, "0")}`;
    return existsInCalendar(iso) ? iso : null;
  },
};

function rowOf(
  kind: AdvMember["kind"],
  { filingId, referenceId, ...values }: Values,
  source: Pick<AdviserFiling, "isExempt" | "origin">,
  placeOf: PlaceReader,
): AdvRow {
  const row = { kind, filingId };
  if (kind === "owners") return { ...row, owner: values } as unknown as AdvRow;
  if (kind === "funds") return { ...row, referenceId, fund: values } as unknown as AdvRow;
  if (kind !== "base") return { ...row, ...(referenceId && { referenceId }), ...values } as AdvRow;
  const { street1, street2, city, state, country, zip, ...facts } = values;
  const { formerLegalName, formerBusinessName, newName, ...rest } = facts;
  const names = new Set([formerLegalName, formerBusinessName, newName]);
  const otherNames = [...names].filter(
    (name) => name && name !== rest["legalName"] && name !== rest["businessName"],
  );
  const place = placeOf({ streets: [street1, street2], city, stateOrCountry: state, country, zip });
  const filing = { filingId, ...rest, ...source, otherNames, place };
  return { ...row, filing } as unknown as AdvRow;
}

const quote = 0x22;
const comma = 0x2c;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
/** Maximum length of a row, in bytes. Without a limit, an unclosed quote would swallow the rest of the member. */
const rowBytesMax = 256 * 1024;

/**
 * Splits bytes into rows of cells. Skips blank rows. Some cells contain undoubled quotes, so a quote ends its cell only
 * before a comma or a line end. Gives up the first line of a row that is too long or not taken, and resumes on the next
 * line, because a quote may have been misread.
 * @param take returns false if the row is unreadable.
 */
async function eachRow(
  bytes: AsyncIterable<Buffer>,
  take: (row: Row, line: number) => boolean,
  giveUp: (line: number, isLast: boolean) => void,
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
      const end = rest.indexOf(lineFeed, start);
      giveUp(line++, isLast && end < 0);
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

type Row = NonNullable<ReturnType<typeof rowAt>>;

/** Returns the row at an offset. Returns undefined if the bytes end first, or if the row is too long. */
function rowAt(bytes: Buffer, start: number, isLast: boolean) {
  /** Start and end of each cell, without its quotes. */
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
      // A pair of quotes stands for one. A run of odd length therefore ends the cell if a comma or line end follows.
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
    /** Decodes a cell on demand. Most of the hundreds of columns are never needed. */
    const cellAt = (i: number) => decode(bytes.subarray(bounds[2 * i], bounds[2 * i + 1]));
    const isBlank = length === 1 && cellAt(0).trim() === "";
    return { length, cellAt, isBlank, end: Math.min(at + 1, bytes.length), lines };
  }
  return undefined;
}

/** Decodes a cell. Only quoted cells contain doubled quotes. */
function decode(bytes: Buffer): string {
  const written = decoded(bytes);
  return written.includes('""') ? written.replaceAll('""', '"') : written;
}

const feedRoot = "IAPDFirmSECReport";
export const feedBeginning = new RegExp(String.raw`^\s*<(?:[^]*<)?${feedRoot}[\s>]`);
const feedCells: Readonly<Record<string, string>> = columns.feed;
const feedElements = new Set(Object.values(feedCells).map((cell) => cell.split("@")[0]));
/** Maximum number of bytes between two opening tags. Without a limit, endless text would fill the memory. */
const gapBytesMax = 1024 * 1024;

/**
 * Reads the SEC's daily feed of firms as a stream. Adds each firm with the date of the feed.
 * @returns count and first line of the firms that lack a CRD number, a name or a filing date.
 * @throws ImportFault if the feed is cut off, is not well-formed, or has no date or no readable firm.
 */
export async function readFirmFeed(
  bytes: AsyncIterable<Buffer>,
  file: string,
  placeOf: PlaceReader,
  add: (firm: Firm, feedOn: string) => void,
): Promise<RejectedRows> {
  const rejected: RejectedRows = { count: 0, firstLine: null };
  let [depth, gapBytes, line, taken] = [0, 0, 1, 0];
  let feedOn: string | null = null;
  /** Attributes of the firm, by `element@name`. */
  let cells: Record<string, string> = {};
  let website: string | null = null;
  let content = "";
  const parser = new SaxesParser({ position: true, xmlns: false });
  const refuse = (reason: string) => {
    throw new ImportFault(file, parser.line, reason);
  };
  parser.on("error", ({ message }) => refuse(malformed(message)));
  parser.on("opentag", ({ name, attributes }) => {
    if (depth === 0) feedOn = date(attributes["GenOn"]);
    if (depth === 0 && name !== feedRoot)
      refuse(`begins with ${quoted(name)}, not ${feedRoot}; download it again`);
    if (++depth > depthMax) refuse(malformed(`elements are nested more than ${depthMax} deep`));
    [gapBytes, content] = [0, ""];
    if (name === "Firm") [cells, website, line] = [{}, null, parser.line];
    if (feedElements.has(name))
      for (const [key, value] of Object.entries(attributes)) cells[`${name}@${key}`] ??= value;
  });
  parser.on("text", (written) => void (content += written));
  parser.on("closetag", ({ name }) => {
    depth--;
    if (name === "WebAddr") website ??= ownSite(decodedCell(content));
    if (name !== "Firm") return;
    const values = valuesOf("base", (column) => decodedCell(cells[feedCells[column] ?? ""] ?? ""));
    if (values !== null && feedOn !== null) {
      taken++;
      const source = { isExempt: cells["Rgstn@FirmType"] === "ERA", origin: { file, line } };
      const { filing } = rowOf("base", values, source, placeOf) as AdvRow & { kind: "base" };
      add({ ...filing, website }, feedOn);
    } else if (rejected.count++ === 0) rejected.firstLine = line;
  });
  for await (const chunk of bytes) {
    gapBytes += chunk.length;
    if (gapBytes > gapBytesMax) refuse(malformed(`no element in ${gapBytesMax} bytes`));
    // One character per byte: element names are ASCII, and cells are decoded one by one.
    parser.write(chunk.toString("latin1").replace(/^\xef\xbb\xbf/, ""));
  }
  if (depth > 0) refuse(`ends before </${feedRoot}> and is cut off; download it again`);
  parser.close();
  if (taken > 0) return rejected;
  const reason = `has no date, or no firm with a CRD number, a name and a filing date; download it again`;
  throw new ImportFault(file, rejected.firstLine, reason);
}

/** Decodes a cell of one character per byte. Leaves it alone if a character reference added a wider character. */
const decodedCell = (written: string): string =>
  /^[\0-\xff]*$/.test(written) ? decoded(Buffer.from(written, "latin1")) : written;

/** Hosts of pages that describe a firm but are not its own. */
const foreignHost =
  /(?:^|\.)(?:(?:linkedin|facebook|fb|twitter|x|instagram|youtube|vimeo|tiktok|threads|pinterest|snapchat|reddit|medium|substack|yelp|glassdoor|crunchbase|spotify|soundcloud|apple|weibo|qq|(?<!sites\.)google)\.com|youtu\.be|bsky\.app|t\.me|g\.page|sec\.gov|finra\.org)$/;

/** Returns a firm's own web address, in lower case if it is all capitals, as most are. Returns null for other texts. */
function ownSite(written: string): string | null {
  const site = text(written) ?? "";
  const cased = /[a-z]/.test(site) ? site : site.toLowerCase();
  const url = URL.parse(/^https?:/i.test(cased) ? cased : `https://${cased}`);
  const isOwn = url?.username === "" && /\.[a-z][a-z\d-]+$/.test(url.hostname);
  return isOwn && !foreignHost.test(url.hostname) && url.href.length <= 2000 ? url.href : null;
}
