import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { openRecorder, openChunkDraft, type Batch } from "#usage/recording.ts";
import { openKeptBatches, sizeOf } from "#usage/writer.ts";
import { hour, noon } from "../support/control.ts";
import { batchOf, chunkOf, readChunk, request, type TimedRequest } from "../support/usage.ts";

/** Keeps what is handed over, since only the times of it are of interest here. */
function recorderOf(t: TestContext) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const batches: { requests: TimedRequest[]; now: number }[] = [];
  const write = (batch: Batch) => {
    batches.push({ requests: readChunk(batch.requests), now: batch.now });
  };
  let now = noon;
  const recorder = openRecorder(write, () => now);
  const pass = (milliseconds: number) => {
    now += milliseconds;
    t.mock.timers.tick(milliseconds);
  };
  return { recorder, batches, pass };
}

test("requests are handed over once a second, with the time of each", (t) => {
  const { recorder, batches, pass } = recorderOf(t);
  recorder.record(request({ requestId: "a" }));
  pass(400);
  recorder.record(request({ requestId: "b" }));
  pass(599);
  assert.equal(batches.length, 0);
  pass(1);
  assert.deepEqual(batches, [
    {
      requests: [request({ requestId: "a" }), request({ requestId: "b", at: noon + 400 })],
      now: noon + 1000,
    },
  ]);
  pass(5000);
  recorder.record(request({ requestId: "c" }));
  pass(1000);
  assert.deepEqual(batches[1]!.requests, [request({ requestId: "c", at: noon + 6000 })]);
});

test("what fills the buffer is handed over at once, and none is left out", (t) => {
  const { recorder, batches, pass } = recorderOf(t);
  const idOf = (i: number) => String(i).padStart(64, "0");
  const count = 25_000;
  for (let i = 0; i < count; i++) recorder.record(request({ requestId: idOf(i) }));
  assert.ok(batches.length >= 2);
  pass(1000);
  const ids = batches.flatMap(({ requests }) => requests.map(({ requestId }) => requestId));
  assert.equal(ids.length, count);
  for (const [i, id] of ids.entries()) assert.equal(id, idOf(i));
});

test("closing hands over what was recorded last", async (t) => {
  const { recorder, batches } = recorderOf(t);
  recorder.record(request());
  recorder.close();
  recorder.close();
  assert.deepEqual(batches, [{ requests: [request()], now: noon }]);
});

test("a server that nobody asks hands over nothing, one that nobody asks any more lets what is old be removed", (t) => {
  const { recorder, batches, pass } = recorderOf(t);
  pass(5 * hour);
  assert.equal(batches.length, 0);
  recorder.record(request());
  pass(1000);
  pass(hour);
  pass(hour);
  assert.deepEqual(
    batches.map(({ requests, now }) => [requests.length, now]),
    [
      [1, noon + 5 * hour + 1000],
      [0, noon + 6 * hour + 1000],
      [0, noon + 7 * hour + 1000],
    ],
  );
});

test("what is laid into a chunk is read from it, in its order", () => {
  const requests = [
    request({ requestId: "req_1", query: null }),
    request({ at: 1_795_262_400_123, account: 4_294_967_295, key: "key_b", requestId: "x" }),
    request({ status: 400, dataset: null, problem: "invalid-parameters", bytes: 0, query: "" }),
    request({ requestId: "r".repeat(64), query: "gp_name=gpr_abcd…&limit=%20", milliseconds: 0 }),
    request({ operation: "fetch-projects", bytes: 5_000_000_000, milliseconds: 99_999.99 }),
  ];
  assert.deepEqual(readChunk(chunkOf(requests)), requests);
  assert.deepEqual(readChunk(chunkOf([])), []);
});

test("a response that takes more than six hours is kept as the longest time that both engines store", () => {
  const [found] = readChunk(chunkOf([request({ milliseconds: 8 * hour })]));
  assert.equal(found!.milliseconds, (2 ** 31 - 1) / 100);
});

test("words that many requests share lie in a chunk once", () => {
  const { words, bytes } = chunkOf(Array.from({ length: 100 }, () => request()));
  assert.deepEqual(words, ["", "key_a", "fetch-gp", "20261121T090000Z-1"]);
  assert.ok(bytes.byteLength <= 100 * 44, String(bytes.byteLength));
});

test("of a query 500 characters are kept, of an id 64", () => {
  const [found] = readChunk(
    chunkOf([request({ query: "ä".repeat(501), requestId: "r".repeat(65) })]),
  );
  assert.equal(found!.query, "ä".repeat(500));
  assert.equal(found!.requestId, "r".repeat(64));
});

test("a draft that is full says so and takes requests again once its chunk was taken", () => {
  const draft = openChunkDraft(4096);
  const long = request({ query: "q".repeat(500), requestId: "r".repeat(64) });
  let added = 0;
  while (draft.add(long.at, long)) added++;
  assert.ok(added >= 2);
  const full = draft.take();
  assert.equal(full.count, added);
  assert.deepEqual(readChunk(full), Array<TimedRequest>(added).fill(long));
  assert.equal(draft.add(long.at, { ...long, key: "key_b" }), true);
  assert.equal(readChunk(draft.take())[0]!.key, "key_b");
  assert.deepEqual(readChunk(full)[0], long);
});

const batchWith = (count: number) => batchOf(Array.from({ length: count }, () => request()));

test("a batch larger than the bound is given up by itself", () => {
  const kept = openKeptBatches(100);
  assert.equal(kept.add(batchWith(50)), 50);
  assert.equal(kept.take(), undefined);
});

test("a batch that is being written is not dropped, and is again what comes first where it could not be", () => {
  const first = batchWith(3);
  const kept = openKeptBatches(sizeOf(first));
  kept.add(first);
  kept.take();
  assert.equal(kept.add(batchWith(2)), 2);
  kept.done(false);
  assert.deepEqual(kept.take(), { number: 1, batch: first });
  kept.done(false);
  assert.equal(kept.add(batchWith(2)), 3);
});
