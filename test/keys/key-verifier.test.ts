import assert from "node:assert/strict";
import { renameSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { setQuotas } from "#accounts/accounts.ts";
import { digestKey, digestText, makeKey } from "#keys/api-key.ts";
import { openKeyVerifier, openKnownKeys, openRecentDigests } from "#keys/key-verifier.ts";
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
    /control\.sqlite was replaced by another file\. Restart the server/,
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

/** More than are read in one turn; the digests in the order of the keys' ids. */
const count = 1200;
const idOf = (i: number) => `key_${String(i).padStart(16, "0")}`;

async function openMany(t: TestContext) {
  const { path, account } = await controlWithAccount(t);
  const other = new DatabaseSync(path);
  t.after(() => other.close());
  const insert = other.prepare(
    "insert into api_key values (?, ?, ?, 'many', 'gpr_many', 0, '2026-11-21T12:00:00.000Z', null, null, null, null, null)",
  );
  const digests: string[] = [];
  const add = (i: number) => {
    const digest = digestKey(makeKey());
    digests[i] = digestText(digest);
    insert.run(idOf(i), digest, account.number);
  };
  other.exec("begin");
  for (let i = 0; i < count; i++) add(i);
  other.exec("commit");
  const clock = { now: noon };
  const faults: (Error | null)[] = [];
  const keys = openKnownKeys({
    source: watchControl(path, () => clock.now),
    onFault: (fault) => faults.push(fault),
  });
  t.after(() => keys.close());
  const find = (i: number) => keys.find(digests[i]!);
  const revokedAt = (i: number) => {
    keys.refresh();
    return find(i)?.revokedAt;
  };
  const revoke = (i: number, at: string) =>
    other.prepare("update api_key set revoked_at = ? where id = ?").run(at, idOf(i));
  return { path, clock, faults, find, add, revoke, revokedAt };
}

test("while many keys are read again, every key is what the store says at that moment", async (t) => {
  const { add, revoke, revokedAt } = await openMany(t);
  const expected = new Map<number, string>();
  // Each turn reads one part of the keys, so changes fall before, into and behind what is read already.
  for (let turn = 0; turn < 40; turn++) {
    if (turn % 3 === 0) {
      const i = (turn * 311) % count;
      expected.set(i, `time ${turn}`);
      revoke(i, `time ${turn}`);
    }
    if (turn === 10) add(count);
    for (const [i, at] of expected) assert.equal(revokedAt(i), at, `key ${i} in turn ${turn}`);
    assert.equal(revokedAt((turn * 311 + 7) % count), null);
    assert.equal(revokedAt(count), turn < 10 ? undefined : null);
    await nextTurn();
  }
});

test("once all are read again, the store is not asked for single keys any more", async (t) => {
  const { find, revoke, revokedAt } = await openMany(t);
  revoke(1, "first");
  assert.equal(revokedAt(1), "first");
  for (let turn = 0; turn < 10; turn++) await nextTurn();
  assert.equal(find(2), find(2));
  revoke(1, "second");
  assert.equal(find(1)?.revokedAt, "first");
  assert.equal(revokedAt(1), "second");
});

test("a revocation once seen stays in force when the store is lost before all keys are read again", async (t) => {
  const { path, clock, faults, revoke, revokedAt } = await openMany(t);
  revoke(count - 1, "in time");
  assert.equal(revokedAt(count - 1), "in time");
  renameSync(path, `${path}.away`);
  clock.now += 2000;
  assert.equal(revokedAt(count - 1), "in time");
  await nextTurn();
  assert.equal(revokedAt(count - 1), "in time");
  assert.equal(faults.length, 1);
  assert.match(faults[0]!.message, /control\.sqlite is missing/);
  renameSync(`${path}.away`, path);
  clock.now += 2000;
  assert.equal(revokedAt(count - 1), "in time");
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
