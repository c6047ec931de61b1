/** Reads an operator's files and folders of public filings, each file recognised by its content. */
import { createReadStream, lstatSync, readdirSync, readFileSync, statSync } from "node:fs";
import { closeSync, openSync, readSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { ImportFault, quoted } from "#importers/import-fault.ts";
import { readAdv } from "./adv.ts";
import { openArchive } from "./archive.ts";
import {
  accessionIn,
  type AdvMember,
  advMembers,
  date,
  type RejectedRows,
  type SkipReason,
} from "./cells.ts";
import { looksLikeCorrections, readCorrections } from "./corrections.ts";
import { type FilingStore, openFilingStore } from "./filing-store.ts";
import {
  type QuarterTable,
  quarterTables,
  readFormDQuarter,
  type TableFile,
} from "./form-d-quarter.ts";
import { readFormDXml } from "./form-d-xml.ts";
import { geographyLayout, type GeographyTables, openGeography } from "./geography.ts";
import { openPlaces, type PlaceReader } from "./places.ts";
import type { Correction, Filings } from "./rows.ts";

export interface ReadFilingsOptions {
  /** File for rows between reading and resolving. It is removed by `close`, and replaced if it exists. */
  scratchFile: string;
  /** Random text, on which only hashes of addresses depend. */
  salt: string;
}

type FileKind =
  | "form_d_quarter"
  | "form_d_filing"
  | "adv"
  | "corrections"
  | "zip_county"
  | "county_cbsa"
  | "edgar_index";

/** What was read, and what was not. */
export interface FilingsReport {
  /** Files by kind. The six tables of a quarter count as one. */
  files: Partial<Record<FileKind, number>>;
  /** Filings that are in the rows, each once. */
  formD: number;
  advisers: number;
  /** Filings that are not, by reason. */
  skipped: Partial<Record<SkipReason, number>>;
  /** Filings of which neither a header nor a quarter tells the file number. */
  unnumbered: number;
  /** Filings of which neither a header nor an index tells the date. */
  undated: number;
  /** Rows of tables that could not be read, by file. */
  rejectedRows: ({ file: string } & RejectedRows)[];
  /** Files that are no filings, or cannot be followed. */
  leftOut: { file: string; reason: string }[];
}

/**
 * Reads files and folders. Nothing that is said depends on the order of the paths.
 * @throws ImportFault if a path is not there, or a recognised file is damaged.
 */
export async function readFilings(
  paths: readonly string[],
  { scratchFile, salt }: ReadFilingsOptions,
): Promise<{ filings: Filings; report: FilingsReport }> {
  const report: FilingsReport = {
    files: {},
    formD: 0,
    advisers: 0,
    skipped: {},
    unnumbered: 0,
    undated: 0,
    rejectedRows: [],
    leftOut: [],
  };
  const found = findFiles(paths, report);
  const store = openFilingStore(scratchFile);
  try {
    const reader: Reader = {
      report,
      store,
      placeOf: openPlaces(salt),
      geography: openGeography(),
      corrections: [],
      quarters: new Map(),
    };
    for (const file of found) await readFile(file, reader);
    for (const [, tables] of [...reader.quarters].sort(([a], [b]) => compareTexts(a, b)))
      await readQuarter(tables, reader);
    const { withoutBase, ...counts } = store.seal();
    Object.assign(report, counts);
    if (withoutBase > 0) report.skipped.no_base = withoutBase;
    return {
      report,
      filings: {
        formD: () => store.formD(),
        advisers: () => store.advisers(),
        corrections: reader.corrections.sort((a, b) => compareTexts(textOf(a), textOf(b))),
        geography: reader.geography,
        close: () => store.close(),
      },
    };
  } catch (error) {
    store.close();
    throw error;
  }
}

/** Text of a correction, without its line, by which corrections of several files are put in order. */
const textOf = (correction: Correction) => JSON.stringify({ ...correction, line: 0 });
const compareTexts = (a: string, b: string) => (a < b ? -1 : Number(a > b));

interface Reader {
  report: FilingsReport;
  store: FilingStore;
  placeOf: PlaceReader;
  geography: GeographyTables;
  corrections: Correction[];
  /** Tables of quarters outside of archives, by the path in front of the name of the table. */
  quarters: Map<string, Partial<Record<QuarterTable, TableFile>>>;
}

/** Returns the regular files under paths, each once, in byte order of their full paths. Reports all others. */
function findFiles(paths: readonly string[], report: FilingsReport): string[] {
  const missing = paths.flatMap((path) => {
    const reason = whyClosed(() => statSync(path));
    return reason === undefined ? [] : [{ field: path, reason }];
  });
  const [first, ...others] = missing;
  if (first !== undefined) throw new ImportFault(first.field, null, first.reason, others);
  /** Paths as the operator gave them, by their full path. */
  const files = new Map<string, string>();
  const leave = (file: string, reason: string) => report.leftOut.push({ file, reason });
  const walk = (path: string, isGiven: boolean) => {
    const entry = isGiven ? statSync(path) : lstatSync(path);
    if (entry.isSymbolicLink()) leave(path, "is a symbolic link; name what it leads to");
    else if (entry.isFile()) files.set(resolve(path), path);
    else if (!entry.isDirectory()) leave(path, "is no file");
    else for (const name of readdirSync(path)) walk(join(path, name), false);
  };
  for (const path of paths) {
    const reason = whyClosed(() => walk(path, true));
    if (reason !== undefined) throw new ImportFault(path, null, reason);
  }
  const inBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
  report.leftOut.sort((a, b) => inBytes(a.file, b.file));
  return [...files].sort(([a], [b]) => inBytes(a, b)).map(([, path]) => path);
}

function whyClosed(use: () => unknown): string | undefined {
  try {
    use();
    return undefined;
  } catch (error) {
    const { code, message, path } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return "there is no such file or folder; check the path";
    return `${path ?? "it"} cannot be read (${code ?? message}); give this user read access`;
  }
}

/** Number of bytes by which a file is recognised. */
const beginningBytes = 64 * 1024;
/** Maximum size of a file that is read whole, in bytes. */
const wholeBytesMax = 128 * 1024 * 1024;

/** Beginnings of files that are left out, each with the reason. */
const otherFormats: readonly (readonly [beginning: RegExp, reason: string])[] = [
  [/^$/, "is empty"],
  [/^\x1f\x8b/, "is compressed with gzip; unpack it"],
  [/^(?:\xfe\xff|\xff\xfe)/, "is in UTF-16; save it as UTF-8"],
  [
    /^\s*<(?:!doctype html|html|(?:\?xml[^>]*>\s*<)?Error>)/i,
    "is a web page, or an error message of the site it came from; download the file again",
  ],
];

async function readFile(file: string, reader: Reader): Promise<void> {
  const { report, store, placeOf } = reader;
  const beginning = beginningOf(file);
  const count = (kind: FileKind) => (report.files[kind] = (report.files[kind] ?? 0) + 1);
  const leave = (reason: string) => report.leftOut.push({ file, reason });
  const whole = () => {
    if (statSync(file).size > wholeBytesMax)
      throw new ImportFault(
        file,
        null,
        `is larger than ${wholeBytesMax} bytes, which no such file is`,
      );
    return readFileSync(file);
  };
  if (/^PK(?:\x03\x04|\x05\x06)/.test(beginning)) return readArchive(file, reader);
  const other = otherFormats.find(([shape]) => shape.test(beginning));
  if (other !== undefined) return void leave(other[1]);

  const form = submissionForm(beginning);
  if (form !== undefined && !/^D(?:\/A)?$/.test(form))
    return void leave(`is a filing of form ${quoted(form)}, not of form D`);
  if (form !== undefined || /^\s*<[^]*<edgarSubmission[\s>]|^\s*<edgarSubmission/.test(beginning)) {
    const found = readFormDXml(whole(), { file, line: 1 }, placeOf);
    if (found === "other_form") return void leave("is a filing of another form than D");
    if (found === "no_accession")
      return void leave(
        "has no header and no accession number in its path; name its folder by it, such as 0001234567-25-000001",
      );
    count("form_d_filing");
    if (typeof found === "string") return skip(report, found);
    if (!store.addFormD(found, false)) skip(report, "twice");
    return;
  }

  const [header = ""] = beginning.split(/\r?\n/, 1);
  if (/(?:^|\t)\s*ACCESSIONNUMBER\s*(?:\t|$)/i.test(header)) {
    const table = quarterTableOf(file, header);
    if (table === undefined) return void leave("is a table of a Form D quarter that is not read");
    const key = file.replace(tableSuffix, "");
    const tables = reader.quarters.get(key) ?? {};
    reader.quarters.set(key, tables);
    tables[table] = { shown: file, size: statSync(file).size, open: () => createReadStream(file) };
    return;
  }
  if (/^"?FilingID"?(?:,|$)/i.test(header)) {
    const member = advMemberOf(file);
    if (member === undefined) return void leave("is a table of Form ADV that is not read");
    count("adv");
    return readAdvMember(member, file, createReadStream(file), reader);
  }
  const layout = geographyLayout(beginning);
  if (layout !== undefined) {
    count(layout.kind);
    return reader.geography.add(whole(), file, layout);
  }
  if (indexHeader.test(beginning)) {
    count("edgar_index");
    return readIndex(whole(), file, store);
  }
  if (looksLikeCorrections(beginning) || basename(file) === "corrections.ndjson") {
    count("corrections");
    return void reader.corrections.push(...readCorrections(whole(), file));
  }
  leave("is not a filing, nor another file that is read");
}

const skip = ({ skipped }: FilingsReport, reason: SkipReason): void => {
  skipped[reason] = (skipped[reason] ?? 0) + 1;
};

/** Returns the first bytes of a file, one character for each, without a byte order mark. */
function beginningOf(file: string): string {
  const bytes = Buffer.alloc(beginningBytes);
  const handle = openSync(file, "r");
  try {
    const length = readSync(handle, bytes, 0, bytes.length, 0);
    return bytes.toString("latin1", 0, length).replace(/^\xef\xbb\xbf/, "");
  } finally {
    closeSync(handle);
  }
}

/** Returns the form of a full submission of EDGAR. Returns undefined for another file. */
function submissionForm(beginning: string): string | undefined {
  if (!/^\s*(?:-----BEGIN PRIVACY|<SEC-DOCUMENT>|<SEC-HEADER>|<SUBMISSION>)/.test(beginning))
    return undefined;
  return /^(?:CONFORMED SUBMISSION TYPE:|<TYPE>|<FORM-TYPE>)[ \t]*([^\r\n<]+?)\s*$/m.exec(
    beginning,
  )?.[1];
}

const tableSuffix = new RegExp(`(?:${quarterTables.join("|")})\\.tsv$`, "i");

/** Returns the table that a name ends in, or else the one that has a column of the header alone. */
function quarterTableOf(name: string, header: string): QuarterTable | undefined {
  const suffix = tableSuffix.exec(name)?.[0].slice(0, -".tsv".length).toUpperCase();
  if (suffix !== undefined) return suffix as QuarterTable;
  const names = header.split("\t").map((one) => one.trim().toUpperCase());
  return quarterTables.find((table) => names.includes(markOf[table]));
}

const markOf: Readonly<Record<QuarterTable, string>> = {
  FORMDSUBMISSION: "SUBMISSIONTYPE",
  ISSUERS: "ENTITYNAME",
  OFFERING: "INDUSTRYGROUPTYPE",
  RELATEDPERSONS: "RELATEDPERSON_SEQ_KEY",
  RECIPIENTS: "RECIPIENT_SEQ_KEY",
  SIGNATURES: "SIGNATURE_SEQ_KEY",
};

function advMemberOf(name: string): { kind: AdvMember; isExempt: boolean } | undefined {
  const own = basename(name);
  const kinds = Object.keys(advMembers) as AdvMember[];
  const kind = kinds.find((one) => advMembers[one].test(own));
  return kind === undefined ? undefined : { kind, isExempt: /^ERA/i.test(own) };
}

async function readArchive(file: string, reader: Reader): Promise<void> {
  const archive = await openArchive(file);
  try {
    const tables: Partial<Record<QuarterTable, TableFile>> = {};
    let hasAdv = false;
    for (const { name, size, open } of archive.members) {
      const shown = `${file}!${name}`;
      const table = tableSuffix.exec(name)?.[0].slice(0, -".tsv".length).toUpperCase();
      const member = advMemberOf(name);
      if (table !== undefined) {
        if (tables[table as QuarterTable] !== undefined)
          throw new ImportFault(
            shown,
            null,
            `is a second ${table} in one archive; split the archive`,
          );
        tables[table as QuarterTable] = { shown, size, open };
      } else if (member !== undefined) {
        hasAdv = true;
        await readAdvMember(member, shown, open(), reader);
      }
    }
    const { files, leftOut } = reader.report;
    if (hasAdv) files.adv = (files.adv ?? 0) + 1;
    if (Object.keys(tables).length > 0) await readQuarter(tables, reader, file);
    else if (!hasAdv)
      leftOut.push({
        file,
        reason: "is an archive without tables of Form D or Form ADV; unpack it",
      });
  } finally {
    archive.close();
  }
}

async function readQuarter(
  tables: Partial<Record<QuarterTable, TableFile>>,
  { report, store, placeOf }: Reader,
  archive?: string,
): Promise<void> {
  const missing = quarterTables.filter((table) => tables[table] === undefined);
  if (missing.length > 0)
    throw new ImportFault(
      archive ?? Object.values(tables)[0]!.shown,
      null,
      `is part of a Form D quarter without ${missing.map((table) => `${table}.tsv`).join(", ")}; download the quarter again`,
    );
  report.files.form_d_quarter = (report.files.form_d_quarter ?? 0) + 1;
  await readFormDQuarter(
    tables as Record<QuarterTable, TableFile>,
    placeOf,
    (filing) => {
      if (!store.addFormD(filing, true)) skip(report, "twice");
    },
    (reason) => skip(report, reason),
    (file, line) => {
      const known = report.rejectedRows.find((one) => one.file === file);
      if (known === undefined) report.rejectedRows.push({ file, count: 1, firstLine: line });
      else known.count++;
    },
  );
}

async function readAdvMember(
  member: { kind: AdvMember; isExempt: boolean },
  file: string,
  bytes: AsyncIterable<Buffer>,
  { report, store, placeOf }: Reader,
): Promise<void> {
  const rejected = await readAdv(member, bytes, { file, line: 1 }, placeOf, (row) => {
    if (!store.addAdv(row)) skip(report, "twice");
  });
  if (rejected.count > 0) report.rejectedRows.push({ file, ...rejected });
}

const indexHeader = /^(?=.*Form Type)(?=.*Date Filed).*File ?name\s*$/im;

/** Reads the filing dates of an index of EDGAR: `form.idx`, `company.idx`, or `master.idx` with its bars. */
function readIndex(bytes: Buffer, file: string, store: FilingStore): void {
  for (const [at, line] of bytes.toString("latin1").split(/\r?\n/).entries()) {
    const path = /\bedgar\/data\/\S+/.exec(line);
    if (path === null) continue;
    const before = line.slice(0, path.index);
    if (!/(?:^|\||\s{2})D(?:\/A)?(?:\s{2}|\|)/.test(before)) continue;
    const accession = accessionIn(path[0]);
    const filedOn = date(/(\d{4}-?\d\d-?\d\d)[\s|]*$/.exec(before)?.[1]);
    if (accession === null || filedOn === null)
      throw new ImportFault(
        file,
        at + 1,
        "has no date or no accession number; download the index again",
      );
    store.addFilingDate(accession, filedOn);
  }
}
