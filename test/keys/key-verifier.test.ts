import assert from "node:assert/strict";
import { renameSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createAccount, setQuotas, suspendAccount } from "#accounts/accounts.ts";
import { setPlan } from "#accounts/plans.ts";
import { digestKey } from "#keys/api-key.ts";
import { openKeyVerifier, openKnownKeys, openRecentDigests } from "#keys/key-verifier.ts";
import { revokeKey } from "#keys/keys.ts";
import { Problem } from "#problems.ts";
import { watchControl } from "#store/control-watch.ts";
import { controlWithAccount, noon } from "../support/control.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** An open ring whose clock the test turns. */
async function openRing(t: TestContext) {
  const control = await controlWithAccount(t);
  const clock = { now: noon };
  const faults: (Error | null)[] = [];
  const onFault = (fault: Error | null) => void faults.push(fault);
  const verifier = openKeyVerifier({
    keys: openKnownKeys({ source: watchControl(control.path, () => clock.now), onFault }),
    now: () => clock.now,
  });
  t.after(() => verifier.close());
  /** The problem of the next request with this key; null if it is let in. */
  const refusal = async (key: string) => {
    await nextTurn();
    try {
      await verifier.verify(key);
      return null;
    } catch (error) {
      assert.ok(error instanceof Problem, String(error));
      const { status, code, members } = error;
      return { status, code, members };
    }
  };
  return { ...control, clock, faults, verifier, refusal };
}

const invalid = (reason: string) => ({ status: 401, code: "api-key-invalid", members: { reason } });

test("a valid key is let in with everything a request needs to know of it, such as whether it is a demo's", async (t) => {
  const { control, account, verifier, issue } = await openRing(t);
  const { id, key } = await issue({ name: "web" });
  await setQuotas(control, account.id, { hour: 5000 }, noon);
  await nextTurn();
  const live = await verifier.verify(key);
  assert.deepEqual(live, {
    id,
    hint: key.slice(0, 8),
    accountNumber: account.number,
    quotas: { minute: null, hour: 5000, day: null },
    mayReadChanges: true,
    isDemo: false,
  });
  await nextTurn();
  assert.equal((await verifier.verify(key)).quotas, live.quotas);
  const demo = await issue({ isDemo: true });
  await nextTurn();
  assert.equal((await verifier.verify(demo.key)).isDemo, true);
});

test("a store put in the place of another is not read into the old one's keys, and the fault says so", async (t) => {
  const { path, refusal, clock, faults, issue } = await openRing(t);
  const { key } = await issue();
  assert.equal(await refusal(key), null);
  const other = await controlWithAccount(t);
  const otherKey = await other.issue();
  await other.control.close();
  renameSync(other.path, path);
  clock.now = noon + 1000;
  assert.equal(await refusal(key), null);
  assert.deepEqual(await refusal(otherKey.key), invalid("unknown"));
  assert.match(
    faults[0]!.message,
    /control\.sqlite was replaced by another file, which is not read\. Restart the server/,
  );
});

test("a store that is not there is refused by name", async (t) => {
  assert.throws(
    () => watchControl(`${temporaryFolder(t)}/control.sqlite`, () => noon),
    /control\.sqlite is missing/,
  );
});

test("the store is asked once in a turn of the event loop, and again in the next", async (t) => {
  const { path, verifier, refusal, issue } = await openRing(t);
  const { key } = await issue();
  const other = new DatabaseSync(path);
  t.after(() => other.close());
  void verifier.verify(key);
  other.exec("update api_key set revoked_at = '2026-11-21T12:00:00.000Z'");
  assert.ok(!(verifier.verify(key) instanceof Promise));
  assert.equal((await refusal(key))?.code, "api-key-revoked");
});

/** The keys of an embedded store as a server knows them at its next request. */
async function openKnown(t: TestContext) {
  const store = await controlWithAccount(t);
  const clock = { now: noon };
  const faults: (Error | null)[] = [];
  const source = watchControl(store.path, () => clock.now);
  const again: string[] = [];
  const keys = openKnownKeys({
    source: {
      ...source,
      find(digest) {
        again.push(digest.toBase64());
        return source.find(digest);
      },
    },
    onFault: (fault) => void faults.push(fault),
  });
  t.after(() => keys.close());
  const find = async ({ key }: { key: string }) => {
    await nextTurn();
    return keys.find(digestKey(key).toBase64());
  };
  return { ...store, clock, faults, again, find };
}

test("a change is seen by the next request, which reads again the keys of an account, or of a plan its own key", async (t) => {
  const { control, path, again, issue, find } = await openKnown(t);
  const account = await createAccount(control, { name: "Other", quotas: {}, now: noon });
  const [own, others] = [await issue(), await issue({ account })];
  const before = await find(others);
  assert.equal((await find(own))?.revokedAt, null);
  const revokedAt = await revokeKey(control, own.id, noon);
  assert.equal((await find(own))?.revokedAt, revokedAt);
  assert.equal(await find(others), before);
  await suspendAccount(control, account.id, noon);
  assert.equal((await find(others))?.isSuspended, true);
  await setPlan(control, { name: "default", quotas: { minute: 5 }, now: noon });
  assert.deepEqual(again, []);
  for (const one of [own, others, own, others])
    assert.equal((await find(one))?.key.quotas.minute, 5);
  const digests = [own, others].map(({ key }) => digestKey(key).toBase64());
  assert.deepEqual(again, digests);
  const later = await issue();
  assert.equal((await find(later))?.key.quotas.minute, 5);
  assert.equal(again.length, 2);
  const other = new DatabaseSync(path);
  t.after(() => other.close());
  other.prepare("delete from api_key where id = ?").run(others.id);
  assert.equal(await find(others), undefined);
  assert.equal((await find(own))?.revokedAt, revokedAt);
});

test("a revocation once seen stays in force while the store is away, and later ones are seen once it is back", async (t) => {
  const { control, path, clock, faults, issue, find } = await openKnown(t);
  const [first, second] = [await issue(), await issue()];
  const revokedAt = await revokeKey(control, first.id, noon);
  assert.equal((await find(first))?.revokedAt, revokedAt);
  renameSync(path, `${path}.away`);
  for (let i = 0; i < 2; i++) {
    clock.now += 2000;
    assert.equal((await find(first))?.revokedAt, revokedAt);
    assert.equal((await find(second))?.revokedAt, null);
  }
  assert.equal(faults.length, 1);
  assert.match(faults[0]!.message, /control\.sqlite is missing/);
  renameSync(`${path}.away`, path);
  clock.now += 2000;
  await revokeKey(control, second.id, noon);
  assert.equal((await find(second))?.revokedAt, revokedAt);
  assert.deepEqual(faults.slice(1), [null]);
});

test("no key is remembered for longer than a second, and a thousand of them at most", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const recent = openRecentDigests();
  for (let i = 0; i < 1500; i++) recent.add(`key ${i}`, `digest ${i}`);
  assert.equal(recent.find("key 0"), "digest 0");
  assert.equal(recent.find("key 999"), "digest 999");
  assert.equal(recent.find("key 1000"), undefined);
  t.mock.timers.tick(999);
  assert.equal(recent.find("key 0"), "digest 0");
  t.mock.timers.tick(1);
  assert.equal(recent.find("key 0"), undefined);
  recent.add("key 0", "digest 0");
  t.mock.timers.tick(1000);
  assert.equal(recent.find("key 0"), undefined);
});
