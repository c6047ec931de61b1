import assert from "node:assert/strict";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { exitCodes } from "#cli/command-fault.ts";
import { openCatalogue } from "#datasets/catalogue.ts";
import { allCommands } from "../support/all-commands.ts";
import { importRecords } from "../support/dataset.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const gp = (id: string, rest: object = {}) => ({ record: "gp", id, name: `GP ${id}`, ...rest });

/** From two GPs to six: one is gone, one has moved, five are new. */
async function twoDatasets(t: TestContext) {
  const dataDir = temporaryFolder(t);
  const catalogue = openCatalogue(join(dataDir, "datasets"));
  const { published: from } = await importRecords(catalogue, [gp("gone"), gp("moved")]);
  const { published: to } = await importRecords(catalogue, [
    gp("moved", { hq_city: "Reno", hq_state: "NV" }),
    ...["a", "b", "c", "d", "e"].map((id) => gp(id)),
  ]);
  const args = ["datasets", "diff", from!.version, to!.version];
  return { dataDir, args, from: from!.version, to: to!.version, ...allCommands(dataDir) };
}

test("a difference is told in counts by kind and source, with the first examples", async (t) => {
  const { args, text } = await twoDatasets(t);
  const lines = (await text(...args))
    .split("\n")
    .map((line) => line.replaceAll(/gp_\w+/g, "ID").replace(/GP [a-e]$/, "GP x"));
  assert.deepEqual(lines.slice(0, 2), [
    "RECORD  SOURCE  ADDED  CHANGED  REMOVED  MERGED",
    "gp      own     5      1        1        0",
  ]);
  assert.deepEqual(lines.slice(3, 8), [
    "added gp ID GP x",
    "added gp ID GP x",
    "added gp ID GP x",
    "changed gp ID GP moved: hq_city, hq_state",
    "removed gp ID GP gone",
  ]);
});

test("without versions the current dataset is compared with the one before, and merged GPs are told with the one they are now", async (t) => {
  const { dataDir, from, to, text, json } = await twoDatasets(t);
  const catalogue = openCatalogue(join(dataDir, "datasets"));
  const { published } = await importRecords(catalogue, [
    gp("moved", { former_ids: ["a"], hq_city: "Reno", hq_state: "NV" }),
    ...["b", "c", "d", "e"].map((id) => gp(id)),
  ]);
  const merge = await json("datasets", "diff");
  assert.deepEqual([merge.from, merge.to], [to, published!.version]);
  assert.deepEqual(merge.counts, [
    { record: "gp", source: "own", added: 0, changed: 1, removed: 0, merged: 1 },
  ]);
  assert.match(await text("datasets", "diff"), /\nmerged gp gp_\w+ GP a into gp_\w+\n/);
  assert.equal((await json("datasets", "diff", from)).to, published!.version);
});

test("--json gives the counts and the examples, --ndjson every change on a line", async (t) => {
  const { args, from, to, text, json, start } = await twoDatasets(t);
  const summary = await json(...args);
  assert.deepEqual([summary.from, summary.to], [from, to]);
  assert.deepEqual(summary.counts, [
    { record: "gp", source: "own", added: 5, changed: 1, removed: 1, merged: 0 },
  ]);
  assert.equal(summary.examples.length, 5);
  const all = (await text(...args, "--ndjson"))
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.equal(all.length, 7);
  assert.deepEqual(all.find(({ change }) => change === "changed").members, {
    hq_city: { from: null, to: "Reno" },
    hq_state: { from: null, to: "NV" },
  });
  assert.equal((await start(...args, "--ndjson", "--json")).exitCode, exitCodes.usage);
});

test("datasets that are equal are said to be so, and one that is not there ends with 4", async (t) => {
  const { from, text, refusal } = await twoDatasets(t);
  assert.equal(
    await text("datasets", "diff", from, from),
    "The two datasets have the same records.\n",
  );
  assert.equal(await text("datasets", "diff", from, from, "--ndjson"), "");
  assert.match(await refusal(exitCodes.conflict, "datasets", "diff", from, "x"), /no dataset 'x'/);
});
