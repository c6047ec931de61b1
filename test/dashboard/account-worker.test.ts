import assert from "node:assert/strict";
import { test } from "node:test";
import { explainedMax, openAccountWorker } from "#dashboard/account-worker.ts";
import { openMemoryCounters } from "#limits/memory-counters.ts";
import { workerSettings } from "../support/inside-worker.ts";
import { fixedClock } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

test("no more explanations wait for the thread of the pages than it makes in a moment", async (t) => {
  const errors: string[] = [];
  const dataDir = temporaryFolder(t);
  const counters = openMemoryCounters(fixedClock());
  const accountWorker = openAccountWorker({
    settings: () => ({ ...workerSettings, dataDir }),
    quota: { look: counters.look, take: () => assert.fail("an explanation is charged before") },
    reportError: (error) => void errors.push(error),
  });
  t.after(() => accountWorker.close());
  const explain = () => accountWorker.explain("gp_0000000000000000");
  const waiting = Array.from({ length: explainedMax }, explain);
  await assert.rejects(explain(), {
    code: "unavailable",
    members: { reason: "overloaded", retry_after: 1 },
    message: /^Too many records are being explained at once\. Try again/,
  });
  assert.deepEqual(new Set(await Promise.all(waiting)), new Set([null]));
  assert.equal(await explain(), null);
  assert.deepEqual(errors, []);
});
