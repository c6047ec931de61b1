import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { makeGateMemory } from "#store/postgres.ts";
import { openKeyUse, readLastUse } from "#usage/recording.ts";
import { openWriter } from "#usage/writer.ts";
import { minute, noon } from "../support/control.ts";
import { forEachStore as test, storePlace } from "../support/for-each-store.ts";
import { readUsage } from "../support/usage.ts";

async function openUse(t: TestContext) {
  const place = await storePlace(t);
  const { dataDir, databaseUrl: url } = place;
  const database = url === null ? null : { url, gateMemory: makeGateMemory() };
  const writer = openWriter({ dataDir, database, onFault: (fault) => assert.equal(fault, null) });
  t.after(() => writer.close());
  const use = openKeyUse({ writer });
  const lastUse = async () => {
    const found = await readUsage(place, (usage) => readLastUse(usage));
    return new Map(Array.from(found, ([id, { at: time }]) => [id, time]));
  };
  const close = () => {
    use.close();
    return writer.settled();
  };
  return { place, use, lastUse, close };
}

const at = (time: number) => new Date(time).toISOString();

test("the use of a key survives closing", async (t) => {
  const { use, lastUse, close } = await openUse(t);
  use.note("key_a", noon);
  use.note("key_b", noon + 1);
  await close();
  assert.deepEqual(Object.fromEntries(await lastUse()), {
    key_a: at(noon),
    key_b: at(noon + 1),
  });
});

test("a key's use is written at most once a minute, each key by itself", async (t) => {
  const { use, lastUse, close } = await openUse(t);
  for (let time = noon; time < noon + minute; time += 1000) use.note("key_a", time);
  use.note("key_a", noon + minute - 1);
  use.note("key_b", noon + minute - 1);
  await close();
  const found = await lastUse();
  assert.equal(found.get("key_a"), at(noon));
  assert.equal(found.get("key_b"), at(noon + minute - 1));
});

test("after a minute the next use is written", async (t) => {
  const { use, lastUse, close } = await openUse(t);
  use.note("key_a", noon);
  use.note("key_a", noon + minute);
  await close();
  assert.equal((await lastUse()).get("key_a"), at(noon + minute));
});

test("a clock that was set back does not keep a key from being noted again", async (t) => {
  const { use, lastUse, close } = await openUse(t);
  use.note("key_a", noon);
  use.note("key_a", noon - 60 * minute);
  use.note("key_a", noon - 59 * minute);
  use.note("key_b", noon - 59 * minute);
  await close();
  assert.equal((await lastUse()).get("key_a"), at(noon - 59 * minute));
});

test("the network of a key's use is asked for and written with it, at most once a minute", async (t) => {
  const { place, use, close } = await openUse(t);
  let asked = 0;
  const networkOf = () => `203.0.113.${asked++}/24`;
  for (let time = noon; time <= noon + minute; time += 1000) use.note("key_a", time, networkOf);
  use.note("key_b", noon);
  await close();
  assert.equal(asked, 2);
  await readUsage(place, async (usage) => {
    assert.deepEqual(
      await readLastUse(usage, ["key_a", "key_c"]),
      new Map([["key_a", { at: at(noon + minute), network: "203.0.113.1/24" }]]),
    );
    assert.equal((await readLastUse(usage)).get("key_b")!.network, null);
    assert.equal((await readLastUse(usage, [])).size, 0);
  });
});
