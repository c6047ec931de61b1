import assert from "node:assert/strict";
import { test } from "node:test";
import type { Batch } from "#usage/recording.ts";
import { openKeptBatches, sizeOf } from "#usage/writer.ts";
import { noon } from "../support/control.ts";
import { chunkOf, request } from "../support/usage.ts";

const batchOf = (count: number): Batch => ({
  kind: "requests",
  rows: chunkOf(Array.from({ length: count }, () => request())),
  now: noon,
});

test("batches are kept in their order up to the bound; beyond it the oldest go, and are counted", () => {
  const three = batchOf(3);
  const kept = openKeptBatches(2 * sizeOf(three));
  const second = batchOf(3);
  assert.equal(kept.add(three), 0);
  assert.equal(kept.add(second), 0);
  assert.deepEqual(kept.waiting(), { requests: 6, bytes: 2 * sizeOf(three) });
  assert.equal(kept.add(batchOf(2)), 3);
  assert.deepEqual(kept.take(), { number: 2, batch: second });
  kept.done(true);
  assert.equal(kept.waiting().requests, 2);
  assert.equal(kept.add(batchOf(3)), 0);
});

test("a batch larger than the bound is given up by itself", () => {
  const kept = openKeptBatches(100);
  assert.equal(kept.add(batchOf(50)), 50);
  assert.equal(kept.take(), undefined);
});

test("a batch that is being written is not dropped, and is again what comes first where it could not be", () => {
  const first = batchOf(3);
  const kept = openKeptBatches(sizeOf(first));
  kept.add(first);
  kept.take();
  assert.equal(kept.add(batchOf(2)), 2);
  kept.done(false);
  assert.deepEqual(kept.take(), { number: 1, batch: first });
  kept.done(false);
  assert.equal(kept.add(batchOf(2)), 3);
});
