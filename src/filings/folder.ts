/** Reads an operator's files and folders of public filings. Recognises most files by content, some by name. */
import { createReadStream, lstatSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { pipeline } from "node:stream";
import { crc32, createGunzip } from "node:zlib";
import { type Entry, openPromise, type ZipFile } from "yauzl";
import { ImportFault, quoted } from "#importers/import-fault.ts";
import { readBytes, whyClosed, whyOtherFormat } from "#importers/source-file.ts";
import { type AdvMember, advMemberOf, feedBeginning, readAdv, readFirmFeed } from "./adv.ts";
import { accessionIn, date, type RejectedRows, type SkipReason } from "./cells.ts";
import { type Correction, looksLikeCorrections, readCorrections } from "./corrections.ts";
import {
  addTable,
  type QuarterFiles,
  quarterKey,
  quarterTableOf,
  readFormDQuarter,
  readFormDXml,
  type TableFile,
} from "./form-d.ts";
import { geographyLayout, openGeography, openPlaces } from "./places.ts";
import { type Filings, type FormD, openFilingStore } from "./rows.ts";

const newReport = (leftOut: { file: string; reason: string }[]) => ({
  /** Number of files by kind, such as `form_d_quarter`. The six tables of a quarter count as one. */
  files: {} as Record<string, number>,
  /** Number of filings of Form D, each counted once. */
  formD: 0,
  /** Number of filings of Form ADV, each counted once. */
  advisers: 0,
  /** Number of firms in the daily feeds, each counted once. */
  firms: 0,
  /** Date of the newest filing of each form, and of the newest daily feed; null if there is no date. */
  newest: {} as Record<"form_d" | "form_adv" | "firm_feed", string | null>,
  /** Number of Form D filings whose file number is in no header or quarter. */
  unnumbered: 0,
  /** Number of Form D filings whose date is in no header, quarter or index. */
  undated: 0,
  /** Number of filings left out, by reason. */
  skipped: {} as Partial<Record<SkipReason, number>>,
  /** Number and first line of the unreadable rows or firms, for each file that has any. */
  rejectedRows: [] as ({ file: string } & RejectedRows)[],
  /** Paths left out, each with the reason. */
  leftOut,
});

export type FilingsReport = ReturnType<typeof newReport>;

type Reader = ReturnType<typeof openReader>;

interface ReadOptions {
  scratchFile: string;
  salt: string;
  onRow?: (rows: number) => void;
}

/**
 * Reads files and folders. The result does not depend on the order of the paths.
 * @param options `scratchFile` holds the rows until `close` removes it; an existing file is replaced. `salt` is random
 *   text for the hashes of addresses. `onRow` is called after every 1,000 rows.
 * @throws ImportFault if a path is missing or unreadable, or if a recognised file is damaged, too large or invalid.
 */
export async function readFilings(
  paths: readonly string[],
  { scratchFile, salt, onRow }: ReadOptions,
): Promise<{ filings: Filings; report: FilingsReport }> {
  const { files, leftOut } = findFiles(paths);
  const reader = openReader(openFilingStore(scratchFile, onRow), salt, leftOut);
  const { report, store, corrections, geography } = reader;
  try {
    for (const file of files)
      await readFile(file, reader).catch((error: NodeJS.ErrnoException) => {
        throw error.syscall === undefined ? error : new ImportFault(file, null, whyClosed(error));
      });
    for (const files of reader.quarters.values())
      await readQuarter(files, Object.values(files)[0]!.shown, reader);
    const { withoutBase, ...counts } = store.seal();
    Object.assign(report, counts);
    if (withoutBase > 0) report.skipped.no_base = withoutBase;
  } catch (error) {
    store.close();
    throw error;
  }
  // The order ignores origins, because they depend on how corrections are spread over files.
  const order = (correction: Correction) => JSON.stringify({ ...correction, file: "", line: 0 });
  corrections.sort((a, b) => inBytes(order(a), order(b)));
  leftOut.sort((a, b) => inBytes(a.file, b.file));
  return { filings: { ...store, corrections, geography }, report };
}

function openReader(
  store: ReturnType<typeof openFilingStore>,
  salt: string,
  leftOut: FilingsReport["leftOut"],
) {
  const report = newReport(leftOut);
  return {
    report,
    store,
    placeOf: openPlaces(salt),
    geography: openGeography(),
    corrections: [] as Correction[],
    /** Unpacked tables of quarters, by `quarterKey`. */
    quarters: new Map<string, QuarterFiles>(),
    count(kind: string): void {
      report.files[kind] = (report.files[kind] ?? 0) + 1;
    },
    skip(reason: SkipReason): void {
      report.skipped[reason] = (report.skipped[reason] ?? 0) + 1;
    },
    leave(file: string, reason: string): void {
      leftOut.push({ file, reason });
    },
  };
}

const inBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

/**
 * Finds files under paths, each once, in byte order of full path. Lists other entries, except folders, as left out.
 * @throws ImportFault that names the first missing or unreadable entry of each path.
 */
function findFiles(paths: readonly string[]) {
  /** Paths as the operator gave them, by full path. */
  const files = new Map<string, string>();
  const leftOut: FilingsReport["leftOut"] = [];
  const walk = (path: string, isGiven: boolean) => {
    const entry = isGiven ? statSync(path) : lstatSync(path);
    if (entry.isFile()) files.set(resolve(path), path);
    else if (entry.isDirectory()) {
      for (const name of readdirSync(path).sort(inBytes)) walk(join(path, name), false);
    } else
      leftOut.push({
        file: path,
        reason: entry.isSymbolicLink()
          ? "is a symbolic link; name the file or folder that it points to"
          : "is a pipe, a socket or a device; save its output to a file",
      });
  };
  const faults = paths.flatMap((path) => {
    try {
      walk(path, true);
      return [];
    } catch (error) {
      const fault = error as NodeJS.ErrnoException;
      const { code, path: at = path } = fault;
      if (code !== "ENOENT") return [{ field: at, reason: whyClosed(fault) }];
      const reason = at.includes("\ufffd")
        ? "has a name that is not in UTF-8; rename it"
        : "there is no such file or folder; check the path";
      return [{ field: at, reason }];
    }
  });
  const [first, ...others] = faults;
  if (first !== undefined) throw new ImportFault(first.field, null, first.reason, others);
  return { files: [...files].sort(([a], [b]) => inBytes(a, b)).map(([, path]) => path), leftOut };
}

const beginningBytes = 64 * 1024;
/** Maximum size of a file that is read whole, in bytes. The largest quarterly index is half as large. */
const wholeBytesMax = 128 * 1024 * 1024;

const zippedFeed = /^IA_FIRM_SEC_Feed_.*\.gz$/i;
const submission = /^\s*(?:-----BEGIN PRIVACY|<SEC-DOCUMENT>|<SEC-HEADER>|<SUBMISSION>)/;
const submissionForm = /^(?:CONFORMED SUBMISSION TYPE:|<TYPE>)[ \t]*([^\r\n<]+?)\s*$/m;
const formXml = /^\s*<(?:[^]*<)?edgarSubmission[\s>]/;
const quarterHeader = /(?:^|\t)\s*ACCESSIONNUMBER\s*(?:\t|$)/i;
const advHeader = /^"?FilingID"?(?:,|$)/i;
const indexHeader = /^(?=.*Form Type)(?=.*Date Filed).*File ?name\s*$/im;

async function readFile(file: string, reader: Reader): Promise<void> {
  const beginning = await beginningOf(file);
  const [header = ""] = beginning.split(/\r?\n/, 1);
  const leave = (reason: string) => reader.leave(file, reason);
  if (file.endsWith(".part")) return leave("is an unfinished download; download it again");
  const isCorrections = basename(file) === "corrections.ndjson";
  const whole = () => {
    if (statSync(file).size <= wholeBytesMax) return readFileSync(file);
    const reason = `has more than ${wholeBytesMax} bytes; take it out of the folder`;
    throw new ImportFault(file, null, reason);
  };
  if (/^PK(?:\x03\x04|\x05\x06)/.test(beginning)) return readArchive(file, reader);
  // Recognised by name, so that a damaged feed is reported and not just left out.
  const isZippedFeed = zippedFeed.test(basename(file)) && beginning.startsWith("\x1f\x8b");
  if (isZippedFeed || feedBeginning.test(beginning)) {
    const { report, store, placeOf, count } = reader;
    const bytes = isZippedFeed ? unzippedOf(file) : readBytes(file);
    count("firm_feed");
    const rejected = await readFirmFeed(bytes, file, placeOf, store.addFirm);
    if (rejected.count > 0) report.rejectedRows.push({ file, ...rejected });
    return;
  }
  const reason = beginning === "" ? "is empty" : whyOtherFormat(beginning);
  if (reason !== undefined) {
    // Corrections must not be left out silently.
    if (isCorrections && beginning !== "") throw new ImportFault(file, null, reason);
    return leave(reason);
  }
  const form = submission.test(beginning) ? submissionForm.exec(beginning)?.[1] : undefined;
  if (form !== undefined && !/^D(?:\/A)?$/.test(form))
    return leave(`is a filing of form ${quoted(form)}, not of Form D`);
  if (form !== undefined || formXml.test(beginning)) return readSubmission(file, whole(), reader);
  if (quarterHeader.test(header)) {
    const table = quarterTableOf(file, header);
    if (table === undefined) return leave("is a Form D table that imports do not use");
    const files = reader.quarters.getOrInsertComputed(quarterKey(resolve(file)), () => ({}));
    const open = () => readBytes(file);
    return addTable(files, table, { shown: file, size: statSync(file).size, open });
  }
  if (advHeader.test(header)) {
    const member = advMemberOf(file);
    if (member === undefined) return leave("is a Form ADV table that imports do not use");
    reader.count("adv");
    return readAdvMember(member, file, readBytes(file), reader);
  }
  const layout = geographyLayout(beginning);
  if (layout !== undefined) {
    reader.count(layout.kind);
    reader.geography.add(whole(), file, layout);
  } else if (indexHeader.test(beginning)) {
    reader.count("edgar_index");
    readIndex(whole(), file, reader);
  } else if (isCorrections || looksLikeCorrections(beginning)) {
    reader.count("corrections");
    reader.corrections.push(...readCorrections(whole(), file));
  } else leave("is neither a filing nor another file that imports use");
}

/** Returns the first 64 KiB of a file, one character per byte, without a UTF-8 byte order mark. */
async function beginningOf(file: string): Promise<string> {
  for await (const bytes of createReadStream(file, { highWaterMark: beginningBytes }))
    return (bytes as Buffer).toString("latin1").replace(/^\xef\xbb\xbf/, "");
  return "";
}

function readSubmission(file: string, bytes: Buffer, reader: Reader): void {
  const found = readFormDXml(bytes, { file, line: 1 }, reader.placeOf);
  if (found === "other_form") return reader.leave(file, "is a filing of a form other than Form D");
  if (found === "no_accession")
    return reader.leave(
      file,
      "has no accession number in a header or in its path; name its folder after the number, such as 0001234567-25-000001",
    );
  reader.count("form_d_filing");
  if (typeof found === "string") reader.skip(found);
  else if (!reader.store.addFormD(found, false)) reader.skip("twice");
}

/** Reads the tables in an SEC archive. Leaves out an archive that has none, such as a workbook. */
async function readArchive(file: string, reader: Reader): Promise<void> {
  const archive = await openArchive(file);
  try {
    const tables: QuarterFiles = {};
    let hasAdv = false;
    for (const one of archive.members) {
      const table = quarterTableOf(one.name);
      const member = advMemberOf(one.name);
      if (table !== undefined) addTable(tables, table, one);
      else if (member !== undefined) {
        hasAdv = true;
        await readAdvMember(member, one.shown, one.open(), reader);
      }
    }
    if (hasAdv) reader.count("adv");
    if (Object.keys(tables).length > 0) await readQuarter(tables, file, reader);
    else if (!hasAdv)
      reader.leave(
        file,
        archive.members.some(({ name }) => name.startsWith("xl/"))
          ? "is a workbook; save its sheet as CSV"
          : "is an archive without tables of Form D or Form ADV; unpack it",
      );
  } finally {
    archive.close();
  }
}

/** Reads a quarter. @param shown archive or file that messages name. */
async function readQuarter(
  files: QuarterFiles,
  shown: string,
  { report, store, placeOf, skip, count, leave }: Reader,
): Promise<void> {
  let filings = 0;
  const take = (found: FormD | SkipReason) => {
    filings++;
    if (typeof found === "string") skip(found);
    else if (!store.addFormD(found, true)) skip("twice");
  };
  report.rejectedRows.push(...(await readFormDQuarter(files, shown, placeOf, take)));
  if (filings > 0) count("form_d_quarter");
  else leave(shown, "is a Form D quarter without filings; download it again");
}

async function readAdvMember(
  member: AdvMember,
  file: string,
  bytes: AsyncIterable<Buffer>,
  { report, store, placeOf, skip }: Reader,
): Promise<void> {
  const rejected = await readAdv(member, bytes, { file, line: 1 }, placeOf, (row) => {
    if (!store.addAdv(row)) skip("twice");
  });
  if (rejected.count > 0) report.rejectedRows.push({ file, ...rejected });
}

/** Reads Form D filing dates from any EDGAR index. @throws ImportFault if a filing has no date or accession number. */
function readIndex(bytes: Buffer, file: string, { store }: Reader): void {
  for (const [at, line] of bytes.toString("latin1").split(/\r?\n/).entries()) {
    const [before = "", path] = line.split(/\b(edgar\/data\/\S+)/);
    if (path === undefined || !/(?:^|\||\s{2})D(?:\/A)?(?:\s{2}|\|)/.test(before)) continue;
    const accession = accessionIn(path);
    const filedOn = date(/(\d{4}-?\d\d-?\d\d)[\s|]*$/.exec(before)?.[1]);
    if (accession !== null && filedOn !== null) store.addFilingDate(accession, filedOn);
    else {
      const reason = "has no date or no accession number; download the index again";
      throw new ImportFault(file, at + 1, reason);
    }
  }
}

/** Member of an archive. Its `size` is in unzipped bytes. Reading a damaged member throws an ImportFault. */
interface ArchiveMember extends TableFile {
  /** Name with its folders, separated by `/`. */
  name: string;
}

export const archiveLimits = {
  /** Maximum ratio of unzipped to zipped bytes. SEC tables reach 40. */
  ratioMax: 200,
  /** Number of unzipped bytes up to which the ratio is not checked. */
  ratioFrom: 1024 * 1024,
  /** Maximum number of unzipped bytes in all members together. */
  bytesMax: 32 * 1024 ** 3,
  membersMax: 10_000,
};

/**
 * Opens an archive without reading its members. The caller must close it. Folders are not members, nor are the files
 * `._NAME` in which macOS keeps attributes.
 * @param limits lower limits, for tests.
 * @throws ImportFault if the archive is damaged or too large, or if a member is encrypted, a link, outside the
 *   archive, listed twice, or compressed like a zip bomb.
 */
export async function openArchive(
  path: string,
  limits = archiveLimits,
): Promise<{ members: readonly ArchiveMember[]; close: () => void }> {
  let zip: ZipFile | undefined;
  try {
    const opened = (zip = await openPromise(path, { autoClose: false }));
    const members = new Map<string, ArchiveMember>();
    let total = 0;
    for await (const entry of opened.eachEntry()) {
      const { fileName: name, uncompressedSize: size } = entry;
      const shown = `${path}!${name}`;
      total += size;
      const reason = members.has(name)
        ? "is in the archive twice"
        : whyRefused(entry, total, opened, limits);
      if (reason !== undefined)
        throw new ImportFault(shown, null, `${reason}; download the archive again`);
      if (!/\/$|(?:^|\/)\._[^/]*$/.test(name))
        members.set(name, { shown, name, size, open: () => contentsOf(shown, opened, entry) });
    }
    return { members: [...members.values()], close: () => opened.close() };
  } catch (error) {
    zip?.close();
    throw error instanceof ImportFault ? error : damaged(path, error);
  }
}

function whyRefused(
  entry: Entry,
  total: number,
  { entryCount, fileSize }: ZipFile,
  limits: typeof archiveLimits,
): string | undefined {
  const { bytesMax, membersMax } = limits;
  const kind = (entry.externalFileAttributes >>> 16) & 0o170000;
  if (entryCount > membersMax)
    return `is one of ${entryCount} members, but at most ${membersMax} are read`;
  if (kind === 0o120000) return "is a symbolic link, which no SEC archive contains";
  if (entry.isEncrypted()) return "is encrypted, which no member of an SEC archive is";
  if (total > bytesMax) return `brings the archive to more than ${bytesMax} unzipped bytes`;
  // Members may share zipped bytes. Each of them may pass the check that all together fail.
  return (
    bombIn(entry.uncompressedSize, entry.compressedSize, limits) ?? bombIn(total, fileSize, limits)
  );
}

const bombIn = (unzipped: number, zipped: number, { ratioMax, ratioFrom }: typeof archiveLimits) =>
  unzipped > ratioFrom && unzipped > ratioMax * zipped
    ? `unzips to more than ${ratioMax} times its size, as a zip bomb does`
    : undefined;

/** Yields the contents of a gzip file. @throws ImportFault if it is damaged, or compressed like a zip bomb. */
export async function* unzippedOf(file: string): AsyncGenerator<Buffer, void> {
  let unzipped = 0;
  try {
    const { size } = statSync(file);
    for await (const chunk of pipeline(createReadStream(file), createGunzip(), () => {})) {
      const bomb = bombIn((unzipped += (chunk as Buffer).length), size, archiveLimits);
      if (bomb !== undefined) throw new Error(`it ${bomb}`);
      yield chunk as Buffer;
    }
  } catch (error) {
    throw damaged(file, error);
  }
}

async function* contentsOf(shown: string, zip: ZipFile, entry: Entry): AsyncIterable<Buffer> {
  let sum = 0;
  try {
    // The stream itself checks the size that the archive declares.
    for await (const chunk of await zip.openReadStreamPromise(entry)) {
      sum = crc32(chunk as Buffer, sum);
      yield chunk as Buffer;
    }
    if (sum !== entry.crc32) throw new Error("its checksum does not match");
  } catch (error) {
    throw damaged(shown, error);
  }
}

/** Returns the fault for a file that cannot be unzipped, or an error of the system as it is. */
function damaged(shown: string, error: unknown): Error {
  const fault = error as NodeJS.ErrnoException;
  if (fault.syscall !== undefined) return fault;
  const [reason = ""] = fault.message.split(/\. |\n/);
  // yauzl itself refuses paths outside the archive.
  const [, name] =
    /^(?:invalid relative path|absolute path|invalid characters in fileName): (.*)/.exec(reason) ??
    [];
  return new ImportFault(
    shown,
    null,
    name === undefined
      ? `is damaged or cut off (${reason}); download it again`
      : `has a member with a path outside the archive, ${quoted(name)}; download it again`,
  );
}
