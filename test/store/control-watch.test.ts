import assert from "node:assert/strict";
import { test } from "node:test";
import { createAccount, suspendAccount } from "#accounts/accounts.ts";
import { setPlan } from "#accounts/plans.ts";
import { inviteToSignUp } from "#accounts/invitations.ts";
import { digestKey, makeKey } from "#keys/api-key.ts";
import { createOwnKey, issueKey, revokeKey } from "#keys/keys.ts";
import { watchControl } from "#store/control-watch.ts";
import { controlFile } from "#store/sqlite-file.ts";
import { openControl } from "#store/stores.ts";
import { noon } from "../support/control.ts";
import { forEachStore } from "../support/for-each-store.ts";
import { faultOf, openPeople } from "../support/people.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

test("the count moves with every change of keys, accounts and plans, and with nothing else", async (t) => {
  const dataDir = temporaryFolder(t);
  const control = await openControl(dataDir);
  t.after(() => control.close());
  const now = Date.parse("2026-11-21T09:00:00Z");
  const watch = watchControl(controlFile(dataDir), () => now);
  t.after(() => watch.close());
  const seen = [watch.count()];
  const account = await createAccount(control, { name: "own", quotas: {}, now });
  seen.push(watch.count());
  const { id } = await issueKey(control, { account, name: "one", expiresAt: null, now });
  seen.push(watch.count());
  await setPlan(control, { name: "gold", quotas: { minute: 300 }, now });
  seen.push(watch.count());
  await revokeKey(control, id, now);
  seen.push(watch.count());
  await suspendAccount(control, account.id, now);
  seen.push(watch.count());
  assert.equal(new Set(seen).size, seen.length);

  await inviteToSignUp(control, { address: "ada@example.org", now });
  assert.equal(watch.count(), seen.at(-1));
});

forEachStore(
  "the store itself refuses two people of one address and two keys of one form",
  async (t) => {
    const { control, signUp } = await openPeople(t);
    const { account, person } = await signUp("ada@example.com");
    const row = await control.database.selectFrom("person").selectAll().executeTakeFirstOrThrow();
    const again = control.database.insertInto("person").values({ ...row, id: "pe_other" });
    await assert.rejects(again.execute(), faultOf("conflict", /took this name/));
    const order = { account, person: person.id, name: "web", expiresAt: null, now: noon };
    await createOwnKey(control, { ...order, form: "one" });
    const key = await control.database.selectFrom("api_key").selectAll().executeTakeFirstOrThrow();
    const digest = digestKey(makeKey());
    const second = control.database.insertInto("api_key").values({ ...key, id: "key_b", digest });
    await assert.rejects(second.execute(), faultOf("conflict", /took this name/));
  },
);
