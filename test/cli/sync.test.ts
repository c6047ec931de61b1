import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { exitCodes } from "#cli/command-fault.ts";
import { allCommands } from "../support/all-commands.ts";
import { eventually } from "../support/eventually.ts";
import { filing, firstFiles, laterFiles, quarterOf, secWorld } from "../support/fake-sec.ts";
import { forEachStore, storePlace } from "../support/for-each-store.ts";
import { readExposition } from "../support/read-exposition.ts";
import { startService } from "../support/service.ts";

/** A server, a folder, and the commands of an installation beside them. */
async function workplace(t: TestContext) {
  const world = await secWorld(t);
  const { sec, folder } = world;
  const place = await storePlace(t);
  const settings = { CONTACT: "ops@example.com", DATABASE_URL: place.databaseUrl ?? "" };
  const commands = allCommands(place.dataDir, settings, sec.now, sec.wait);
  const args = [`sync sec`, folder, "--origin", sec.origin];
  const downloads = join(folder, "downloads");
  return {
    ...world,
    ...commands,
    place,
    downloads,
    args,
    sync: (...more: string[]) => commands.json(...args, ...more),
    refused: (code: number, ...more: string[]) => commands.refusal(code, ...args, ...more),
    version: async () => (await commands.json("datasets show")).version,
    files: () =>
      readdirSync(downloads, { recursive: true, encoding: "utf8" })
        .filter((name) => isFile(name) || name.endsWith(".part"))
        .toSorted(),
  };
}

const isFile = (path: string) => /\.(?:zip|gz|idx|txt)$/.test(path);

test("a first sync fetches what the pages name, and imports it as an import of the folder does", async (t) => {
  const { sec, folder, downloads, sync, text, json, files } = await workplace(t);
  const { downloads: fetched, outcome, filings, source } = await sync();
  assert.deepEqual(files(), firstFiles);
  const bytes = firstFiles.reduce((sum, name) => sum + statSync(join(downloads, name)).size, 0);
  assert.deepEqual(fetched, { files: firstFiles.length, bytes, removed: 0, missing: [] });
  assert.deepEqual([outcome, source], ["published", "sec"]);
  assert.equal(filings.files.form_d_quarter, 4);
  assert.equal(filings.files.form_d_filing, 3);
  assert.equal(filings.gps.by_basis.corrected, 1);
  for (const { agent } of sec.asked) assert.equal(agent, "gp-records (ops@example.com)");
  // Those in front of the oldest quarter, of other forms and replaced by newer ones are not asked for.
  const paths = sec.asked.map(({ path }) => path).filter(isFile);
  assert.equal(new Set(paths).size, firstFiles.length);
  assert.equal(paths.length, firstFiles.length);
  assert.equal((await json("import sec", folder)).outcome, "unchanged");
  const told = (await text("sync sec", folder, "--origin", sec.origin)).split("\n");
  const first = `Fetched 0 files into ${downloads}, 0 bytes; removed 0 that newer ones replace.`;
  assert.equal(told[0], first);
  assert.match(told[1]!, /^Files: .*4 Form D quarters, /);
});

forEachStore(
  "a second sync fetches nothing that is whole, and its success is kept though nothing changed",
  async (t) => {
    const { sec, place, sync, refused, version } = await workplace(t);
    const settings = { ADMIN_ADDRESS: "127.0.0.1:0" };
    const service = await startService(t, { place, records: null, settings });
    // A server with a database reads the time for its next answer.
    const isSynced = (milliseconds: number) =>
      eventually(async () => {
        const page = await (await fetch(`${service.adminAddress}/metrics`)).text();
        const name = "gp_records_sync_last_success_timestamp_seconds";
        const sample = readExposition(page).get(name)!.samples.get(`${name}{source="sec"}`);
        assert.equal(sample, milliseconds / 1000);
      });
    // Before a success, the time when the first sync began stands for one, so that an alarm can tell that none follows.
    const began = sec.now();
    for (let i = 0; i < 2; i++) {
      sec.behave(() => ({ status: 500 }));
      await refused(exitCodes.inputRefused);
      await isSynced(began);
    }
    sec.behave(() => {});
    await sync();
    const [first, was] = [sec.now(), await version()];
    await isSynced(first);
    sec.news();
    await sec.wait(86_400_000);
    const { downloads, outcome } = await sync();
    assert.deepEqual([downloads.files, outcome, await version()], [0, "unchanged", was]);
    assert.deepEqual(sec.news().filter(isFile), []);
    await isSynced(sec.now());
    // Neither a try nor a refusal is a success.
    const second = sec.now();
    await sec.wait(1000);
    await sync("--dry-run");
    sec.addDay("20260703", [filing(4)]);
    assert.match(
      await refused(exitCodes.shrunk, "--min-named", "100%"),
      /fewer than the 100% that --min-named requires/,
    );
    assert.equal(await version(), was);
    await isSynced(second);
  },
);

test("a newer quarter replaces the single filings that it has, and keeps those filed too late for it", async (t) => {
  const { sec, sync, files } = await workplace(t);
  sec.addDay("20260930", [filing(4), filing(5)]);
  await sync();
  sec.addQuarter("2026q3_d.zip", await quarterOf([2, 3, 4].map(filing)));
  sec.addDay("20261001", [filing(6)]);
  sec.news();
  const { downloads, filings } = await sync();
  // Filing 1 is in no quarter yet, and 5 was filed on the last evening.
  const single = [1, 5, 6].map((number) => `filings/${filing(number)}.txt`);
  const days = ["20260930", "20261001"].map((day) => `filings/form.${day}.idx`);
  assert.deepEqual(
    files().filter((name) => name.startsWith("filings/")),
    [...single, ...days],
  );
  assert.deepEqual([downloads.files, downloads.removed], [3, 6]);
  assert.equal(filings.files.form_d_quarter, 5);
  assert.deepEqual(filings.skipped, {});
  assert.deepEqual(sec.news().filter((path) => path.endsWith(".txt")).length, 1);
});

test("a corrected quarter and a newer feed replace the earlier ones, and only files in downloads are removed", async (t) => {
  const { sec, folder, sync, files } = await workplace(t);
  writeFileSync(join(folder, "2026q2_d.zip"), await quarterOf([filing(8)]));
  await sync();
  sec.addQuarter("2026q2_d_0.zip", await quarterOf([filing(1), filing(7)]));
  sec.addFeed("11_21_2026");
  assert.equal((await sync()).downloads.removed, 3);
  assert.deepEqual(files(), laterFiles);
  assert.ok(existsSync(join(folder, "2026q2_d.zip")));
  for (const correction of [10, 9])
    sec.addQuarter(`2026q2_d_${correction}.zip`, await quarterOf([filing(1), filing(7)]));
  await sync();
  assert.ok(files().includes("2026q2_d_10.zip") && !files().includes("2026q2_d_0.zip"));
});

test("--since fetches older quarters and months as well", async (t) => {
  const { sec, sync, files, refused } = await workplace(t);
  sec.addQuarter("2025q1_d.zip", await quarterOf([filing(20)]));
  sec.addQuarter("2024q4_d.zip", await quarterOf([filing(21)]));
  await refused(exitCodes.inputRefused, "--since", "2025q1");
  const fetched = files().filter((name) => name.endsWith(".zip"));
  assert.deepEqual([fetched[0], fetched.length], ["2025q1_d.zip", 5]);
  sec.replace("/reports/foia/advFilingData/2025/ADV_Filing_Data_20250501_20250531.zip");
  await sync("--since", "2025q1");
  assert.match(
    await refused(exitCodes.usage, "--since", "2026q3"),
    /^error: --since 2026q3 is after the newest quarter, 2026q2\. Name that quarter or an earlier one\.\n$/,
  );
});

test("no more than eight requests start in a second", async (t) => {
  const { sec, sync } = await workplace(t);
  await sync();
  const times = sec.asked.map(({ at }) => at);
  assert.ok(times.length > 15);
  for (const [i, at] of times.entries()) if (i >= 8) assert.ok(at - times[i - 8]! >= 1000);
});

for (const status of [403, 429, 503])
  test(`a server that answers ${status} for an hour is given up within ten minutes; the next sync goes on`, async (t) => {
    const { sec, sync, refused, files, version } = await workplace(t);
    await sync();
    const [was, start] = [await version(), sec.now()];
    sec.addDay("20260703", [filing(4), filing(5)]);
    const limited = `/Archives/edgar/data/1700001/${filing(5)}.txt`;
    sec.behave((path) => (path === limited ? { status } : undefined));
    const said = (await refused(exitCodes.busy)).split("\n");
    const again = `warning: ${sec.origin}${limited} answered ${status}; trying again in`;
    assert.deepEqual(said.slice(0, 2), [`${again} 1 s.`, `${again} 2 s.`]);
    assert.equal(
      said.at(-2),
      `error: ${sec.origin}${limited} answered ${status}. Nothing was published. Run the command again in an hour: it resumes where it stopped.`,
    );
    const waited = sec.now() - start;
    assert.ok(waited > 300_000 && waited <= 610_000, String(waited));
    assert.equal(await version(), was);
    assert.ok(files().includes(`filings/${filing(4)}.txt`));
    sec.news();
    sec.behave(() => {});
    assert.equal((await sync()).downloads.files, 1);
    assert.deepEqual(sec.news().filter(isFile), [limited]);
  });

test("a server that asks to wait is asked again no sooner, in seconds or by a date", async (t) => {
  const { sec, start, args, refused } = await workplace(t);
  const times: number[] = [];
  sec.behave((path) => {
    if (!path.endsWith("/2026q2_d.zip")) return undefined;
    times.push(sec.now());
    return times.length === 1 ? { status: 429, headers: { "retry-after": "90" } } : undefined;
  });
  const { exitCode, err } = await start(...args);
  assert.deepEqual([exitCode, err.split("; ")[1]], [0, "trying again in 90 s.\n"]);
  assert.ok(times[1]! - times[0]! >= 90_000 && times[1]! - times[0]! < 91_000);
  sec.addQuarter("2026q2_d_0.zip", await quarterOf([filing(1)]));
  sec.behave(() => ({
    status: 503,
    headers: { "retry-after": new Date(sec.now() + 3_600_000).toUTCString() },
  }));
  const before = sec.now();
  assert.match(
    await refused(exitCodes.busy),
    /answered 503\. Nothing was published\. Run the command again after \S+Z, the time that the server names: /,
  );
  assert.ok(sec.now() - before < 1000);
});

test("a server that gives no answer is given up", async (t) => {
  const { sec, refused } = await workplace(t);
  // The types do not know of it yet.
  t.mock.timers.enable({ apis: ["AbortSignal.timeout" as "setTimeout"] });
  sec.behave(() => {
    setImmediate(() => t.mock.timers.tick(1_800_000));
    void sec.wait(1_800_000);
    return { isSilent: true };
  });
  assert.match(
    await refused(exitCodes.busy),
    /^error: http:\/\/127\.0\.0\.1:\d+\/data-research\/\S+ did not answer \(.*aborted\)\. Nothing was published\. Check this machine's connection /,
  );
  assert.equal(sec.asked.length, 1);
});

test("a file that is cut off is fetched again, and refuses the sync if it is cut off twice", async (t) => {
  const { sec, sync, refused, files, downloads } = await workplace(t);
  const kinds = ["2026q1_d.zip", "11_20_2026.xml.gz", "form.20260701.idx", `${filing(2)}.txt`];
  for (const kind of kinds) {
    // Whole by its length, but not by what it is.
    sec.behave((path) =>
      path.endsWith(kind) ? { body: "<html>Come back later</html>" } : undefined,
    );
    const said = await refused(exitCodes.inputRefused);
    assert.match(
      said,
      /^error: http:\/\/\S+ did not return a valid \S+ in two attempts \(.*\); nothing was published/,
    );
    assert.ok(said.includes(kind), said);
    assert.ok(!files().some((name) => name.endsWith(kind)), kind);
  }
  const wrong = [
    [Buffer.from(`PK\u0005\u0006${"\0".repeat(18)}`), "it has no table of Form D or Form ADV"],
    // In its middle, so that its directory is whole.
    [(await quarterOf([filing(8)])).fill(0x55, 200, 230), "is damaged or cut off"],
  ] as const;
  for (const [zip, why] of wrong) {
    sec.behave(() => {});
    sec.addQuarter("2026q2_d_0.zip", zip);
    const said = await refused(exitCodes.inputRefused);
    assert.ok(said.includes(why), said);
    assert.ok(!files().includes("2026q2_d_0.zip"));
  }
  sec.replace("/files/structureddata/data/form-d-data-sets/2026q2_d_0.zip");
  const seen = new Set<string>();
  sec.behave((path) => {
    const isFirst = isFile(path) && !seen.has(path);
    seen.add(path);
    return { isCut: isFirst };
  });
  rmSync(downloads, { recursive: true });
  await sync();
  assert.deepEqual(files(), firstFiles);
});

test("a page that has changed refuses the sync by its address, and the old dataset stays", async (t) => {
  const { sec, sync, refused, version } = await workplace(t);
  await sync();
  const was = await version();
  for (const [page, body] of [
    ["/data-research/sec-markets-data/form-d-data-sets", '<a href="/new">Moved</a>'],
    ["/reports/foia/reports_metadata.json", "{}"],
    ["/reports/foia/reports_metadata.json", "<html></html>"],
    ["/reports/CompilationReports/CompilationReports.manifest.json", '{"files":[]}'],
    ["/Archives/edgar/daily-index/index.json", '{"directory":{"item":[]}}'],
    ["/Archives/edgar/daily-index/2026/QTR3/index.json", "[]"],
    ["/Archives/edgar/daily-index/2026/index.json", '{"directory":{"item":[{"name":"2026"}]}}'],
  ] as const) {
    sec.behave((path) => (path === page ? { body } : undefined));
    const said = await refused(exitCodes.inputRefused);
    assert.match(said, /^error: .*Check --origin, .*look for a newer version of gp-records\.\n$/);
    assert.ok(said.includes(page.replace(/index\.json$/, "").slice(0, 28)), said);
  }
  sec.behave((path) => (path.includes("manifest") ? { status: 500 } : undefined));
  assert.match(await refused(exitCodes.inputRefused), /manifest\.json answered 500;/);
  assert.equal(await version(), was);
});

test("a page or a filing of more than 64 MiB refuses the sync by its address", async (t) => {
  const { sec, refused } = await workplace(t);
  const body = `${" ".repeat(64 * 1024 ** 2)}</SEC-DOCUMENT>`;
  for (const name of ["manifest.json", `${filing(2)}.txt`]) {
    sec.behave((path) => (path.endsWith(name) ? { body } : undefined));
    const said = await refused(exitCodes.inputRefused);
    assert.match(said, /^error: http:\S+ .* \(it has more than 67108864 bytes\)/);
    assert.ok(said.includes(name), said);
  }
});

test("a filing that was taken back is reported, and stops nothing", async (t) => {
  const { sec, sync, text, args } = await workplace(t);
  const path = `/Archives/edgar/data/1700001/${filing(2)}.txt`;
  sec.replace(path);
  const url = `https://www.sec.gov${path}`;
  const { downloads, outcome } = await sync();
  assert.deepEqual([downloads.missing, outcome], [[url], "published"]);
  const told = await text(...args);
  assert.ok(told.includes(`\n  ${url} is in an index, but does not exist\n`));
});

test("an unfinished download is discarded, and a plain import leaves it out", async (t) => {
  const { folder, downloads, sync, json, files } = await workplace(t);
  await sync();
  for (const name of ["2026q3_d.zip.part", "filings/x.txt.part"])
    writeFileSync(join(downloads, name), "PK\u0003\u0004cut");
  const { filings } = await json("import sec", folder);
  assert.match(filings.files_left_out.at(-1).reason, /^is an unfinished download/);
  await sync();
  assert.deepEqual(files(), firstFiles);
});

test("what keeps a sync from beginning is said before anything is asked", async (t) => {
  const { sec, folder, refused, refusal, place, start, args } = await workplace(t);
  const usage = (...more: string[]) => refused(exitCodes.usage, ...more);
  assert.match(await usage("--since", "2024"), /Write a year and a quarter, such as 2024q1\./);
  assert.match(await usage("--origin", "ftp://x"), /Write a scheme and a host/);
  assert.match(await usage("--origin", "http://x/y"), /Write a scheme and a host/);
  assert.match(await usage("--source", "Not One"), /must be 1 to 64 characters/);
  const mute = allCommands(place.dataDir);
  assert.match(await mute.refusal(exitCodes.usage, ...args), /^error: CONTACT is not set, but/);
  const mistyped = `${folder}x`;
  assert.equal(
    await refusal(exitCodes.usage, "sync sec", mistyped, "--origin", sec.origin),
    `error: There is no folder ${mistyped}. Check the path, or make the folder.\n`,
  );
  assert.ok(!existsSync(mistyped));
  writeFileSync(join(folder, "downloads"), "in the way");
  assert.match(await usage(), /downloads\S* cannot be used \(\w+\)/);
  assert.deepEqual(sec.asked, []);

  rmSync(join(folder, "downloads"));
  mkdirSync(join(folder, "downloads"));
  const ends = await Promise.all([start(...args), start(...args)]);
  assert.deepEqual(
    ends.map(({ exitCode }) => exitCode!).toSorted((a, b) => a - b),
    [exitCodes.done, exitCodes.busy],
  );
  assert.match(ends.map(({ err }) => err).join(""), /^error: Another sync is running on /);
  assert.ok(readdirSync(place.dataDir).includes("sync.lock"));
});
