import assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { listAudit } from "#store/audit.ts";
import { exitCodes } from "#cli/command-fault.ts";
import { openCatalogue } from "#datasets/catalogue.ts";
import { openControl } from "#store/stores.ts";
import { allCommands } from "../support/all-commands.ts";
import { importRecords } from "../support/dataset.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** A folder with as many datasets, published long before the commands of a test. */
async function published(t: TestContext, count: number, settings: Record<string, string> = {}) {
  const dataDir = temporaryFolder(t);
  const catalogue = openCatalogue(join(dataDir, "datasets"));
  for (let i = 0; i < count; i++)
    await importRecords(catalogue, [{ record: "gp", id: "a", name: `GP ${i}` }]);
  const all = catalogue.versions();
  const left = () => catalogue.versions();
  const importing = async (name: string) => {
    const file = join(dataDir, "records.ndjson");
    writeFileSync(file, JSON.stringify({ record: "gp", id: "a", name }));
    return ["import", "ndjson", file, "--source", "own"];
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
    await text("datasets", "prune", "--dry-run"),
    `${versions}Would delete 2 datasets and free ${size} bytes.\n`,
  );
  assert.equal(left().length, 12);
  assert.equal(
    await text("datasets", "prune"),
    `${versions}Deleted 2 datasets, which freed ${size} bytes.\n`,
  );
  assert.equal(left().length, 10);
  const { bytes: oneMore } = catalogue.find(all[2]!);
  assert.deepEqual(await json("datasets", "prune", "--keep", "9"), {
    removed: [all[2]],
    bytes: oneMore,
    pinned: [],
    dry_run: false,
  });
  assert.match(await text("datasets", "prune"), /nothing was deleted/);
  for (const keep of ["0", "-1", "all", ""])
    await refusal(exitCodes.usage, "datasets", "prune", "--keep", keep);
});

test("an import removes what DATASETS_KEEP does not cover any more, says so, and notes it", async (t) => {
  const settings = { DATASETS_KEEP: "3" };
  const { dataDir, all, left, text, json, importing } = await published(t, 4, settings);
  const out = await text(...(await importing("new")));
  assert.match(out, /\nDeleted 2 datasets beyond the newest 3 \(DATASETS_KEEP\), which freed /);
  assert.deepEqual(left().slice(0, 2), all.slice(2));
  const { pruned, version } = await json(...(await importing("newer")));
  assert.deepEqual(pruned, [all[2]]);
  assert.equal(left().at(-1), version);
  assert.deepEqual(
    await audited(dataDir),
    all.slice(0, 3).map((one) => ["service", "dataset.pruned", one]),
  );
});

test("an import that publishes nothing removes nothing", async (t) => {
  const { left, text, json, importing } = await published(t, 4, { DATASETS_KEEP: "1" });
  await text(...(await importing("GP 3")));
  await text(...(await importing("new")), "--dry-run");
  assert.equal(left().length, 4);
  assert.deepEqual((await json(...(await importing("new")), "--stage")).pruned, []);
  assert.equal(left().length, 5);
});

test("publish and rollback remove old datasets as an import does, but none that a roll-back would go to", async (t) => {
  const { all, left, text, json } = await published(t, 6, { DATASETS_KEEP: "2" });
  assert.deepEqual(await json("datasets", "rollback"), {
    version: all[4],
    published_at: "2026-11-21T12:00:00Z",
    pruned: all.slice(0, 3),
  });
  assert.deepEqual(left(), all.slice(3));
  assert.match(await text("datasets", "publish", all[5]!), /is the current dataset\.\n$/);
  assert.deepEqual(left(), all.slice(3), "what was current a moment ago may be being opened");
});

test("a dataset that cannot be removed is reported, and the publication is a success", async (t) => {
  const { all, left, start, importing, catalogue } = await published(t, 4, { DATASETS_KEEP: "1" });
  const path = catalogue.pathOf(all[0]!);
  rmSync(path);
  mkdirSync(join(path, "not-empty"), { recursive: true });
  const { exitCode, err } = await start(...(await importing("new")));
  assert.equal(exitCode, exitCodes.done);
  assert.match(err, new RegExp(`^warning: the old dataset ${all[0]} could not be deleted: .*\\n$`));
  const current = catalogue.currentVersion()!;
  assert.deepEqual(left(), [all[0], all[3], current]);
  assert.equal(catalogue.find(current).published_after, all[3]);
  const asked = await start("datasets", "prune", "--keep", "1");
  assert.equal(asked.exitCode, exitCodes.usage);
  assert.match(asked.err, new RegExp(`^error: .*${all[0]}`));
});

test("facts that cannot be read keep old datasets from being removed, which is reported", async (t) => {
  const { all, left, start, importing, catalogue } = await published(t, 4, { DATASETS_KEEP: "1" });
  writeFileSync(join(catalogue.folder, `${all[1]}.json`), "{");
  const { exitCode, err } = await start(...(await importing("new")));
  assert.equal(exitCode, exitCodes.done);
  assert.match(
    err,
    new RegExp(`^warning: old datasets could not be deleted: .*${all[1]}.json .*\\n$`),
  );
  assert.equal(left().length, 5);
});

test("a dataset is pinned and let go by name, is listed as pinned, and prune names what it may not delete", async (t) => {
  const { dataDir, all, left, text, json, refusal } = await published(t, 3, { DATASETS_KEEP: "1" });
  const [first] = all as [string];
  assert.match(await text("datasets", "pin", first), /is pinned/);
  assert.deepEqual(await json("datasets", "pin", first), {
    version: first,
    pinned_at: "2026-11-21T12:00:00Z",
  });
  const listed = await json("datasets", "list");
  assert.deepEqual(
    listed.map(({ pinned }: { pinned: boolean }) => pinned),
    [true, false, false],
  );
  assert.match(await text("datasets", "list"), new RegExp(`${first} .* pinned `));
  assert.match(await text("datasets", "show", first), /pinned +2026-11-21T12:00:00Z/);
  const out = await text("datasets", "prune");
  assert.match(out, new RegExp(`${first} is pinned and stays; .*datasets unpin ${first}'`));
  assert.deepEqual(left(), [first, all[2]]);
  assert.deepEqual((await json("datasets", "prune")).pinned, [first]);
  assert.match(await text("datasets", "unpin", first), /is not pinned/);
  assert.deepEqual((await json("datasets", "unpin", first)).pinned_at, null);
  assert.deepEqual((await json("datasets", "prune")).removed, [first]);
  for (const word of ["pin", "unpin"])
    assert.match(await refusal(exitCodes.conflict, "datasets", word, first), /no dataset/);
  assert.deepEqual(await audited(dataDir), [
    ["operator", "dataset.pinned", first],
    ["operator", "dataset.pruned", all[1]],
    ["operator", "dataset.unpinned", first],
    ["operator", "dataset.pruned", first],
  ]);
});
