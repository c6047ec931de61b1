import assert from "node:assert/strict";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { test } from "node:test";
import { ZipFile } from "yazl";
import { startProgram } from "../../bench/program.ts";
import { residentBytes } from "../../bench/servers.ts";
import { seededRandom } from "../support/awkward/random.ts";
import { advLayouts } from "../filings/adv-tables.ts";
import { writeFilingFolder } from "../support/filing-folder.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const residentBytesMax = 512 * 1024 ** 2;

const brokers = "FilingID,ReferenceID,Prime Broker,SEC Number,City,State,Country";

/** Cells of the many columns that are not read. */
const others = {
  base: Array.from({ length: 220 }, (_, i) => `Item ${i}`),
  funds: Array.from({ length: 45 }, (_, i) => `Question ${i}`),
};

/** Writes an archive of yearly filings of 16,000 advisers, member by member, and returns its unzipped bytes. */
async function writeAdvArchive(path: string): Promise<number> {
  const random = seededRandom(1);
  const zip = new ZipFile();
  let bytes = 0;
  function* member(header: string, rowsOf: (adviser: number, year: number) => string[]) {
    let text = `${header}\r\n`;
    for (let year = 2023; year <= 2026; year++)
      for (let adviser = 1; adviser <= 16_000; adviser++) {
        for (const row of rowsOf(adviser, year)) text += `"${row.replaceAll("|", '","')}"\r\n`;
        if (text.length < 1 << 16) continue;
        bytes += text.length;
        yield Buffer.from(text);
        text = "";
      }
    bytes += text.length;
    yield Buffer.from(text);
  }
  const add = (name: string, ...of: Parameters<typeof member>) =>
    zip.addReadStreamLazy(`${name}_20230101_20261231.csv`, { compressionLevel: 1 }, (done) =>
      done(null, Readable.from(member(...of), { objectMode: false })),
    );
  const filing = (adviser: number, year: number) => `${year}${adviser}`;
  const nameOf = (adviser: number) =>
    `Adviser Number ${adviser} ${adviser % 7 === 0 ? "Realty" : "Wealth"}`;
  const times = (count: number, row: (i: number) => string) =>
    Array.from({ length: count }, (_, i) => row(i));
  const fundsOf = (adviser: number) => adviser % 13;
  const wide = (header: string, more: readonly string[]) => [header, ...more].join();
  const answers = others.base
    .map((_, i) => (i % 3 === 0 ? "N" : i % 7 === 0 ? String(i) : "Y"))
    .join("|");
  const questions = others.funds.map((_, i) => (i % 4 === 0 ? "N" : "Cayman Islands")).join("|");
  add("IA_ADV_Base_A", wide(advLayouts.ADV_Base_A, others.base), (adviser, year) => [
    `${filing(adviser, year)}|10/2021|03/30/${year} 04:20:33 PM|${nameOf(adviser)}, LLC|${nameOf(adviser)}|N|${nameOf(adviser)}, LLC|${nameOf(adviser)}||801-${adviser}|${adviser}|${adviser} Main Street|Suite 100|Boston|MA|United States|02110||||${random.between(50, 900)}000000|Y|${answers}`,
  ]);
  add("IA_Schedule_A_B", advLayouts.Schedule_A_B, (adviser, year) =>
    times(
      10,
      (i) =>
        `${filing(adviser, year)}|Y|A|OWNER${adviser}X${i}, PAT${i}, MIDDLE|I||MANAGING MEMBER AND CHIEF OFFICER ${i}|01/20${10 + i}|C|Y|N|${adviser}${i}`,
    ),
  );
  add("IA_Schedule_D_7B1", wide(advLayouts.Schedule_D_7B1, others.funds), (adviser, year) =>
    times(
      fundsOf(adviser),
      (i) =>
        `${filing(adviser, year)}|${nameOf(adviser)} Partners Fund ${i}, LP|805-${adviser}${i}|${year}${adviser}${i}|DE|United States|Y|N|N|N|||${adviser % 7 === 0 ? "Real Estate Fund" : "Private Equity Fund"}||${random.between(5, 90)}000000|50000|${questions}`,
    ),
  );
  add("IA_Schedule_D_7B1A3a", advLayouts.Schedule_D_7B1A3a, (adviser, year) =>
    times(
      fundsOf(adviser) * 2,
      (i) => `${filing(adviser, year)}|${year}${adviser}${i >> 1}|${nameOf(adviser)} GP ${i}, LLC`,
    ),
  );
  add("IA_Schedule_D_7B1A22", advLayouts.Schedule_D_7B1A22, (adviser, year) =>
    times(
      fundsOf(adviser),
      (i) => `${filing(adviser, year)}|${year}${adviser}${i}|021-${adviser}${i}`,
    ),
  );
  add("IA_Schedule_D_7B1A24", brokers, (adviser, year) =>
    times(
      fundsOf(adviser) * 12,
      (i) =>
        `${filing(adviser, year)}|${year}${adviser}${Math.floor(i / 12)}|PRIME BROKER AND CUSTODIAN OF SECURITIES NUMBER ${i} & COMPANY LLC|8-${i}|NEW YORK|NY|United States`,
    ),
  );
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(path));
  return bytes;
}

test("a year of Form D and a gigabyte of Form ADV take less than 512 MB, and evidence at most 40 % of the dataset", async (t) => {
  const [folder, dataDir] = [temporaryFolder(t), temporaryFolder(t)];
  await writeFilingFolder(folder, { size: 3200 });
  const bytes = await writeAdvArchive(join(folder, "adv-filing-data-20230101-20261231.zip"));
  assert.ok(bytes >= 1e9, `only ${bytes} bytes`);

  const { pid, ended } = startProgram(["import", "sec", folder, "--json"], { dataDir });
  let peak = 0;
  const timer = setInterval(() => (peak = residentBytes(pid, "VmHWM") || peak), 100);
  const { exitCode, out, err } = await ended;
  clearInterval(timer);
  assert.equal(exitCode, 0, err);
  t.diagnostic(`${Math.round(peak / 1024 ** 2)} MiB resident`);
  assert.ok(peak > 0 && peak < residentBytesMax, `${peak} bytes`);

  const { filings, version } = JSON.parse(out);
  assert.ok(filings.form_d >= 56_000, `only ${filings.form_d} filings of Form D`);
  assert.ok(filings.form_adv >= 64_000, `only ${filings.form_adv} filings of Form ADV`);
  using db = new DatabaseSync(join(dataDir, "datasets", `${version}.sqlite`), { readOnly: true });
  const sizes = db.prepare(
    "select sum(pgsize) as all_bytes, sum(pgsize) filter (where name like '%evidence%') as evidence from dbstat",
  );
  const { all_bytes, evidence } = sizes.get() as Record<string, number>;
  const share = evidence! / all_bytes!;
  t.diagnostic(`evidence is ${Math.round(share * 100)} % of the dataset`);
  assert.ok(share > 0 && share <= 0.4, `${share}`);
});
