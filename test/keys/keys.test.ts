import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createAccount, suspendAccount } from "#accounts/accounts.ts";
import { listKeys, revokeKey } from "#keys/keys.ts";
import { controlWithAccount, day, noon } from "../support/control.ts";
import { forEachStore as test } from "../support/for-each-store.ts";

test("a key is issued once and stored only as its digest", async (t) => {
  const { dataDir, control, issue } = await controlWithAccount(t);
  const issued = await issue();
  const stored = await control.database.selectFrom("api_key").selectAll().executeTakeFirstOrThrow();
  assert.deepEqual(Buffer.from(stored.digest), createHash("sha256").update(issued.key).digest());
  assert.equal(stored.hint, issued.key.slice(0, 8));
  const secret = issued.key.slice(8);
  for (const file of readdirSync(dataDir))
    assert.ok(!readFileSync(join(dataDir, file)).includes(secret), `the key stands in ${file}`);
  assert.ok(!JSON.stringify(await listKeys(control, { now: noon })).includes(secret));
});

test("a list shows the state of every key, of one account or of all", async (t) => {
  const { control, account, issue } = await controlWithAccount(t);
  const other = await createAccount(control, { name: "Beta", quotas: {}, now: noon });
  await issue({ name: "active" });
  await issue({ name: "expiring", expiresAt: noon + 14 * day });
  await issue({ name: "expired", expiresAt: noon });
  const { id } = await issue({ name: "revoked" });
  await revokeKey(control, id, noon);
  await issue({ account: other, name: "suspended" });
  await suspendAccount(control, "Beta", noon);
  const all = await listKeys(control, { now: noon });
  assert.deepEqual(all.map((key) => key.state).toSorted(), all.map((key) => key.name).toSorted());
  for (const key of all) assert.equal(key.state, key.name);
  const some = await listKeys(control, { accountNumber: account.number, now: noon });
  assert.deepEqual(some.map(({ name }) => name).toSorted(), [
    "active",
    "expired",
    "expiring",
    "revoked",
  ]);
});

test("a revoked key keeps its row and the time of its first revocation", async (t) => {
  const { control, issue } = await controlWithAccount(t);
  const { id } = await issue();
  const first = await revokeKey(control, id, noon);
  assert.equal(first, "2026-11-21T12:00:00.000Z");
  assert.equal(await revokeKey(control, id, noon + day), first);
  const [listed] = await listKeys(control, { now: noon });
  assert.equal(listed?.revokedAt, first);
});

test("a key of no such id is named in the error, but never a key that was given for its id", async (t) => {
  const { control, issue } = await controlWithAccount(t);
  const { key } = await issue();
  await assert.rejects(
    revokeKey(control, "key_nothing", noon),
    /No key has the id 'key_nothing'.*keys list/,
  );
  await assert.rejects(
    revokeKey(control, key, noon),
    (error: Error) => !error.message.includes(key.slice(8)),
  );
});

test("a key must have a name that can be shown", async (t) => {
  const { issue } = await controlWithAccount(t);
  await assert.rejects(issue({ name: " " }), /name of the key must not be empty/);
});
