import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Catalogue } from "#datasets/catalogue.ts";
import { rollBack } from "#datasets/choose.ts";
import { folderDatasets } from "#datasets/datasets.ts";
import { keepingSteps } from "#datasets/keep-steps.ts";
import { openPublications } from "#datasets/publications.ts";
import { entriesOf, importRecords, temporaryCatalogue } from "../support/dataset.ts";
import { followHistory } from "./histories.ts";
import { day, gp } from "./published.ts";

test("a copy that applies the step of each publication and roll-back of a random history is the new dataset, byte for byte", async (t) => {
  const all = { publications: 0, rollBacks: 0, merged: 0, changes: 0 };
  for (let seed = 1; seed <= 30; seed++) {
    const happened = await followHistory(temporaryCatalogue(t), seed);
    for (const key of Object.keys(all) as (keyof typeof all)[]) all[key] += happened[key];
  }
  assert.ok(all.publications > 100 && all.rollBacks > 20 && all.merged > 5 && all.changes > 100);
});

test("a step that cannot be written prevents no publication and no roll-back, and says who has to begin anew", async (t) => {
  const folder = temporaryCatalogue(t);
  const warnings: string[] = [];
  const catalogue = keepingSteps(folder, (sentence) => void warnings.push(sentence));
  const publications = openPublications(folder.folder);
  const first = await publish(catalogue, 1, [gp("a")]);
  // A file where the folder of steps belongs.
  rmSync(join(folder.folder, "changes"), { recursive: true });
  writeFileSync(join(folder.folder, "changes"), "");
  const second = await publish(catalogue, 2, [gp("b")]);
  assert.equal(rollBack(catalogue, day(3)).version, first);
  assert.match(warnings.join("\n"), new RegExp(`${second} is not listed by /changes`));
  rmSync(join(folder.folder, "changes"));
  await publish(catalogue, 4, [gp("c")]);
  const listed = publications.list(folder.currentVersion());
  assert.deepEqual(
    listed.map(({ version, step }) => [version, step?.changes]),
    [
      [first, undefined],
      [folder.currentVersion(), 2],
    ],
  );
});

test("a directory in the place of a step or of its index is named when the step is asked for", async (t) => {
  const folder = temporaryCatalogue(t);
  const catalogue = keepingSteps(folder, assert.fail);
  const from = await publish(catalogue, 1, [gp("a")]);
  const to = await publish(catalogue, 2, [gp("b")]);
  const publications = openPublications(folder.folder);
  assert.equal(publications.openStep(from, to)!.changes, 2);
  const step = publications.stepPath(from, to);
  for (const path of [step.replace(/ndjson$/, "index"), step]) {
    rmSync(path);
    mkdirSync(path);
    assert.throws(() => publications.openStep(from, to), {
      name: "DatasetFault",
      message: new RegExp(`^${path} is a directory, not a file\\. `),
    });
  }
});

test("a current dataset that is damaged is gone back from without a step", async (t) => {
  const folder = temporaryCatalogue(t);
  const warnings: string[] = [];
  const catalogue = keepingSteps(folder, (sentence) => void warnings.push(sentence));
  const first = await publish(catalogue, 1, [gp("a")]);
  const second = await publish(catalogue, 2, [gp("b")]);
  const path = folder.pathOf(second);
  const bytes = readFileSync(path);
  bytes[bytes.length - 100]! ^= 1;
  writeFileSync(path, bytes);
  assert.equal(rollBack(catalogue, day(3)).version, first);
  assert.match(warnings.join("\n"), /SHA-256 differs/);
});

test("in a folder old publications go with their steps, the newest stays, and what a killed command left goes", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const publications = openPublications(catalogue.folder);
  const datasets = folderDatasets(catalogue, { changesDays: 2, warn: (one) => assert.fail(one) });
  const versions: string[] = [];
  for (const number of [1, 2, 3, 4]) {
    const records = Array.from({ length: number }, (_, i) => gp(`g${i}`));
    const request = { source: "own", entries: entriesOf(records), rejectedMax: { lines: 0 } };
    const result = await datasets.importSource({
      ...request,
      isDryRun: false,
      nowMilliseconds: day(number),
    });
    versions.push(result.published!.version);
  }
  const [first, second, third, fourth] = versions as [string, string, string, string];
  writeFileSync(join(catalogue.folder, "changes", ".step.999999999.1.tmp"), "");
  await datasets.forgetSteps(day(5));
  const kept = publications.list(fourth);
  assert.deepEqual(
    kept.map(({ version }) => version),
    [third, fourth],
  );
  assert.equal(publications.openStep(first, second), null);
  assert.equal(publications.openStep(second, third)!.changes, 1);
  assert.ok(!existsSync(join(catalogue.folder, "changes", ".step.999999999.1.tmp")));
  await datasets.forgetSteps(day(30));
  assert.deepEqual(
    publications.list(fourth).map(({ version }) => version),
    [fourth],
  );
  await folderDatasets(catalogue, { changesDays: 0, warn() {} }).forgetSteps(day(5));
  assert.deepEqual([publications.list(fourth), publications.openStep(third, fourth)], [[], null]);
});

const publish = async (catalogue: Catalogue, number: number, records: readonly unknown[]) => {
  const order = { nowMilliseconds: day(number), shrinkPercentMax: 100 };
  return (await importRecords(catalogue, records, order)).published!.version;
};
