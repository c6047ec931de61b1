import assert from "node:assert/strict";
import { mkdirSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { listAudit } from "#store/audit.ts";
import { exitCodes } from "#cli/command-fault.ts";
import { openCatalogue } from "#datasets/catalogue.ts";
import { openControl } from "#store/stores.ts";
import { gp } from "../datasets/published.ts";
import { allCommands } from "../support/all-commands.ts";
import { importRecords, storeOf } from "../support/dataset.ts";
import { linesOf, readLines } from "../support/json-lines.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const [acme, birch] = [gp("acme"), gp("birch")];

/** A data folder with two datasets: one of one GP, and the current one of two. */
async function twoDatasets(t: TestContext) {
  const dataDir = temporaryFolder(t);
  const catalogue = openCatalogue(join(dataDir, "datasets"));
  const { published: older } = await importRecords(catalogue, [acme]);
  const { published: newer } = await importRecords(catalogue, [acme, birch]);
  const commands = allCommands(dataDir);
  const current = async () => (await commands.json("datasets show")).version;
  return { dataDir, catalogue, older: older!.version, newer: newer!.version, current, ...commands };
}

test("datasets are listed, shown, published and gone back from, and what is not there, or none older, ends with 4 and changes nothing", async (t) => {
  const { older, newer, catalogue, text, json, refusal, current } = await twoDatasets(t);
  const published_at = "2026-11-20T03:00:00Z";
  const either = { staged: false, outdated: false, pinned: false, published_at };
  assert.deepEqual(await json("datasets list"), [
    { version: older, records: 1, current: false, ...either },
    { version: newer, records: 2, current: true, ...either },
  ]);
  const [headings, first, second] = (await text("datasets list")).split("\n");
  assert.match(headings!, /^VERSION +RECORDS +STATE +PUBLISHED AT$/);
  assert.equal(first!.replaceAll(/ +/g, " "), `${older} 1 ${published_at}`);
  assert.equal(second!.replaceAll(/ +/g, " "), `${newer} 2 current ${published_at}`);

  const factsOf = (version: string) => {
    return { ...catalogue.find(version), file: catalogue.pathOf(version) };
  };
  assert.deepEqual(await json("datasets show"), { ...factsOf(newer), current: true });
  assert.deepEqual(await json("datasets show", older), { ...factsOf(older), current: false });
  const shown = await text("datasets show", older);
  for (const line of [`version +${older}`, "current +false", "gp records +1"])
    assert.match(shown, new RegExp(`^${line}$`, "m"));

  const chosen = { published_at: "2026-11-21T12:00:00Z", pruned: [] };
  assert.deepEqual(await json("datasets rollback"), { version: older, ...chosen });
  assert.equal(await current(), older);
  assert.deepEqual(await json("datasets publish", newer), { version: newer, ...chosen });
  assert.equal(await current(), newer);
  assert.equal(await text("datasets rollback"), `${older} is the current dataset.\n`);
  for (const name of ["20300101T000000Z-00000000", "../current", ""])
    for (const what of ["show", "publish"])
      assert.equal(
        await refusal(exitCodes.conflict, "datasets", what, name),
        `error: There is no dataset '${name}'. 'gp-records datasets list' shows all datasets; if this one should be current, 'gp-records doctor' says how to restore it.\n`,
      );
  assert.match(
    await refusal(exitCodes.conflict, "datasets rollback"),
    /^error: No published dataset comes before the current one;.*\n$/,
  );
  assert.equal(await current(), older);
});

test("commands that only look end with one line where a file cannot be read, as what another user left", async (t) => {
  const { dataDir, catalogue, older, newer, refusal } = await twoDatasets(t);
  // The memory of a process can be opened and its first byte not be read, whoever asks: root may read any file.
  const hide = (path: string) => {
    renameSync(path, `${path}.aside`);
    symlinkSync("/proc/self/mem", path);
  };
  hide(catalogue.pathOf(newer));
  const oneLine = `error: ${dataDir} cannot be used (EIO). Make sure that this user may read and write there and that the disk is not failing, or name another folder with DATA_DIR.\n`;
  assert.equal(await refusal(exitCodes.usage, "datasets diff", older, newer), oneLine);
  hide(join(catalogue.folder, "current"));
  for (const name of ["list", "show"])
    assert.equal(await refusal(exitCodes.usage, "datasets", name), oneLine);
});

test("datasets list tells which datasets are staged, and which of them lack what came since", async (t) => {
  const { catalogue, text, json } = await twoDatasets(t);
  const stage = async (id: string) =>
    (await importRecords(catalogue, [acme, birch, { ...acme, id }], { isStaged: true })).staged!;
  const { version } = await stage("x");
  await stage("y");
  const states = async () => {
    const [, ...lines] = (await text("datasets list")).trimEnd().split("\n");
    return lines.map((line) => line.split(/  +/)[2]);
  };
  assert.deepEqual(await states(), ["2026-11-20T03:00:00Z", "current", "staged", "staged"]);
  await text("datasets publish", version);
  assert.deepEqual((await states()).slice(2), ["current", "staged, outdated"]);
  const rows = (await json("datasets list")) as { staged: boolean; outdated: boolean }[];
  for (const member of ["staged", "outdated"] as const)
    assert.deepEqual(
      rows.map((row) => row[member]),
      [false, false, false, true],
    );
});

test("without any dataset the commands say so and how to make one", async (t) => {
  const { text, json, refusal } = allCommands(join(temporaryFolder(t), "new"));
  assert.equal(
    await text("datasets list"),
    "No dataset is published yet. Publish one with 'gp-records import' or 'gp-records datasets publish'.\n",
  );
  assert.deepEqual(await json("datasets list"), []);
  for (const args of [["show"], ["diff", "x"]])
    assert.match(
      await refusal(exitCodes.conflict, "datasets", ...args),
      /^error: No dataset is published yet\. Publish one with 'gp-records import' .*\n$/,
    );
  assert.match(
    await refusal(exitCodes.conflict, "datasets rollback"),
    /No published dataset comes before the current one/,
  );
});

test("while an import runs no dataset is chosen, but all can be looked at", async (t) => {
  const { catalogue, newer, refusal, current } = await twoDatasets(t);
  t.after(await storeOf(catalogue, Date.now()).take());
  for (const args of [["rollback"], ["publish", newer], ["pin", newer], ["prune"]])
    assert.match(
      await refusal(exitCodes.busy, "datasets", ...args),
      /^error: Another command is changing the datasets in .*\. Try again when it has finished\.\n$/,
    );
  assert.equal(await current(), newer);
});

/** A folder with as many datasets, published long before the commands of a test. */
async function published(t: TestContext, count: number, settings: Record<string, string> = {}) {
  const dataDir = temporaryFolder(t);
  const catalogue = openCatalogue(join(dataDir, "datasets"));
  for (let i = 0; i < count; i++)
    await importRecords(catalogue, [{ ...acme, id: "a", name: `GP ${i}` }]);
  const all = catalogue.versions();
  const left = () => catalogue.versions();
  const importing = (name: string) => {
    const file = join(dataDir, "records.ndjson");
    writeFileSync(file, linesOf({ ...acme, id: "a", name }));
    return ["import ndjson --source own", file];
  };
  return { dataDir, catalogue, all, left, importing, ...allCommands(dataDir, settings) };
}

/** Who removed or pinned which dataset, the oldest entry first. */
async function audited(dataDir: string): Promise<string[][]> {
  const control = await openControl(dataDir);
  const entries = await listAudit(control.database, { limit: 100 });
  await control.close();
  return entries
    .toReversed()
    .filter(({ action }) => /pruned|pinned/.test(action))
    .map(({ actor, action, subject }) => [actor, action, subject!]);
}

test("prune keeps as many datasets as DATASETS_KEEP says unless told otherwise, and says what it freed", async (t) => {
  const { all, catalogue, text, json, refusal, left } = await published(t, 12);
  const bytes = catalogue.find(all[0]!).bytes + catalogue.find(all[1]!).bytes;
  const versions = `${all[0]}\n${all[1]}\n`;
  const size = bytes.toLocaleString("en-US");
  assert.equal(
    await text("datasets prune --dry-run"),
    `${versions}Would delete 2 datasets and free ${size} bytes.\n`,
  );
  assert.equal(left().length, 12);
  assert.equal(
    await text("datasets prune"),
    `${versions}Deleted 2 datasets and freed ${size} bytes.\n`,
  );
  assert.equal(left().length, 10);
  const { bytes: oneMore } = catalogue.find(all[2]!);
  assert.deepEqual(await json("datasets prune --keep 9"), {
    removed: [all[2]],
    bytes: oneMore,
    pinned: [],
    dry_run: false,
  });
  assert.match(await text("datasets prune"), /^Nothing was deleted, because/);
  for (const keep of ["0", "-1", "all", ""])
    await refusal(exitCodes.usage, "datasets prune --keep", keep);
});

test("an import removes what DATASETS_KEEP does not cover any more, says so and notes it, and one that publishes nothing removes nothing", async (t) => {
  const settings = { DATASETS_KEEP: "3" };
  const { dataDir, catalogue, all, left, text, json, importing } = await published(t, 4, settings);
  await text(...importing("GP 3"));
  await text(...importing("new"), "--dry-run");
  assert.equal(left().length, 4);
  const { pruned: none, version: staged } = await json(...importing("other"), "--stage");
  assert.deepEqual([none, left().length], [[], 5]);
  catalogue.remove(staged);
  const out = await text(...importing("new"));
  assert.match(out, /\nDeleted 2 datasets older than the newest 3 \(DATASETS_KEEP\) and freed /);
  assert.deepEqual(left().slice(0, 2), all.slice(2));
  const { pruned, version } = await json(...importing("newer"));
  assert.deepEqual(pruned, [all[2]]);
  assert.equal(left().at(-1), version);
  assert.deepEqual(
    await audited(dataDir),
    all.slice(0, 3).map((one) => ["service", "dataset.pruned", one]),
  );
});

test("publish and rollback remove old datasets as an import does, but none that a roll-back would go to", async (t) => {
  const { all, left, text, json } = await published(t, 6, { DATASETS_KEEP: "2" });
  assert.deepEqual(await json("datasets rollback"), {
    version: all[4],
    published_at: "2026-11-21T12:00:00Z",
    pruned: all.slice(0, 3),
  });
  assert.deepEqual(left(), all.slice(3));
  assert.match(await text("datasets publish", all[5]!), /is the current dataset\.\nDeleted 1 /);
  assert.deepEqual(left(), all.slice(4));
});

test("a dataset that cannot be removed is reported, and the publication is a success", async (t) => {
  const { all, left, start, importing, catalogue } = await published(t, 4, { DATASETS_KEEP: "1" });
  const path = catalogue.pathOf(all[0]!);
  rmSync(path);
  mkdirSync(join(path, "not-empty"), { recursive: true });
  const { exitCode, err } = await start(...importing("new"));
  assert.equal(exitCode, exitCodes.done);
  assert.match(
    err,
    new RegExp(`^warning: .* the old dataset ${all[0]} could not be deleted .*\\n$`),
  );
  const current = catalogue.currentVersion()!;
  assert.deepEqual(left(), [all[0], all[3], current]);
  assert.equal(catalogue.find(current).published_after, all[3]);
  const asked = await start("datasets prune --keep 1");
  assert.equal(asked.exitCode, exitCodes.usage);
  assert.match(asked.err, new RegExp(`^error: .*${all[0]}`));
});

test("a dataset whose facts cannot be read stays, and the other old ones are removed", async (t) => {
  const { all, left, start, importing, catalogue } = await published(t, 4, { DATASETS_KEEP: "1" });
  writeFileSync(join(catalogue.folder, `${all[1]}.json`), "{");
  const { exitCode, err } = await start(...importing("new"));
  assert.equal(exitCode, exitCodes.done, err);
  assert.deepEqual(left(), [all[1], all[3], catalogue.currentVersion()]);
});

test("a dataset is pinned and let go by name, is listed as pinned, and prune names what it may not delete", async (t) => {
  const { dataDir, all, left, text, json, refusal } = await published(t, 3, { DATASETS_KEEP: "1" });
  const [first] = all as [string];
  assert.match(await text("datasets pin", first), /is pinned/);
  assert.deepEqual(await json("datasets pin", first), {
    version: first,
    pinned_at: "2026-11-21T12:00:00Z",
  });
  const listed = await json("datasets list");
  const pinnings = listed.map(({ pinned }: { pinned: boolean }) => pinned);
  assert.deepEqual(pinnings, [true, false, false]);
  assert.match(await text("datasets list"), new RegExp(`${first} .* pinned `));
  assert.match(await text("datasets show", first), /pinned at +2026-11-21T12:00:00Z/);
  const out = await text("datasets prune");
  assert.match(out, new RegExp(`${first} is pinned, so it stays\\. .*datasets unpin ${first}'`));
  assert.deepEqual(left(), [first, all[2]]);
  assert.deepEqual((await json("datasets prune")).pinned, [first]);
  assert.match(await text("datasets unpin", first), /is no longer pinned/);
  assert.deepEqual((await json("datasets unpin", first)).pinned_at, null);
  assert.deepEqual((await json("datasets prune")).removed, [first]);
  for (const word of ["pin", "unpin"])
    assert.match(await refusal(exitCodes.conflict, "datasets", word, first), /no dataset/);
  assert.deepEqual(await audited(dataDir), [
    ["operator", "dataset.pinned", first],
    ["operator", "dataset.pruned", all[1]],
    ["operator", "dataset.unpinned", first],
    ["operator", "dataset.pruned", first],
  ]);
});

/** From two GPs to six: one is gone, one has moved, five are new. */
async function fromTwoToSix(t: TestContext) {
  const dataDir = temporaryFolder(t);
  const catalogue = openCatalogue(join(dataDir, "datasets"));
  const { published: from } = await importRecords(catalogue, [gp("gone"), gp("moved")]);
  const others = ["b", "c", "d", "e"].map((id) => gp(id));
  const there = [gp("moved", { hq_city: "Reno", hq_state: "NV" }), ...others];
  const { published: to } = await importRecords(catalogue, [...there, gp("a")]);
  const args = ["datasets", "diff", from!.version, to!.version];
  const commands = allCommands(dataDir);
  return { catalogue, there, args, from: from!.version, to: to!.version, ...commands };
}

test("without versions the current dataset is compared with the one before, and merged GPs are told with the one they are now", async (t) => {
  const { catalogue, there, from, to, text, json } = await fromTwoToSix(t);
  const [moved, ...others] = there;
  const records = [{ ...moved, former_ids: ["a"] }, ...others];
  const { published } = await importRecords(catalogue, records);
  const merge = await json("datasets diff");
  assert.deepEqual([merge.from, merge.to], [to, published!.version]);
  assert.deepEqual(merge.counts.gp, { added: 0, changed: 1, removed: 0, merged: 1 });
  const changes = readLines(await text("datasets diff --ndjson"));
  const merged = changes.find(({ change }) => change === "merged");
  assert.equal(merged.record.name, "a");
  assert.match(merged.into, /^gp_\w+$/);
  assert.equal((await json("datasets diff", from)).to, published!.version);
});

test("a difference is told in counts by kind, as JSON too, and --ndjson gives every change on a line", async (t) => {
  const { args, from, to, text, json, start, refusal } = await fromTwoToSix(t);
  assert.deepEqual((await text(...args)).split("\n").slice(0, 2), [
    "RECORD  ADDED  CHANGED  REMOVED  MERGED",
    "gp      5      1        1        0",
  ]);
  const summary = await json(...args);
  assert.deepEqual([summary.from, summary.to], [from, to]);
  assert.deepEqual(summary.counts.gp, { added: 5, changed: 1, removed: 1, merged: 0 });
  const all = readLines(await text(...args, "--ndjson"));
  assert.equal(all.length, 7);
  const { before, after, record } = all.find(({ change }) => change === "changed");
  assert.deepEqual([before.hq_city, before.hq_state], [null, null]);
  assert.deepEqual([after.hq_city, after.hq_state, record.name], ["Reno", "NV", "moved"]);
  assert.equal((await start(...args, "--ndjson", "--json")).exitCode, exitCodes.usage);
  const same = "The two datasets have the same records.\n";
  assert.equal(await text("datasets diff", from, from), same);
  assert.equal(await text("datasets diff", from, from, "--ndjson"), "");
  assert.match(await refusal(exitCodes.conflict, "datasets diff", from, "x"), /no dataset 'x'/);
});

test("verify tells of every dataset, and ends with 6 naming the file that is damaged and the mend", async (t) => {
  const { catalogue, older, newer, text, start, json, refusal } = await twoDatasets(t);
  assert.equal(await text("datasets verify"), `${older}  sound\n${newer}  sound, current\n`);

  const file = catalogue.pathOf(older);
  truncateSync(file, 40_000);
  const { exitCode, out, err } = await start("datasets verify");
  assert.equal(exitCode, exitCodes.unhealthy);
  assert.equal(
    err,
    "error: 1 of 2 datasets has a fault. The output says what is wrong with each, and what to do.\n",
  );
  assert.match(
    out,
    new RegExp(
      `^${older}  ${file} is not the file that was published: .*\n  This dataset is not the current one\\. Put `,
    ),
  );
  const [check] = JSON.parse((await start("datasets verify --json")).out);
  assert.deepEqual(Object.keys(check), ["version", "file", "current", "fault", "mend"]);

  assert.equal((await start("datasets verify", older)).exitCode, exitCodes.unhealthy);
  assert.equal((await json("datasets verify", newer))[0].fault, null);
  assert.match(await refusal(exitCodes.conflict, "datasets verify x"), /no dataset 'x'/);
});
