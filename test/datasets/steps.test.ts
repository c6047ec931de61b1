import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Catalogue } from "#datasets/catalogue.ts";
import { openPublications } from "#datasets/publications.ts";
import { importRecords, keepingSteps, rollBack, temporaryCatalogue } from "../support/dataset.ts";
import { followHistories } from "./histories.ts";
import { day, gp } from "./published.ts";

test("a copy that applies the step of each publication and roll-back of a random history is the new dataset, byte for byte; steps joined are both datasets compared", async (t) => {
  const all = await followHistories(t, 1, 30);
  assert.ok(all.publications > 100 && all.rollBacks > 20 && all.merged > 5 && all.changes > 100);
  assert.ok(all.joined > 500);
});

test("a step that cannot be written prevents no publication and no roll-back, and says who has to begin anew", async (t) => {
  const folder = temporaryCatalogue(t);
  const warnings: string[] = [];
  const catalogue = keepingSteps(folder, (sentence) => void warnings.push(sentence));
  const first = await publish(catalogue, 1, [gp("a")]);
  // A file where the folder of steps belongs.
  rmSync(join(folder.folder, "changes"), { recursive: true });
  writeFileSync(join(folder.folder, "changes"), "");
  const second = await publish(catalogue, 2, [gp("b")]);
  assert.equal((await rollBack(catalogue, day(3))).version, first);
  assert.match(
    warnings.join("\n"),
    new RegExp(`${second} is being published, but could not be added to the list for /changes`),
  );
  rmSync(join(folder.folder, "changes"));
  await publish(catalogue, 4, [gp("c")]);
  assert.deepEqual(noted(folder), [
    [first, undefined],
    [folder.currentVersion(), 2],
  ]);
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
  assert.equal((await rollBack(catalogue, day(3))).version, first);
  assert.match(warnings.join("\n"), /SHA-256 differs/);
  assert.deepEqual(noted(folder), [
    [first, undefined],
    [second, 2],
    [first, undefined],
  ]);
});

/** Versions that were published, with the number of changes in the step to each. */
const noted = ({ folder, currentVersion }: Catalogue) =>
  openPublications(folder)
    .list(currentVersion())
    .map(({ version, step }) => [version, step?.changes]);

const publish = async (catalogue: Catalogue, number: number, records: readonly unknown[]) => {
  const order = { nowMilliseconds: day(number), shrinkPercentMax: 100 };
  return (await importRecords(catalogue, records, order)).published!.version;
};
