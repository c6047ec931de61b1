import assert from "node:assert/strict";
import { test as onFile, type TestContext } from "node:test";
import { explainedMax, openAccountWorker } from "#dashboard/account-worker.ts";
import type { AccountWorkerSettings } from "#dashboard/messages.ts";
import { issueKey } from "#keys/keys.ts";
import { openMemoryCounters } from "#limits/memory-counters.ts";
import { day } from "../support/control.ts";
import { forEachStore as test } from "../support/for-each-store.ts";
import { workerSettings } from "../support/inside-worker.ts";
import { startMailServer } from "../support/mail-server.ts";
import { openPeople } from "../support/people.ts";
import { fixedClock } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** An account worker that charges nobody, and the errors that it reported. */
function openWorker(t: TestContext, settings: Partial<AccountWorkerSettings>) {
  const errors: string[] = [];
  const { look } = openMemoryCounters(fixedClock());
  const accountWorker = openAccountWorker({
    settings: () => ({ ...workerSettings, ...settings }),
    quota: { look, take: () => assert.fail("neither a notice nor an explanation is charged here") },
    reportError: (error) => void errors.push(error),
  });
  t.after(() => accountWorker.close());
  return { ...accountWorker, errors };
}

onFile(
  "no more explanations wait for the thread of the pages than it makes in a moment",
  async (t) => {
    const { explain, errors } = openWorker(t, { dataDir: temporaryFolder(t) });
    const explainOne = () => explain("gp_0000000000000000");
    const waiting = Array.from({ length: explainedMax }, explainOne);
    await assert.rejects(explainOne(), {
      code: "unavailable",
      members: { reason: "overloaded", retry_after: 1 },
      message: /^Too many records are being explained at once\. Try again/,
    });
    assert.deepEqual(new Set(await Promise.all(waiting)), new Set([null]));
    assert.equal(await explainOne(), null);
    assert.deepEqual(errors, []);
  },
);

test("account workers of two servers mail each due notice once, without a request, and close once it is sent", async (t) => {
  const mail = await startMailServer(t);
  const { place, control, signUp } = await openPeople(t);
  const { account } = await signUp("ada@example.org");
  const now = Date.now();
  const { id } = await issueKey(control, {
    account,
    name: "nightly",
    expiresAt: now + 2 * day,
    now: now - 30 * day,
  });
  const settings = { ...place, linkBase: "https://records.example", smtpUrl: mail.url };
  const two = [openWorker(t, settings), openWorker(t, settings)];
  for (const accountWorker of two) accountWorker.open();
  const { headers, text } = await mail.messageTo("ada@example.org");
  assert.match(headers["subject"]!, /expires soon/);
  assert.match(text, new RegExp(`https://records\\.example/account/keys/${id}`));
  await Promise.all(two.map((accountWorker) => accountWorker.close()));
  assert.equal(mail.messages.length, 1);
  for (const { errors } of two) assert.deepEqual(errors, []);
});
