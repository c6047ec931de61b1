import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { openCommitBarrier } from "#http/send-answer.ts";
import { openHttpServer } from "../support/http-server.ts";

const never = () => assert.fail("must not be called");

test("the counts of one turn are committed once, before any of its responses is sent", async () => {
  const happened: string[] = [];
  const afterCommit = openCommitBarrier(() => void happened.push("committed"));
  const note = (what: string) => void happened.push(what);
  afterCommit("a", note, never);
  afterCommit(
    "b",
    (what) => {
      note(what);
      afterCommit("c", note, never);
    },
    never,
  );
  assert.deepEqual(happened, []);
  await setImmediate();
  assert.deepEqual(happened, ["committed", "a", "b"]);
  await setImmediate();
  assert.deepEqual(happened, ["committed", "a", "b", "committed", "c"]);
});

test("responses wait for a commit over the network, and those of a later turn for their own", async () => {
  const commits: PromiseWithResolvers<void>[] = [];
  const sent: string[] = [];
  const afterCommit = openCommitBarrier(() => {
    const commit = Promise.withResolvers<void>();
    commits.push(commit);
    return commit.promise;
  });
  const note = (what: string) => void sent.push(what);
  afterCommit("first", note, never);
  await setImmediate();
  afterCommit("second", note, never);
  await setImmediate();
  assert.deepEqual([commits.length, sent], [2, []]);
  commits[1]!.resolve();
  await setImmediate();
  assert.deepEqual(sent, ["second"]);
  commits[0]!.resolve();
  await setImmediate();
  assert.deepEqual(sent, ["second", "first"]);
});

test("a request whose count could not be committed is a 503 without quota fields, and the next one is answered", async (t) => {
  let isDown = true;
  const afterCommit = openCommitBarrier(() =>
    isDown ? Promise.reject(new Error("The counters are away.")) : Promise.resolve(),
  );
  const { get } = await openHttpServer(t, { afterCommit });
  for (const path of ["/fetch-gp?gp_name=kkr", "/fetch-gp"]) {
    const { status, headers, body } = await get(path);
    assert.deepEqual([status, body.code, body.reason], [503, "unavailable", "store_down"]);
    assert.deepEqual(
      ["retry-after", "ratelimit", "etag", "dataset-version"].map((name) => headers.get(name)),
      ["1", null, null, null],
    );
  }
  isDown = false;
  const { status, headers } = await get("/fetch-gp?gp_name=kkr");
  assert.equal(status, 200);
  assert.notEqual(headers.get("ratelimit"), null);
});
