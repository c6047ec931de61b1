import assert from "node:assert/strict";
import { openAccountWorker } from "#dashboard/account-worker.ts";
import { issueKey } from "#keys/keys.ts";
import { openMemoryCounters } from "#limits/memory-counters.ts";
import { makeGateMemory, makePoolMemory } from "#store/postgres.ts";
import { day } from "../support/control.ts";
import { forEachStore as test } from "../support/for-each-store.ts";
import { startMailServer } from "../support/mail-server.ts";
import { openPeople } from "../support/people.ts";
import { fixedClock } from "../support/service.ts";

test("an account worker mails due notices without a request, and closes once they are sent", async (t) => {
  const mail = await startMailServer(t);
  const { place, dataDir, control, signUp } = await openPeople(t);
  const { databaseUrl: url } = place;
  const { account } = await signUp("ada@example.org");
  const now = Date.now();
  const { id } = await issueKey(control, {
    account,
    name: "nightly",
    expiresAt: now + 2 * day,
    now: now - 30 * day,
  });
  const errors: string[] = [];
  const counters = openMemoryCounters({
    dir: null,
    clock: fixedClock(),
    onFault: assert.ifError,
  });
  const settings = {
    dataDir,
    database:
      url === null ? null : { url, gateMemory: makeGateMemory(), poolMemory: makePoolMemory() },
    publicUrl: "https://records.example",
    linkBase: "https://records.example",
    signUp: "closed",
    isDemo: false,
    smtpUrl: mail.url,
    mailFrom: "records@example.org",
    usageLogDays: 14,
    auditDays: 0,
  } as const;
  const accountWorker = openAccountWorker({
    settings: () => settings,
    counters: () => counters,
    reportError: (error) => void errors.push(error),
  });
  t.after(() => accountWorker.close());
  accountWorker.open();
  const { headers, text } = await mail.messageTo("ada@example.org");
  assert.match(headers["subject"]!, /expires soon/);
  assert.match(text, new RegExp(`https://records\\.example/account/keys/${id}`));
  await accountWorker.close();
  assert.equal(mail.messages.length, 1);
  assert.deepEqual(errors, []);
});
