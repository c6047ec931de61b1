import assert from "node:assert/strict";
import { renameSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { digestKey, digestText, makeKey } from "#keys/api-key.ts";
import { openKnownKeys } from "#keys/key-verifier.ts";
import { watchControl } from "#store/control-watch.ts";
import { controlWithAccount, noon } from "../support/control.ts";

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
  assert.match(faults[0]!.message, /control\.sqlite is not there/);
  renameSync(`${path}.away`, path);
  clock.now += 2000;
  assert.equal(revokedAt(count - 1), "in time");
  assert.deepEqual(faults.slice(1), [null]);
});
