/** Imports of a folder that grows, in which sponsors turn out to be one, are parted, get CRD numbers and are corrected. */
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { day } from "../datasets/published.ts";
import { seededRandom } from "../support/awkward/random.ts";
import { importRecords, temporaryCatalogue } from "../support/dataset.ts";
import {
  contentOf,
  followSequence,
  type GrowingFolder,
  type Imports,
  openFolder,
} from "./sequence.ts";
import { resolved } from "./world.ts";

/** Imports of typed rows, without files. */
function importsInMemory(t: TestContext): Imports {
  const catalogue = temporaryCatalogue(t);
  return {
    catalogue,
    async importFolder(folder: GrowingFolder, number: number) {
      const { entries } = resolved(folder.world());
      const options = { source: "sec", entries, nowMilliseconds: day(number) };
      const { outcome, collected } = await importRecords(catalogue, [], options);
      assert.notEqual(outcome, "refused");
      assert.deepEqual(collected.rejections.listed, []);
    },
  };
}

test("over twelve imports of a folder that grows and is corrected, every published id of who is still named answers, none is refused, and the records are those of one import of all", async (t) => {
  const all = { former: 0, parted: 0, answered: 0 };
  for (let seed = 1; seed <= 3; seed++) {
    const happened = await followSequence(seed, importsInMemory(t), importsInMemory(t));
    for (const key of Object.keys(all) as (keyof typeof all)[]) all[key] += happened[key];
  }
  t.diagnostic(JSON.stringify(all));
  for (const count of Object.values(all)) assert.ok(count > 0, JSON.stringify(all));
});

test("a folder imported again after another gives the records of before, but for ids that lead on", async (t) => {
  for (const seed of [2, 3]) {
    const [one, other] = [openFolder(seededRandom(seed)), openFolder(seededRandom(seed + 50))];
    for (const folder of [one, other]) for (let quarter = 1; quarter <= 6; quarter++) folder.grow();
    const [again, alone] = [importsInMemory(t), importsInMemory(t)];
    await again.importFolder(one, 1);
    await again.importFolder(other, 2);
    await again.importFolder(one, 3);
    await alone.importFolder(one, 3);
    assert.deepEqual(contentOf(again.catalogue), contentOf(alone.catalogue));
  }
});
