import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { gzipSync } from "node:zlib";
import { exitCodes } from "#cli/command-fault.ts";
import { type Catalogue, openCatalogue } from "#datasets/catalogue.ts";
import { slowReaderBounds } from "#http/connections.ts";
import { allCommands } from "../support/all-commands.ts";
import { commandInOwnProcess } from "../support/command-line.ts";
import { eventually } from "../support/eventually.ts";
import { linesOf } from "../support/json-lines.ts";
import { roomy } from "../support/own-process.ts";
import { ask, requestText } from "../support/raw-client.ts";
import { startService, type TestService } from "../support/service.ts";
import { type CaseOf, casesOf, inThisProcess, settles } from "../support/still-well.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

interface ImportOutcome {
  exitCode: number | null;
  /** The report; null where the whole file was refused. */
  report: any;
  err: string;
  file: string;
}

type Workplace = ReturnType<typeof openWorkplace>;

/** @param folder for the files. */
function openWorkplace(dataDir: string, folder: string) {
  const catalogue = openCatalogue(join(dataDir, "datasets"));
  const { start } = allCommands(dataDir);
  let files = 0;
  const write = (content: string | Uint8Array, ending: string) => {
    const path = join(folder, `${++files}.${ending}`);
    writeFileSync(path, content);
    return path;
  };
  /** Whatever it says, the current dataset is another one only where it says that. */
  async function importFile(format: string, file: string, args: readonly string[]) {
    const before = catalogue.currentVersion();
    const { exitCode, out, err } = await start("import", format, file, ...args, "--json");
    const report = out === "" ? null : JSON.parse(out);
    assert.equal(catalogue.currentVersion() !== before, report?.outcome === "published", out);
    return { exitCode, report, err, file };
  }
  const lines = (source: string, content: string | Uint8Array, ...options: string[]) =>
    importFile("ndjson", write(content, "ndjson"), ["--source", source, ...options]);
  const table = (
    source: string,
    content: string | Uint8Array,
    mapping: object,
    ...options: string[]
  ) =>
    importFile("csv", write(content, "csv"), [
      "--map",
      write(JSON.stringify(mapping), "json"),
      "--source",
      source,
      ...options,
    ]);
  return { catalogue, importFile, write, lines, table };
}

const gp = (id: string, more: object = {}) => ({ record: "gp", id, name: `GP ${id}`, ...more });

/** GPs with an id, a name and these fields. */
const gpTable = (fields: object = {}, members: object = {}) => ({
  records: [{ record: "gp", id: "Id", fields: { name: "Name", ...fields } }],
  ...members,
});

function assertPublished({ exitCode, report, err }: ImportOutcome): any {
  assert.equal(exitCode, exitCodes.done, err);
  assert.equal(report.outcome, "published", JSON.stringify(report));
  return report;
}

/** Everything it holds is there already, value for value. */
function assertSame({ exitCode, report, err }: ImportOutcome): any {
  assert.equal(exitCode, exitCodes.done, `${err} ${JSON.stringify(report?.rejections)}`);
  assert.deepEqual([report.outcome, report.version], ["unchanged", null], JSON.stringify(report));
  return report;
}

/** The whole file is refused in one line with its name. @param words match what follows the name. */
function assertFileRefused({ exitCode, report, err, file }: ImportOutcome, words: RegExp) {
  assert.equal(exitCode, exitCodes.inputRefused, err);
  assert.equal(report, null);
  assert.ok(err.startsWith(`error: ${file}:`), err);
  assert.match(err.slice(`error: ${file}`.length), words);
  assert.match(err, /^.*\n$/);
}

/** Single lines are rejected, so nothing is published. @returns them as `line field`. */
function rejectedLines({ exitCode, report, err, file }: ImportOutcome): string[] {
  assert.equal(exitCode, exitCodes.inputRefused, JSON.stringify(report));
  assert.deepEqual([report.outcome, report.refusal], ["refused", "rejections"]);
  assert.match(err, /^error: \d+ of \d+ lines? w.* rejected; nothing was published\..*\n$/);
  assert.equal(report.read, report.accepted + report.rejected);
  for (const rejection of report.rejections) {
    assert.equal(rejection.file, file);
    assert.match(rejection.reason, /\w+ \w+/);
  }
  return report.rejections.map(
    (one: { line: number; field: string }) => `${one.line} ${one.field}`,
  );
}

const page = "<!DOCTYPE html>\n<html><body><h1>503 Service Unavailable</h1></body></html>\n";

/** Tables as they come: damaged, oddly written, with other columns and other bytes. */
async function tableCases(it: CaseOf, { lines, table }: Workplace): Promise<void> {
  await it("C73 · a truncated CSV, a cut last line, an error page, a gzip and a zip are refused whole, with the line where there is one (only `import sec` reads archives)", async () => {
    const mapping = gpTable({ hq_city: "City" });
    const whole = "Id,Name,City\n1,Acme,Reno\n2,Birch,Elko\n";
    assertPublished(await table("c73", whole, mapping));
    for (const [content, words] of [
      [whole.slice(0, -6), /^:3: .*the file may be cut off/],
      [whole.slice(0, -8), /^:3: .*the file may be cut off/],
      [`${whole}3,"Cedar,\n4,Elm\n`, /^:4: .*never closed; the file may be cut off/],
      [page, /^: .*a web page/],
      [gzipSync(whole), /^: .*gzip; unpack it first/],
      [gzipSync(whole).subarray(0, 15), /^: .*gzip; unpack it first/],
      ["PK\u0003\u0004rest", /^: .*a zip archive or a spreadsheet/],
      [Buffer.from("d0cf11e0a1b11ae1", "hex"), /^: .*a zip archive or a spreadsheet/],
    ] as const)
      assertFileRefused(await table("c73", content, mapping), words);
    for (const [content, words] of [
      [page, /^: .*a web page/],
      [gzipSync(linesOf(gp("1"))).subarray(0, 15), /^: .*gzip/],
    ] as const)
      assertFileRefused(await lines("c73", content), words);
    const cut = await lines("c73", linesOf(gp("1"), gp("2")).slice(0, -9));
    assert.deepEqual(rejectedLines(cut), ["2 line"]);
    assert.match(cut.report.rejections[0].reason, /without a line end and may be cut off$/);
  });

  await it("C74 · byte order mark, mixed and missing line ends, blank lines, a newline within quotes and a lone quote between tabs: every value is that of the reference", async () => {
    const reference = [
      gp("1", { name: "Acme", description: 'says "yes", they' }),
      gp("2", { name: "Birch, Inc.", description: "two\nlines" }),
      gp("3", { name: "Cedar", description: null }),
      gp("4", { name: "Döner", description: "€ 5" }),
    ];
    assertPublished(await lines("c74", linesOf(...reference)));
    const mapping = gpTable({ description: "Note" });
    const content =
      '\uFEFF"Id","Name",Note\r\n\r\n1,Acme,"says ""yes"", they"\n2,"Birch, Inc.","two\r\nlines"\r\n\n\n3,Cedar,\r4,"Döner",€ 5';
    assert.equal(assertSame(await table("c74", content, mapping)).read, 4);

    const pipes = [
      gp("1", { name: '5" pipe' }),
      gp("2", { name: '"open' }),
      gp("3", { name: '"x" y' }),
    ];
    assertPublished(await lines("c74-tabs", linesOf(...pipes)));
    const tabs = 'Id\tName\r\n1\t5" pipe\n\n2\t"open\r3\t"x" y';
    const between = gpTable({}, { delimiter: "\t" });
    assert.equal(assertSame(await table("c74-tabs", tabs, between)).read, 3);
  });

  await it("C75 · columns count by their names: further and reordered ones change nothing, a renamed, missing or repeated one refuses the file", async () => {
    const mapping = gpTable({ hq_city: "City" });
    assertPublished(await table("c75", "Id,Name,City\n1,Acme,Reno\n2,Birch,Elko\n", mapping));
    for (const content of [
      "City,Name,Id\nReno,Acme,1\nElko,Birch,2\n",
      "State,Id,State,City,Name\nNV,2,x,Elko,Birch\nNV,1,y,Reno,Acme\n",
      ' "Id" ,Name,  City \n1,Acme,Reno\n2,Birch,Elko\n'.replaceAll('"', ""),
    ])
      assertSame(await table("c75", content, mapping));
    for (const [header, words] of [
      [
        "Id,Firm Name,City",
        /^:1: the header has no column "Name", which the mapping uses \(similar: "Firm Name"\)\n/,
      ],
      ["Id,City,Nme", /^:1: the header has no column "Name", .*similar: "Nme"/],
      ["Id,Name,Name,City", /^:1: the header has "Name" in columns 2 and 3; rename all but one\n/],
      ["1,Acme,Reno", /^:1: the header has no column "Id"/],
      ["Id,Name", /^:1: the header has no column "City"/],
      ["Id,Nme", /^:1: .* "Name", .*similar: "Nme"\); the header has no column "City"/],
    ] as const)
      assertFileRefused(await table("c75", `${header}\n1,Acme,Reno\n`, mapping), words);
  });

  await it("C80 · bytes that are not UTF-8 are rejected with line and byte, or read with the encoding that is said: never as another character", async () => {
    const reference = linesOf(
      gp("1", { name: "Café “Roy”" }),
      gp("2", { name: "Orléans" }),
      gp("3", { name: "Birch" }),
    );
    assertPublished(await lines("c80", reference));
    // A column that is not used cannot be at fault.
    const western = Buffer.from(
      "Id,Name,City\n1,Caf\xe9 \x93Roy\x94,Reno\n2,Orl\xe9ans,\n3,Birch,Orl\xe9ans\n",
      "latin1",
    );
    const refused = await table("c80", western, gpTable());
    assert.deepEqual(rejectedLines(refused), ["2 Name", "3 Name"]);
    for (const { reason } of refused.report.rejections)
      assert.match(reason, /^is not utf-8 at byte 4 \(0xE9\)/);
    assertSame(await table("c80", western, gpTable(), "--encoding", "windows-1252"));
    const latin = linesOf(gp("1", { name: "Café" }));
    assertPublished(await lines("c80-latin", latin));
    const latinBytes = Buffer.from(latin, "latin1");
    const unsaid = await lines("c80-latin", latinBytes);
    assert.deepEqual(rejectedLines(unsaid), ["1 line"]);
    assert.equal(
      unsaid.report.rejections[0].reason,
      "is not utf-8 at byte 36 (0xE9); add --encoding windows-1252 if the file has that encoding, or save it as UTF-8",
    );
    assertSame(await lines("c80-latin", latinBytes, "--encoding", "iso-8859-1"));
    // Half a character, one too long, half a pair, beyond Unicode, and a byte that is none.
    for (const bytes of ["\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\xff"]) {
      const line = `{"record":"gp","id":"2","name":"B${bytes}"}\n`;
      const outcome = await lines("c80", Buffer.from(linesOf(gp("1")) + line, "latin1"));
      assert.deepEqual(rejectedLines(outcome), ["2 line"]);
      assert.match(outcome.report.rejections[0].reason, /^is not utf-8 at byte 34 \(0x/);
    }
    for (const [encoding, byte] of [
      ["iso-8859-1", 0x93],
      ["windows-1252", 0x81],
    ] as const) {
      const name = Buffer.of(byte).toString("latin1");
      const cells = Buffer.from(`Id,Name\n1,\xe9\n2,${name}\n`, "latin1");
      const record = Buffer.from(linesOf(gp("1"), gp("2", { name: `B${name}` })), "latin1");
      const reason = `is not ${encoding} at byte`;
      const hex = `(0x${byte.toString(16)})`;
      for (const [outcome, place, words] of [
        [
          await table("c80", cells, gpTable(), "--encoding", encoding),
          "3 Name",
          `${reason} 1 ${hex}`,
        ],
        [await lines("c80", record, "--encoding", encoding), "2 line", `${reason} 34 ${hex}`],
      ] as const) {
        assert.deepEqual(rejectedLines(outcome), [place]);
        assert.ok(outcome.report.rejections[0].reason.startsWith(`${words}; `));
      }
    }
  });
}

/** Records that are too few, nested, endless or no JSON. */
async function lineCases(it: CaseOf, workplace: Workplace): Promise<void> {
  const { lines, table } = workplace;

  await it("C78 · an empty file and a header alone are refused without --allow-empty", async () => {
    assertPublished(await lines("c78", linesOf(gp("1"))));
    const each: ((...options: string[]) => Promise<ImportOutcome>)[] = [
      ...["", "\uFEFF\n\n"].map(
        (content) =>
          (...options: string[]) =>
            lines("c78", content, ...options),
      ),
      ...["", "\uFEFF", "\n\n", "Id,Name", "Id,Name\n"].map(
        (content) =>
          (...options: string[]) =>
            table("c78", content, gpTable(), ...options),
      ),
    ];
    for (const importOf of each)
      assertFileRefused(await importOf(), /^: contains no records; .* --allow-empty\n$/);
    const [first, ...others] = each;
    assert.equal(assertPublished(await first!("--allow-empty")).removed, 1);
    for (const importOf of others) assertSame(await importOf("--allow-empty"));
  });

  await it("C79 · a delivery of less than half of what there was is refused unless --max-shrink allows it (there is no --force)", async () => {
    const some = (count: number) => linesOf(...Array.from({ length: count }, (_, i) => gp(`${i}`)));
    const allow = (share: string) => ["--max-shrink", share];
    assertPublished(await lines("c79", some(2000)));
    for (const options of [[], allow("50%")]) {
      const { exitCode, report, err } = await lines("c79", some(999), ...options);
      assert.deepEqual([exitCode, report.refusal], [exitCodes.shrunk, "shrunk"]);
      assert.deepEqual(report.source_records, { before: 2000, now: 999 });
      assert.match(
        err,
        /^error: Source 'c79' would shrink from 2,000 to 999 records, by more than the 50% allowed; nothing was published\. .*--max-shrink 51%\.\n$/,
      );
    }
    assertPublished(await lines("c79", some(999), ...allow("51%")));
    assert.equal((await lines("c79", some(998), ...allow("0%"))).exitCode, exitCodes.shrunk);
    assertPublished(await lines("c79", some(500)));
    assertPublished(await lines("c79", some(5), ...allow("99%")));
    assertPublished(await lines("c79", some(6), ...allow("0%")));
    assert.equal((await lines("c79", some(5), ...allow("16%"))).exitCode, exitCodes.shrunk);
    assertPublished(await lines("c79", some(5), ...allow("17%")));
    assertPublished(await lines("c79", some(1), ...allow("100%")));
  });

  await it("C81 · ten thousand levels, lines of more than 1 MiB, repeated keys, __proto__, NaN and commas at the end are rejected with their line, and nothing grows", async () => {
    const start = '{"record":"gp","id":"x","name":';
    const wrong: [text: string, reason: RegExp][] = [
      [`${start}${"[".repeat(10_000)}${"]".repeat(10_000)}}`, /deeper than 32 levels/],
      [`${start}${'{"a":'.repeat(10_000)}`, /deeper than 32 levels|is not JSON/],
      [`${start}"${"x".repeat(2 ** 20)}"}`, /longer than 1048576 bytes/],
      [`${start}"X","name":"Y"}`, /the key "name" twice/],
      [`${start}"X","provenance":{"url":"x","url":"y"}}`, /the key "url" twice/],
      [`${start}"X","\\u0069d":"y"}`, /the key "id" twice/],
      [`${start}"X","__proto__":{"isOurs":true}}`, /not a member/],
      [`${start}"X","constructor":{"prototype":{}}}`, /not a member/],
      [`${start}NaN}`, /is not JSON/],
      [`${start}"X","aum_usd":-Infinity}`, /is not JSON/],
      [`${start}"X",}`, /is not JSON/],
      [`${start}"X","tags":["a",]}`, /is not JSON/],
      ["{'record':'gp'}", /is not JSON/],
      [`[${start}"X"}]`, /must be a JSON object/],
      ["17", /must be a JSON object/],
    ];
    const content = wrong.map(([text]) => `${text}\n`).join("") + linesOf(gp("1"));
    const outcome = await lines("c81", content);
    const { rejections } = outcome.report;
    assert.equal(rejectedLines(outcome).length, wrong.length);
    for (const [i, [text, reason]] of wrong.entries()) {
      assert.equal(rejections[i].line, i + 1, text.slice(0, 80));
      assert.match(rejections[i].reason, reason, text.slice(0, 80));
    }
    assert.equal(({} as { isOurs?: boolean }).isOurs, undefined);

    const large = workplace.write("", "ndjson");
    truncateSync(large, 128 * 2 ** 20);
    appendFileSync(large, `\n${linesOf(gp("1"))}`);
    const before = process.memoryUsage.rss();
    const endless = await workplace.importFile("ndjson", large, ["--source", "c81"]);
    const grown = process.memoryUsage.rss() - before;
    assert.deepEqual(rejectedLines(endless), ["1 line"]);
    assert.ok(grown < 80 * 2 ** 20, `${grown} bytes more`);
  });
}

/** Waits until a running service has taken over what was published beside it. */
const servedNow = ({ port, key }: { port: number; key: string }, catalogue: Catalogue) =>
  eventually(async () => {
    const { json } = await ask(port, "/fetch-projects?limit=1", { key });
    assert.equal(json.meta?.dataset_version, catalogue.currentVersion());
  });

const many = (count: number, description: string) =>
  Array.from({ length: count }, (_, i) => gp(`${i}`, { name: `Member ${i}`, description }));

async function besideRequestsCases(
  it: CaseOf,
  service: TestService,
  { lines, write, catalogue }: Workplace,
  folder: string,
): Promise<void> {
  const { dataDir, port, key } = service;

  await it("C58 · while two thousand records are imported every request is answered, from the dataset before or the one after and never a mixture (a million, and how fast: npm run faults)", async () => {
    assertPublished(await lines("c58", linesOf(...many(1000, "before"))));
    await servedNow(service, catalogue);
    const before = catalogue.currentVersion();
    const file = write(linesOf(...many(2000, "after")), "ndjson");
    const seen = new Set<string>();
    const check = async () => {
      const { status, json } = await ask(port, "/fetch-gp?gp_name=member&limit=20", { key });
      assert.equal(status, 200);
      const descriptions = new Set(json.data.map((one: any) => one.description));
      const isOld = json.meta.dataset_version === before;
      seen.add(`${isOld} ${[...descriptions].join()} ${json.pagination.total}`);
    };
    let isDone = false;
    const args = ["import", "ndjson", file, "--source", "c58"];
    const importing = commandInOwnProcess(args, dataDir).finally(() => (isDone = true));
    while (!isDone) await check();
    const { exitCode, err } = await importing;
    assert.equal(exitCode, exitCodes.done, err);
    await servedNow(service, catalogue);
    await check();
    assert.deepEqual([...seen], ["true before 1000", "false after 2000"]);
  });

  await it("C72 · a second import at the same time ends at once with 5, and the first publishes what it read", async () => {
    const pipe = join(folder, "pipe");
    execFileSync("mkfifo", [pipe]);
    const first = allCommands(dataDir).start("import ndjson --source c72", pipe);
    // Opens when the first import reads from it, which it does only under the lock.
    const source = await open(pipe, "w");
    const second = write(linesOf(gp("2")), "ndjson");
    const args = ["import", "ndjson", second, "--source", "c72"];
    const { exitCode, err } = await commandInOwnProcess(args, dataDir);
    assert.equal(exitCode, exitCodes.busy);
    assert.equal(
      err,
      `error: Another command is changing the datasets in ${dataDir}. Try again when it has finished.\n`,
    );
    await source.write(linesOf(gp("1", { name: "Only the first" })));
    await source.close();
    assert.equal((await first).exitCode, exitCodes.done);
    await servedNow(service, catalogue);
    const { json } = await ask(port, "/fetch-gp?gp_name=only%20the%20first", { key });
    assert.equal(json.pagination.total, 1);
  });
}

const walBytesMax = 64 * 2 ** 20;
const { patienceMilliseconds, lookEveryMilliseconds } = slowReaderBounds;

test("C57 · a client that does not read holds up no import and lets no log of a store grow, and is cut when its time is over (five hundred requests, and a clock that is set)", async (t: TestContext) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  let passed = 0;
  const { now } = performance;
  t.mock.method(performance, "now", () => now.call(performance) + passed);
  const settings = { EVENT_LOOP_DELAY_MAX_MS: "60000" };
  const pages = many(100, "a long description ".repeat(500));
  const started = await startService(t, { records: pages, settings });
  const { key } = await started.newKey({ quotas: roomy });
  const { port, dataDir } = started;
  const service = { port, key };
  const workplace = openWorkplace(dataDir, temporaryFolder(t));

  const slow = connect(port, "127.0.0.1");
  t.after(() => slow.destroy());
  let isCut = false;
  slow.on("error", () => (isCut = true));
  // A megabyte each: more than the system keeps for a client that does not read.
  slow.write(requestText("/fetch-gp?gp_name=member&limit=100", { key }).repeat(20));
  await once(slow, "readable");
  assertPublished(await workplace.lines("c57", linesOf(gp("new", { name: "Zeta" }))));
  for (let i = 0; i < 500; i += 20) {
    const asked = Array.from({ length: 20 }, () =>
      ask(port, "/fetch-gp?gp_name=member&limit=1", { key }),
    );
    for (const { status } of await Promise.all(asked)) assert.equal(status, 200);
  }
  t.mock.timers.tick(lookEveryMilliseconds);
  await servedNow(service, workplace.catalogue);
  for (const name of ["control", "usage"]) {
    const wal = statSync(join(dataDir, `${name}.sqlite-wal`), { throwIfNoEntry: false });
    assert.ok((wal?.size ?? 0) <= walBytesMax, name);
  }
  assert.equal(isCut, false);
  passed += patienceMilliseconds;
  t.mock.timers.tick(lookEveryMilliseconds);
  slow.resume();
  await settles(() => isCut);
  assert.ok(isCut, "it was not cut");
  assert.equal((await ask(port, "/health")).status, 200);
});

test("what is imported, beside a service that runs", async (t) => {
  const started = await startService(t);
  const { key } = await started.newKey({ quotas: roomy });
  const service = { ...started, key };
  const folder = temporaryFolder(t);
  const workplace = openWorkplace(service.dataDir, folder);
  const it = casesOf(t, inThisProcess(service));
  await tableCases(it, workplace);
  await lineCases(it, workplace);
  await besideRequestsCases(it, service, workplace, folder);
});
