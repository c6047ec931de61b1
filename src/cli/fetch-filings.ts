/** Fetches from the SEC's servers the files that a folder of public filings lacks. */
import {
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { finished, pipeline } from "node:stream/promises";
import { setTimeout as waitFor } from "node:timers/promises";
import { accessionIn } from "#filings/cells.ts";
import { advMemberOf } from "#filings/adv.ts";
import { openArchive, unzippedOf } from "#filings/folder.ts";
import { quarterTableOf } from "#filings/form-d.ts";
import { syncPath } from "#store/whole-file.ts";
import type { CliContext } from "./command.ts";
import { CommandFault, exitCodes, usageFault } from "./command-fault.ts";

/** The only built-in addresses. All others are made from these and from their answers. */
const beginnings = {
  quarters: "https://www.sec.gov/data-research/sec-markets-data/form-d-data-sets",
  archives: "https://www.sec.gov/Archives/",
  dailyIndex: "https://www.sec.gov/Archives/edgar/daily-index/",
  months: "https://reports.adviserinfo.sec.gov/reports/foia/reports_metadata.json",
  feeds:
    "https://reports.adviserinfo.sec.gov/reports/CompilationReports/CompilationReports.manifest.json",
};

type Source = ReturnType<typeof openSource>;

/** Shortest time between the starts of two requests, in ms: at most 8 a second. The SEC allows 10. */
const spacingMilliseconds = 125;
/** Pause after the first failed request, in ms. It doubles with each failure. The server may ask for a longer one. */
const pauseMilliseconds = 1000;
/** Time for which a failed request to one address is repeated, in ms. */
const patienceMilliseconds = 600_000;
/** Longest time to receive a whole answer, in ms. Node itself gives up after 5 minutes without a byte. */
const answerMilliseconds = 1_800_000;
/** Statuses of a server that limits requests or is unavailable for a while. */
const passing = [403, 429, 503];

/** Opens a source of files. @param origin scheme and host to use instead of the SEC's; undefined for the SEC's own. */
export function openSource(
  contact: string,
  origin: string | undefined,
  { now, wait = waitFor, reportError }: CliContext,
) {
  const headers = { "user-agent": `gp-records (${contact})`, "accept-encoding": "identity" };
  let spaced: Promise<unknown> = Promise.resolve();
  /**
   * Requests a file until the server answers, and returns the result of `take`. Requests it once more if `take` fails,
   * because the answer may be cut off. `take` also gets a 404 for a `.txt` file, such as a withdrawn filing.
   * @param what description of the expected answer, for messages.
   * @throws CommandFault `busy` if the server is unavailable for ten minutes or names a longer wait, `inputRefused` if
   *   it answers another status or `take` fails twice. Throws a system error of `take` at once.
   */
  return async <T>(url: string, what: string, take: (answer: Response) => Promise<T>) => {
    const asked = new URL(new URL(url).pathname, origin ?? url);
    const until = now() + patienceMilliseconds;
    let isSecond = false;
    for (let pause = pauseMilliseconds; ; pause *= 2) {
      await spaced;
      spaced = wait(spacingMilliseconds);
      const signal = AbortSignal.timeout(answerMilliseconds);
      const answer = await fetch(asked, { headers, signal }).catch((error: Error) => error);
      let [why, delay] = ["", pause];
      let remedy = "Run the command again in an hour";
      if (answer instanceof Error) {
        why = `did not answer (${causeOf(answer)})`;
        remedy =
          "Check this machine's connection and --origin, if given, then run the command again";
      } else if (answer.ok || (answer.status === 404 && url.endsWith(".txt")))
        try {
          return await take(answer);
        } catch (error) {
          if ((error as NodeJS.ErrnoException).syscall !== undefined) throw error;
          if (isSecond)
            throw changed(
              asked.href,
              `did not return ${what} in two attempts (${causeOf(error as Error)})`,
            );
          isSecond = true;
          continue;
        }
      else {
        why = `answered ${answer.status}`;
        if (!passing.includes(answer.status)) throw changed(asked.href, why);
        const after = answer.headers.get("retry-after") ?? "";
        const asksFor = /^\d{1,9}$/.test(after) ? Number(after) * 1000 : Date.parse(after) - now();
        delay = Math.max(pause, asksFor || 0);
        if (delay > patienceMilliseconds)
          remedy = `Run the command again after ${new Date(now() + delay).toISOString()}, the time that the server names`;
      }
      if (now() + delay > until)
        throw new CommandFault(
          exitCodes.busy,
          `${asked.href} ${why}. Nothing was published. ${remedy}: it resumes where it stopped.`,
        );
      reportError(`warning: ${asked.href} ${why}; trying again in ${Math.ceil(delay / 1000)} s.`);
      await wait(delay);
    }
  };
}

/** Largest archive and largest other answer, in bytes. Real ones are at most a tenth as large. */
const [archiveBytesMax, pageBytesMax] = [4 * 1024 ** 3, 64 * 1024 ** 2];

/** Yields an answer's bytes. @throws Error if there are more than `max`, which could fill the memory or the disk. */
async function* bounded({ body }: Response, max: number): AsyncGenerator<Uint8Array, void> {
  let left = max;
  for await (const part of body!) {
    if ((left -= part.length) < 0) throw new Error(`it has more than ${max} bytes`);
    yield part;
  }
}

/** Reads a page. @param take throws if the page is not as expected. */
const read = <T>(source: Source, url: string, what: string, take: (page: string) => T) =>
  source(url, what, async (answer) => {
    const parts = await Array.fromAsync(bounded(answer, pageBytesMax));
    return take(new TextDecoder().decode(Buffer.concat(parts)));
  });

/** Returns the error for a status, page or file that is not as expected. */
const changed = (url: string, what: string) =>
  new CommandFault(
    exitCodes.inputRefused,
    `${url} ${what}; nothing was published. Check --origin, if given, and run the command again tomorrow. If that does not help, the site may have changed: look for a newer version of gp-records.`,
  );

const causeOf = ({ message, cause }: Error): string =>
  cause instanceof Error ? cause.message || (cause as NodeJS.ErrnoException).code! : message;

/** Saves a file, whole or not at all. Returns its size in bytes, or null for a 404. @throws Error if it is unusable. */
async function save(answer: Response, path: string): Promise<number | null> {
  if (answer.status === 404) return null;
  const part = `${path}.part`;
  const max = /\.(?:zip|gz)$/.test(path) ? archiveBytesMax : pageBytesMax;
  await pipeline(bounded(answer, max), createWriteStream(part, { flush: true }));
  if (path.endsWith(".zip")) {
    const { members, close } = await openArchive(part);
    try {
      for (const { open } of members) await finished(Readable.from(open()).resume());
    } finally {
      close();
    }
    if (!members.some(({ name }) => quarterTableOf(name) ?? advMemberOf(name)))
      throw new Error("it has no table of Form D or Form ADV");
  } else if (path.endsWith(".gz")) await finished(Readable.from(unzippedOf(part)).resume());
  else if (!/<\/SEC-DOCUMENT>|^-{20}/m.test(readFileSync(part, "latin1")))
    throw new Error("a part is missing");
  renameSync(part, path);
  syncPath(dirname(path));
  return statSync(path).size;
}

const quarterShape = /^(\d{4}q[1-4])_d(?:_\d+)?\.zip$/;
const feedShape = /^IA_FIRM_SEC_Feed_(\d\d)_(\d\d)_(\d{4})\.xml\.gz$/;
const folderShape = /\/daily-index\/(\d{4})(?:\/QTR\d)?$/;
const indexShape = /^form\.(\d{8})\.idx$/;

/** Fetches files that a folder lacks, and removes those that newer ones replace. Changes only its `downloads`. */
export async function bringUpToDate(
  folder: string,
  since: string | undefined,
  source: Source,
  show: (count: number, what: string) => void,
) {
  const downloads = join(folder, "downloads");
  const filings = join(downloads, "filings");
  // `missing` lists filings that an index names but the server does not have.
  const fetched = { files: 0, bytes: 0, removed: 0, missing: [] as string[] };
  const bring = async (url: string, into = downloads): Promise<string> => {
    const path = join(into, basename(url));
    if (existsSync(path)) return path;
    const bytes = await source(url, `a valid ${path}`, (answer) => save(answer, path));
    if (bytes === null) fetched.missing.push(url);
    else fetched.files++;
    fetched.bytes += bytes ?? 0;
    show(fetched.files, "files fetched");
    return path;
  };
  // A folder made for a mistyped path would be published without the corrections.
  if (!existsSync(folder))
    throw usageFault(`There is no folder ${folder}. Check the path, or make the folder.`);
  mkdirSync(filings, { recursive: true });
  for (const place of [downloads, filings]) remove(place, (name) => name.endsWith(".part"));

  const listed = await read(source, beginnings.quarters, "a page of quarters", quartersIn);
  const known = [...listed.keys()];
  const newest = known.at(-1)!;
  const from = since ?? known.at(-4) ?? known[0]!;
  if (from > newest)
    throw usageFault(
      `--since ${from} is after the newest quarter, ${newest}. Name that quarter or an earlier one.`,
    );
  const quarters: string[] = [];
  for (const quarter of known.filter((one) => one >= from)) {
    const path = await bring(listed.get(quarter)!);
    const isOfQuarter = (name: string) => quarterShape.exec(name)?.[1] === quarter;
    fetched.removed += remove(downloads, isOfQuarter, path);
    quarters.push(path);
  }
  const months = await read(source, beginnings.months, "a list of Form ADV data", monthsIn);
  for (const { url, lastDay } of months) if (lastDay >= dayIn(from, 1, "01")) await bring(url);
  const feed = await bring(await read(source, beginnings.feeds, "a list of feeds", newestFeedIn));
  fetched.removed += remove(downloads, (name) => feedShape.test(name), feed);

  // Filings made late on a quarter's last day are in the next quarter's archive.
  const after = dayIn(newest, 3, "20");
  const named = new Map<string, string>();
  for (const url of await indexesAfter(after, source))
    for (const line of readFileSync(await bring(url, filings), "latin1").split("\n")) {
      const [, path = ""] = /^D(?:\/A)?\s.*\s(edgar\/data\/\S+\.txt)\s*$/.exec(line) ?? [];
      const accession = accessionIn(path);
      if (accession !== null) named.set(`${accession}.txt`, beginnings.archives + path);
    }
  const replaced = new Set<string>();
  const filed = new Set([...named.keys(), ...readdirSync(filings)]);
  for (const quarter of quarters)
    for await (const accession of accessionsIn(quarter))
      if (filed.has(`${accession}.txt`)) replaced.add(`${accession}.txt`);
  const isOld = (name: string) =>
    replaced.has(name) || (indexShape.exec(name)?.[1] ?? "9") <= after;
  fetched.removed += remove(filings, isOld);
  for (const [name, url] of named) if (!replaced.has(name)) await bring(url, filings);
  return fetched;
}

/** Removes a folder's files that `isOld` selects by name, except `but`. Returns the number of removed files. */
function remove(folder: string, isOld: (name: string) => boolean, but = ""): number {
  const old = readdirSync(folder).filter((name) => isOld(name) && name !== basename(but));
  for (const name of old) rmSync(join(folder, name));
  return old.length;
}

/** Returns a day of the first, second or third month of a quarter, such as `20240331`. */
const dayIn = (quarter: string, month: number, day: string) =>
  `${quarter.slice(0, 4)}${String((Number(quarter[5]) - 1) * 3 + month).padStart(2, "0")}${day}`;

/** Returns the address of an archive for each quarter on a page, oldest first. A correction replaces the original. */
function quartersIn(page: string): Map<string, string> {
  const pathOf = (href: string) => URL.parse(href, beginnings.quarters)?.pathname ?? "/";
  const hrefs = page.matchAll(/\bhref\s*=\s*["']([^"']+)/gi);
  const urls = Array.from(hrefs, ([, href]) => new URL(pathOf(href!), beginnings.quarters).href);
  const archives = urls.filter((url) => quarterShape.test(basename(url)));
  if (archives.length === 0) throw new Error("it has no link to a quarter");
  // Puts 2024q1_d_0.zip after 2024q1_d.zip, which it corrects, and 2024q1_d_10.zip after 2024q1_d_2.zip.
  const placeOf = (url: string) =>
    basename(url).replace(/\d+(?=\.zip$)/, (correction) => correction.padStart(9, "0"));
  archives.sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));
  return new Map(archives.map((url) => [quarterShape.exec(basename(url))![1]!, url]));
}

function monthsIn(page: string): { url: string; lastDay: string }[] {
  const { advFilingData = {} } = JSON.parse(page) as {
    advFilingData?: Record<string, { files?: { fileName: string }[] }>;
  };
  const months = Object.entries(advFilingData).flatMap(([year, { files = [] }]) =>
    files.map(({ fileName }) => ({
      url: new URL(`advFilingData/${year}/${fileName}`, beginnings.months).href,
      lastDay: /(\d{8})(?:_\d+)?\.zip$/.exec(fileName)?.[1] ?? `${year}1231`,
    })),
  );
  if (months.length === 0) throw new Error("it lists no monthly archive");
  return months;
}

function newestFeedIn(page: string): string {
  const { files } = JSON.parse(page) as { files: { name: string }[] };
  const feeds = files.map(({ name }) => name).filter((name) => feedShape.test(name));
  if (feeds.length === 0) throw new Error("it lists no feed of firms");
  const dayOf = (name: string) => name.replace(feedShape, "$3$1$2");
  feeds.sort((a, b) => (dayOf(a) < dayOf(b) ? -1 : 1));
  return new URL(feeds.at(-1)!, beginnings.feeds).href;
}

/** Returns the addresses of EDGAR's daily indexes after a day. @throws CommandFault if its folders list none. */
async function indexesAfter(day: string, source: Source): Promise<string[]> {
  const found: string[] = [];
  const walk = async (folder: string) => {
    const names = await read(source, `${folder}index.json`, "a listing", (page) => {
      const { directory } = JSON.parse(page) as { directory: { item: { name: string }[] } };
      return directory.item.map(({ name }) => name);
    });
    for (const name of names)
      if ((indexShape.exec(name)?.[1] ?? "") > day) found.push(folder + name);
      else if ((folderShape.exec(folder + name)?.[1] ?? "") >= day.slice(0, 4))
        await walk(`${folder}${name}/`);
  };
  await walk(beginnings.dailyIndex);
  if (found.length === 0) throw changed(beginnings.dailyIndex, `has no index after ${day}`);
  return found;
}

async function* accessionsIn(quarter: string): AsyncGenerator<string, void> {
  const { members, close } = await openArchive(quarter);
  try {
    const table = members.find(({ name }) => quarterTableOf(name) === "FORMDSUBMISSION");
    for await (const line of createInterface({ input: Readable.from(table?.open() ?? []) })) {
      const accession = accessionIn(line.split("\t", 1)[0]!);
      if (accession !== null) yield accession;
    }
  } finally {
    close();
  }
}
