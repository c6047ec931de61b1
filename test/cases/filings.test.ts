import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { exitCodes } from "#cli/command-fault.ts";
import { openCatalogue } from "#datasets/catalogue.ts";
import { submission } from "../filings/submission.ts";
import { entryAt, type Members, unzipped, zipped } from "../filings/zip.ts";
import { allCommands } from "../support/all-commands.ts";
import { writeFilingFolder } from "../support/filing-folder.ts";
import { startService, type TestService } from "../support/service.ts";
import { type CaseOf, casesOf, inThisProcess } from "../support/still-well.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** Files of a folder; an archive as its members. */
type Files = Readonly<Record<string, Buffer | Members>>;
const adv = "ADV_Filing_Data_20260701_20260731.zip";
const advBase = "IA_ADV_Base_A_20260701_20260731.csv";

type Workplace = Awaited<ReturnType<typeof openWorkplace>>;

/** @param place folder for folders of filings. */
async function openWorkplace({ dataDir }: TestService, place: string) {
  const catalogue = openCatalogue(join(dataDir, "datasets"));
  const { start } = allCommands(dataDir);
  const first = join(place, "first");
  mkdirSync(first);
  await writeFilingFolder(first, { size: 6 });
  let folders = 0;
  /** Imports files from a folder of their own. */
  async function take(files: Files) {
    const folder = join(place, String(++folders));
    mkdirSync(folder);
    for (const [name, content] of Object.entries(files)) {
      const bytes = Buffer.isBuffer(content) ? content : await zipped(content as Members);
      writeFileSync(join(folder, name), bytes);
    }
    const before = catalogue.currentVersion();
    const { exitCode, out, err } = await start("import sec", folder, "--json");
    const report = out === "" ? null : JSON.parse(out);
    assert.equal(catalogue.currentVersion() !== before, report?.outcome === "published", out);
    return { exitCode, report, err, folder };
  }
  return {
    place,
    take,
    /** All that they say is there already, value for value. */
    async takeSame(files: Files) {
      const { exitCode, report, err } = await take(files);
      assert.equal(exitCode, exitCodes.done, err);
      assert.equal(report.outcome, "unchanged", JSON.stringify(report));
      return report.filings;
    },
    /** They are refused whole, in one line. @param words match what follows the folder. */
    async refuse(files: Files, words: RegExp) {
      const { exitCode, report, err, folder } = await take(files);
      assert.deepEqual([exitCode, report], [exitCodes.inputRefused, null], err);
      assert.ok(err.startsWith(`error: ${folder}/`), err);
      assert.match(err.slice(`error: ${folder}/`.length), words);
      assert.match(err, /^.*\n$/);
    },
    files: await readFiles(first),
  };
}

/** Reads files, with letters beyond ASCII in each, and a single quote in names of Form D. */
async function readFiles(folder: string): Promise<Record<string, Buffer | Members>> {
  const strange = (bytes: Buffer, isAdv = false) => {
    const text = bytes.toString().replaceAll("Holdings", "Holdíngs’");
    return Buffer.from(
      isAdv
        ? text.replaceAll("EQUITIES", "ÉQUITIES")
        : text.replaceAll("Kingsley", "Kíngsley’s").replaceAll("Meadowbrook", 'Meadow"brook'),
    );
  };
  const files: Record<string, Buffer | Members> = {
    "larch.txt": Buffer.from(submission("0001700001-26-000001").replaceAll("Larch", "Lárch’s")),
  };
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    files[name] = name.endsWith(".zip")
      ? mapped(await unzipped(path), (bytes) => strange(bytes, name === adv))
      : strange(readFileSync(path));
  }
  return files;
}

const mapped = (members: Members, change: (bytes: Buffer, name: string) => Buffer | string) =>
  Object.fromEntries(
    Object.entries(members).map(([name, bytes]) => [
      name,
      Buffer.from(change(Buffer.from(bytes as Buffer), name) as Buffer),
    ]),
  );

/** Changes every member of every archive, and every other file. */
const each = (files: Files, change: (text: string, name: string) => string | Buffer): Files =>
  Object.fromEntries(
    Object.entries(files).map(([name, content]) => [
      name,
      Buffer.isBuffer(content)
        ? Buffer.from(change(content.toString(), name) as Buffer)
        : mapped(content as Members, (bytes, member) => change(bytes.toString(), member)),
    ]),
  );

/** Changes the text of the member that ends so, in the first archive that has it. */
const one = (files: Files, ending: string, change: (text: string) => string): Files => {
  const [name, members] = Object.entries(files).find(
    ([, content]) =>
      !Buffer.isBuffer(content) && Object.keys(content).some((m) => m.endsWith(ending)),
  )!;
  return {
    ...files,
    [name]: mapped(members as Members, (bytes, member) =>
      member.endsWith(ending) ? change(bytes.toString()) : bytes,
    ),
  };
};

const linesOf = (text: string) => text.replace(/\r?\n$/, "").split(/\r?\n/);
const isTable = (name: string) => name.endsWith(".tsv");

async function filingCases(it: CaseOf, { files, place, takeSame, refuse }: Workplace) {
  await it("C73 · a filing, a table or an archive of the SEC that is cut off is refused whole, with its line where there is one; an error page and a gzip are left out by name", async () => {
    for (const name of ["2026q1_d.zip", adv]) {
      const zip = await zipped(files[name] as Members);
      const cut = zip.subarray(0, zip.length - 40);
      await refuse({ ...files, [name]: cut }, new RegExp(`^${name}: is damaged or cut off \\(`));
    }
    for (const table of ["FORMDSUBMISSION", "ISSUERS", "RELATEDPERSONS", "SIGNATURES"]) {
      const words = new RegExp(`!2025Q3_d/${table}\\.tsv:\\d+: the last row is cut off`);
      const broken = (text: string) => text.slice(0, text.trimEnd().lastIndexOf("\t") - 1);
      await refuse(one(files, `${table}.tsv`, broken), words);
    }
    const broken = (text: string) => text.slice(0, -60);
    await refuse(one(files, advBase, broken), /Base_A_\d+_\d+\.csv:\d+: the last row is cut off/);
    const whole = files["larch.txt"] as Buffer;
    const words = /^larch\.txt:\d+: ends before <\/edgarSubmission> and is cut off/;
    await refuse({ ...files, "larch.txt": whole.subarray(0, whole.length - 100) }, words);

    const { files_left_out: left } = await takeSame({
      ...files,
      "2026q3_d.zip": Buffer.from("<!DOCTYPE html>\n<html><h1>403 Forbidden</h1>"),
      "2026q4_d.zip": gzipSync("x"),
      "empty.txt": Buffer.alloc(0),
    });
    assert.deepEqual(
      left.map(({ file, reason }: any) => `${file.split("/").at(-1)} ${reason.split(/[;,]/)[0]}`),
      [
        "2026q3_d.zip is a web page",
        "2026q4_d.zip is compressed with gzip",
        "empty.txt is empty",
        "notes.txt is neither a filing nor another file that imports use",
      ],
    );
  });

  await it("C74 · marks, line ends of every kind, blank lines, line breaks within cells, lone quotes between tabs and quotes that are not doubled: every value of a filing is that of the reference", async () => {
    await takeSame(each(files, (text) => `\uFEFF${text}`));
    await takeSame(each(files, (text) => text.replaceAll(/\r?\n/g, "\r\n")));
    await takeSame(each(files, (text) => linesOf(text).join("\n")));
    await takeSame(
      each(files, (text, name) =>
        /\.(?:csv|tsv|ndjson)$/.test(name) ? linesOf(text).join("\n\n") : text,
      ),
    );
    const within = (text: string) =>
      text.replaceAll("of the Issuer", "of\nthe Issuer").replaceAll("MANAGING M", "MANAGING\nM");
    await takeSame(each(files, (text, name) => (/\.tsv$|^IA_/.test(name) ? within(text) : text)));
  });

  await it("C75 · columns of tables of the SEC count by their names: further and reordered ones change nothing, a renamed, missing or repeated one refuses the table", async () => {
    const turned = (text: string, name: string) =>
      linesOf(text)
        .map((line, i) => {
          const separator = isTable(name) ? "\t" : i === 0 ? "," : '","';
          const cells = line.replaceAll(/^"|"$/g, "").split(separator);
          const all = [i === 0 ? "FUTURE" : "x", ...cells.toReversed()].join(separator);
          return separator.length === 1 ? all : `"${all}"`;
        })
        .join("\n");
    const isTurned = (name: string) => isTable(name) || name === advBase;
    await takeSame(each(files, (text, name) => (isTurned(name) ? turned(text, name) : text)));
    const tables = [
      ["ISSUERS.tsv", "ENTITYNAME", /ISSUERS\.tsv:1: the header has no column ENTITYNAME, which/],
      [advBase, "1E1", /\.csv:1: has no column "1E1"/],
    ] as const;
    for (const [table, column, words] of tables) {
      await refuse(
        one(files, table, (text) => text.replace(column, `New ${column}x`)),
        words,
      );
      const twice = (text: string) =>
        text.replace(/[\t,][^\t,]+(?=\r?\n)/, (last) => `${last[0]}${column}`);
      await refuse(one(files, table, twice), new RegExp(`:1: .*column "?${column}"? twice`));
    }
  });

  await it("C76 · a filing that stands twice, in a second quarter, beside it or within one table, is counted as such, whether the two are equal or not, and the first stays", async () => {
    const [quarter, members] = Object.entries(files).find(([name]) => name.endsWith("_d.zip"))!;
    const table = (members as Members)["2025Q3_d/FORMDSUBMISSION.tsv"]!.toString();
    const { length } = linesOf(table).slice(1);
    const again = await takeSame({
      ...files,
      [`copy of ${quarter}`]: members!,
      "copy.zip": files[adv]!,
    });
    assert.ok(again.skipped.twice >= length, JSON.stringify(again.skipped));
    const rows = (text: string) =>
      text + linesOf(text).slice(1).join("\n").replaceAll("\tD\t", "\tD/A\t");
    const within = await takeSame(one(files, "2025Q3_d/FORMDSUBMISSION.tsv", rows));
    assert.deepEqual(within.skipped, { ...within.skipped, twice: length });
    const [accession] = /\d{10}-\d\d-\d{6}/.exec(table)!;
    const beside = { "beside.txt": Buffer.from(submission(accession)) };
    assert.equal((await takeSame({ ...files, ...beside })).skipped.twice, 1);
  });

  await it("C80 · bytes that are not UTF-8 are read as windows-1252, in every kind of file of the SEC: never as another character", async () => {
    const western = (text: string) => Buffer.from(text.replaceAll("’", "\x92"), "latin1");
    await takeSame(each(files, western));
    // One line of a table in another encoding, as where filers paste into forms.
    const pasted = (text: string) => {
      const [before = "", line = ""] = text.split(/^(.*’.*)$/m);
      const after = text.slice(before.length + line.length);
      return Buffer.concat([Buffer.from(before), western(line), Buffer.from(after)]);
    };
    const isPasted = (name: string) => isTable(name) || name === advBase;
    await takeSame(each(files, (text, name) => (isPasted(name) ? pasted(text) : text)));
  });

  await it("C82 · a hostile archive is refused by name within 30 seconds: nothing is written outside, and memory does not grow with what it claims", async () => {
    const quarter = files["2026q1_d.zip"] as Members;
    const [name = ""] = Object.keys(quarter).filter((member) => member.endsWith("ISSUERS.tsv"));
    const whole = await zipped(quarter);
    const patched = (change: (zip: Buffer, entry: number) => void) => {
      const zip = Buffer.from(whole);
      change(zip, entryAt(zip, name));
      return zip;
    };
    const outside = "../../../../x/ISSUERS.tsv".slice(0, name.length).padEnd(name.length, "x");
    const hostile: readonly (readonly [Buffer, RegExp])[] = [
      [
        Buffer.from(whole.toString("latin1").replaceAll(name, outside), "latin1"),
        /has a member with a path outside the archive, "\.\.\//,
      ],
      [await zipped(quarter, 0o120777), /is a symbolic link/],
      [patched((zip, at) => zip.writeUInt16LE(1, at + 8)), /ISSUERS\.tsv: is encrypted/],
      [
        patched((zip, at) => zip.writeUInt32LE(0xffff_fff0, at + 24)),
        /ISSUERS\.tsv: unzips to more than 200 times/,
      ],
      [
        patched((zip, at) => zip.writeUInt32LE(100, at + 24)),
        /ISSUERS\.tsv: is damaged or cut off \(.*too many bytes/,
      ],
      [
        await zipped({ ...quarter, "zeros.tsv": Buffer.alloc(64 * 2 ** 20) }),
        /zeros\.tsv: unzips to more than 200 times/,
      ],
      [
        patched((zip) => zip.writeUInt16LE(10_001, zip.lastIndexOf("PK\u0005\u0006") + 10)),
        /is one of 10001 members/,
      ],
    ];
    const before = [process.memoryUsage.rss(), performance.now()] as const;
    for (const [zip, words] of hostile) {
      await refuse({ ...files, "2026q1_d.zip": zip }, words);
    }
    assert.ok(process.memoryUsage.rss() - before[0] < 256 * 2 ** 20);
    assert.ok(performance.now() - before[1] < 30_000);
    const written = readdirSync(place, { recursive: true }).filter(
      (path) => !/^(?:first|\d+)(?:\/[^/]+)?$/.test(String(path)),
    );
    assert.deepEqual(written, []);
  });
}

test("public filings of the SEC that are imported, beside a service that runs", async (t) => {
  const service = await startService(t);
  const workplace = await openWorkplace(service, temporaryFolder(t));
  const { report, err } = await workplace.take(workplace.files);
  assert.equal(report?.outcome, "published", err);
  await filingCases(casesOf(t, inThisProcess(service)), workplace);
});
