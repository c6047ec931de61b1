import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { openRecorder } from "#usage/recording.ts";
import type { Writer } from "#usage/writer.ts";
import { hour, noon } from "../support/control.ts";
import { readChunk, request, type TimedRequest } from "../support/usage.ts";

/** Keeps what is handed over, since only the times of it are of interest here. */
function recorderOf(t: TestContext) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const batches: { requests: TimedRequest[]; now: number }[] = [];
  const writer: Pick<Writer, "write" | "settled"> = {
    write(batch) {
      assert.ok(batch.kind === "requests");
      batches.push({ requests: readChunk(batch.rows), now: batch.now });
    },
    async settled() {},
  };
  let now = noon;
  const recorder = openRecorder({ writer: writer as Writer, now: () => now });
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
  assert.deepEqual(
    ids,
    Array.from({ length: count }, (_, i) => idOf(i)),
  );
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
