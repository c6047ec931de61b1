import assert from "node:assert/strict";
import { test } from "node:test";
import { openFailedKeys } from "#limits/keyed-limit.ts";
import { heapBytes } from "../support/heap-bytes.ts";
import { clockOf, openWorld, second } from "../support/limits-world.ts";

function begin(addressesMax?: number) {
  const world = openWorld();
  const clock = clockOf(world);
  const failedKeys = openFailedKeys(
    addressesMax === undefined ? { clock } : { clock, addressesMax },
  );
  const failMany = (count: number, address: string) => {
    let admitted = 0;
    for (let i = 0; i < count; i++) if (failedKeys.take(address).admitted) admitted++;
    return admitted;
  };
  return { world, failedKeys, failMany };
}

test("the minute slides: no 60 seconds hold more than 30 wrong keys", () => {
  const { world, failMany } = begin();
  failMany(10, "192.0.2.7");
  world.now += 50 * second;
  assert.equal(failMany(30, "192.0.2.7"), 20);
  world.now += 10 * second;
  assert.equal(failMany(30, "192.0.2.7"), 10);
});

test("the table is bounded: the address that failed longest ago makes room", () => {
  const { failedKeys, failMany } = begin(3);
  failMany(30, "192.0.2.1");
  failMany(30, "192.0.2.2");
  failMany(30, "192.0.2.3");
  assert.equal(failMany(1, "192.0.2.1"), 0);
  failMany(1, "192.0.2.4");
  assert.equal(failedKeys.networkCount(), 3);
  assert.equal(failMany(1, "192.0.2.1"), 0);
  assert.equal(failMany(1, "192.0.2.2"), 1);
});

test("100,000 addresses leave 10,000 in memory", () => {
  const { failedKeys } = begin();
  for (let address = 0; address < 100_000; address++)
    failedKeys.take(`10.${address >> 16}.${(address >> 8) & 255}.${address & 255}`);
  assert.equal(failedKeys.networkCount(), 10_000);
});

test("a million wrong keys from one address take no more memory than the first hundred", () => {
  const { failMany } = begin();
  const heapAfter = (count: number) => {
    failMany(count, "192.0.2.7");
    return heapBytes();
  };
  const before = heapAfter(100);
  const grownMebibytes = (heapAfter(1_000_000) - before) / 2 ** 20;
  assert.ok(grownMebibytes < 2, `${grownMebibytes} MiB`);
});
