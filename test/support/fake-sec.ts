/** A stand-in for the servers of the SEC: pages that name files, and the files. It can be slow, wrong or limiting. */
import { cpSync, mkdirSync, readFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import { basename, join } from "node:path";
import type { TestContext } from "node:test";
import { gzipSync } from "node:zlib";
import { firmFeed } from "../filings/firm-feed.ts";
import { oneFiling, quarterFiles, together } from "../filings/quarter.ts";
import { submission } from "../filings/submission.ts";
import { zipped } from "../filings/zip.ts";
import { noon } from "./control.ts";
import { writeFilingFolder } from "./filing-folder.ts";
import { listenFor } from "./ports.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** What a request gets instead of what is there. */
export interface Behaviour {
  status?: number;
  headers?: Record<string, string>;
  body?: string;
  /** True to end the connection in the middle of the body. */
  isCut?: boolean;
  /** Called in the middle of a body that is cut, before its connection ends. */
  onHalf?: () => void;
  /** True to give no answer. */
  isSilent?: boolean;
}

const quarterFolder = "/files/structureddata/data/form-d-data-sets";
const daily = "/Archives/edgar/daily-index";
const foia = "/reports/foia";
const feeds = "/reports/CompilationReports";

export type FakeSec = Awaited<ReturnType<typeof startFakeSec>>;

/** Starts a server without files, with a clock that only waiting moves on. It ends with the test. */
export async function startFakeSec(t: TestContext) {
  const files = new Map<string, string | Buffer>();
  const asked: { path: string; agent: string; at: number }[] = [];
  let time = noon;
  let behave: (path: string) => Behaviour | undefined | void = () => {};

  const names = (folder: string) =>
    [...files.keys()]
      .filter((path) => path.startsWith(`${folder}/`))
      .map((path) => path.slice(folder.length + 1));
  const listing = (folder: string) => {
    const item = new Set(names(folder).map((name) => name.split("/")[0]!));
    return JSON.stringify({ directory: { item: Array.from(item, (name) => ({ name })) } });
  };
  const pages: Record<string, () => string> = {
    "/data-research/sec-markets-data/form-d-data-sets": () =>
      `<html><a href="/about">About</a>${names(quarterFolder)
        .map(
          (name) => `<a class="l" href="https://www.sec.gov${quarterFolder}/${name}">${name}</a>`,
        )
        .join("\n")}</html>`,
    [`${foia}/reports_metadata.json`]: () => {
      const years = Object.groupBy(names(`${foia}/advFilingData`), (name) => name.slice(0, 4));
      const sections = Object.entries(years).map(([year, all]) => [
        year,
        { files: all!.map((name) => ({ fileName: basename(name), year })) },
      ]);
      const advFilingData = { sectionDisplayName: "Data", ...Object.fromEntries(sections) };
      return JSON.stringify({ advFilingData, advW: {} });
    },
    [`${feeds}/CompilationReports.manifest.json`]: () =>
      JSON.stringify({ files: names(feeds).map((name) => ({ name })) }),
  };
  const answer = (path: string): string | Buffer | undefined =>
    files.get(path) ??
    pages[path]?.() ??
    (path.startsWith(daily) && path.endsWith("/index.json")
      ? listing(path.slice(0, -"/index.json".length))
      : undefined);

  const server = createServer(({ url = "/", headers }, response: ServerResponse) => {
    asked.push({ path: url, agent: headers["user-agent"]!, at: time });
    const { isSilent, isCut, onHalf, ...other } = behave(url) ?? {};
    if (isSilent === true) return;
    const found = answer(url);
    const body = Buffer.from(other.body ?? found ?? "not found");
    response.writeHead(other.status ?? (found === undefined ? 404 : 200), {
      "content-length": body.length,
      ...other.headers,
    });
    if (isCut !== true) return void response.end(body);
    response.write(body.subarray(0, body.length / 2), () => {
      onHalf?.();
      response.destroy();
    });
  });
  const port = await listenFor(t, server);

  return {
    origin: `http://127.0.0.1:${port}`,
    asked,
    /** Paths that were asked for since the last call of this. */
    news: () => asked.splice(0).map(({ path }) => path),
    now: () => time,
    wait: async (milliseconds: number) => void (time += milliseconds),
    /** Sets what each request gets, by its path; undefined for what is there. */
    behave(next: typeof behave): void {
      behave = next;
    },
    addQuarter: (name: string, zip: Buffer) => files.set(`${quarterFolder}/${name}`, zip),
    addMonth: (name: string, zip: Buffer) => files.set(`${foia}/advFilingData/${name}`, zip),
    /** @param day such as `11_20_2026`. */
    addFeed(day: string): void {
      const [month, date, year] = day.split("_");
      const firm = { Info: 'FirmCrdNb="9" LegalNm="Quarry"', Filing: 'Dt="2026-11-01"' };
      const feed = gzipSync(firmFeed(`${year}-${month}-${date}`, [firm]));
      files.set(`${feeds}/IA_FIRM_SEC_Feed_${day}.xml.gz`, feed);
    },
    /** Adds the index of a day with single filings of Form D. Other forms stand beside them. */
    addDay(day: string, accessions: readonly string[]): void {
      const quarter = Math.ceil(Number(day.slice(4, 6)) / 3);
      const row = (form: string, path: string) =>
        `${form.padEnd(12)}${"Larch Street  & Co, LLC".padEnd(62)}${"1700001".padEnd(12)}${day}    ${path.padEnd(52)}\n`;
      const rows = accessions.map((accession) => {
        const path = `edgar/data/1700001/${accession}.txt`;
        files.set(`/Archives/${path}`, submission(accession));
        return row("D", path);
      });
      const other = row("10-K", "edgar/data/1/0000000001-26-000001.txt");
      const head = `Description:  Daily Index\n\nForm Type   Company Name  CIK  Date Filed  File Name\n${"-".repeat(141)}\n`;
      files.set(
        `${daily}/${day.slice(0, 4)}/QTR${quarter}/form.${day}.idx`,
        [head, other, ...rows].join(""),
      );
    },
    /** Takes a file away, or puts another in its place. */
    replace(path: string, body?: string): void {
      if (body === undefined) files.delete(path);
      else files.set(path, body);
    },
  };
}

/** Returns the archive of a quarter whose filings are only these. */
export const quarterOf = (accessions: readonly string[]): Promise<Buffer> =>
  zipped(quarterFiles(together(...accessions.map((one) => oneFiling(one, `Fund ${one}, LP`)))));

/** Number of an invented single filing. */
export const filing = (number: number) => `0001700001-26-${String(number).padStart(6, "0")}`;

/** The files that a first sync with `--since 2025q3` leaves in its downloads. */
export const firstFiles: readonly string[] = [
  "2025q3_d.zip",
  "2025q4_d.zip",
  "2026q1_d.zip",
  "2026q2_d.zip",
  "ADV_Filing_Data_20260701_20260731.zip",
  "IA_FIRM_SEC_Feed_11_20_2026.xml.gz",
  ...[1, 2, 3].map((number) => `filings/${filing(number)}.txt`),
  "filings/form.20260630.idx",
  "filings/form.20260701.idx",
  "filings/form.20260702.idx",
];

/** The same once a corrected quarter has the first filing, and there is a feed of the next day. */
export const laterFiles: readonly string[] = firstFiles
  .filter((name) => !name.includes(filing(1)))
  .map((name) => name.replace("2026q2_d", "2026q2_d_0").replace("11_20", "11_21"));

/** Starts a server with four quarters, a month of Form ADV, two feeds and three single filings, and a folder for them. */
export async function secWorld(t: TestContext) {
  const sec = await startFakeSec(t);
  const place = temporaryFolder(t);
  const [written, folder] = [join(place, "written"), join(place, "sec")];
  mkdirSync(written);
  mkdirSync(folder);
  await writeFilingFolder(written, { size: 4 });
  for (const quarter of ["2025q3", "2025q4", "2026q1", "2026q2"])
    sec.addQuarter(`${quarter}_d.zip`, readFileSync(join(written, `${quarter}_d.zip`)));
  const month = "ADV_Filing_Data_20260701_20260731.zip";
  sec.addMonth(`2026/${month}`, readFileSync(join(written, month)));
  sec.addMonth(
    "2025/ADV_Filing_Data_20250501_20250531.zip",
    Buffer.from("too old to be asked for"),
  );
  for (const name of ["corrections.ndjson", "zip-county.csv", "county-cbsa.csv"])
    cpSync(join(written, name), join(folder, name));
  for (const day of ["11_19_2026", "11_20_2026"]) sec.addFeed(day);
  sec.addDay("20260615", [filing(9)]);
  sec.addDay("20260630", [filing(1)]);
  sec.addDay("20260701", [filing(2)]);
  sec.addDay("20260702", [filing(3)]);
  return { sec, folder };
}
