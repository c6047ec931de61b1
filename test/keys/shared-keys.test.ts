import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createAccount, resumeAccount, setQuotas, suspendAccount } from "#accounts/accounts.ts";
import { digestKey, makeKey } from "#keys/api-key.ts";
import { openKeyVerifier, openSharedKeys } from "#keys/key-verifier.ts";
import { issueKey, revokeKey } from "#keys/keys.ts";
import { Problem } from "#problems.ts";
import type { KeyRow } from "#store/control-watch.ts";
import { StoreFault } from "#store/store-fault.ts";
import { openControl } from "#store/stores.ts";
import { controlWithAccount, noon, openKeys } from "../support/control.ts";
import { eventually } from "../support/eventually.ts";
import { forEachStore } from "../support/for-each-store.ts";
import { freshDatabase, onPostgres } from "../support/postgres.ts";

/** A store whose answers arrive when the test lets them, and which can be taken away. */
function openFarStore() {
  const rows = new Map<string, KeyRow>();
  const far = { count: 0, isAway: false, asked: [] as string[] };
  const pending: (() => void)[] = [];
  const away = () => new StoreFault("busy", "away");
  const later = <T>(what: string, read: () => T): Promise<T> => {
    far.asked.push(what);
    return new Promise((resolve, reject) => {
      pending.push(() => (far.isAway ? reject(away()) : resolve(read())));
    });
  };
  const source = () => {
    let isOver = false;
    return {
      changes: (since: number) =>
        later("changes", () => ({
          count: far.count,
          accounts: since < 0 ? null : far.count > since ? [1] : [],
        })),
      list: (after: string, max: number) =>
        later("list", () => [...rows.values()].filter(({ id }) => id > after).slice(0, max)),
      ofAccounts: () => later("accounts", () => [...rows.values()]),
      syncs: () => [],
      get isOver() {
        isOver ||= far.isAway;
        return isOver;
      },
      close: () => void (isOver = true),
    };
  };
  let number = 0;
  return {
    far,
    /** @returns the digest of a new key. */
    add(): string {
      const digest = digestKey(makeKey());
      const row = {
        id: `key_${String(++number).padStart(6, "0")}`,
        digest,
        hint: "gpr_far0",
        is_demo: 0,
        expires_at: null,
        revoked_at: null,
        account_number: 1,
        per_minute: null,
        per_hour: null,
        per_day: null,
        suspended_at: null,
        changes: 1,
      };
      rows.set(digest.toBase64(), row);
      far.count += 1;
      return digest.toBase64();
    },
    change(digest: string, columns: Partial<KeyRow>) {
      rows.set(digest, { ...rows.get(digest)!, ...columns });
      far.count += 1;
    },
    connect: async (_onChange: () => void) => {
      if (far.isAway) throw away();
      return source();
    },
    /** Lets what is asked be answered, and what is asked upon that. */
    async arrive() {
      for (let turn = 0; turn < 6; turn++) {
        await nextTurn();
        for (const one of pending.splice(0)) one();
      }
      await nextTurn();
    },
  };
}

type FarStore = ReturnType<typeof openFarStore>;

async function openFar(t: TestContext, store: FarStore) {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const faults: (string | null)[] = [];
  const opening = openSharedKeys({
    connect: store.connect,
    onFault: (fault) => faults.push(fault?.message ?? null),
  });
  let isOpen = false;
  void opening.then(() => (isOpen = true));
  while (!isOpen) await store.arrive();
  const keys = await opening;
  t.after(async () => {
    const closed = keys.close();
    await store.arrive();
    await closed;
  });
  /** A second passes, and what was asked then is answered. */
  const second = async () => {
    t.mock.timers.tick(1000);
    await store.arrive();
  };
  return { keys, faults, second };
}

const problemOf = (reason: string) => (error: unknown) =>
  error instanceof Problem && error.status === 503 && error.members.reason === reason;

test("keys that are known are answered at once, however many there are, and unknown ones once changes are read", async (t) => {
  const store = openFarStore();
  const digests = Array.from({ length: 2500 }, () => store.add());
  const { keys } = await openFar(t, store);
  for (const digest of digests)
    assert.ok(!(keys.find(digest) instanceof Promise) && keys.find(digest) !== undefined);
  const late = store.add();
  const found = keys.find(late);
  assert.ok(found instanceof Promise);
  await store.arrive();
  assert.equal((await found)?.key.hint, "gpr_far0");
  assert.ok(!(keys.find(late) instanceof Promise));
  const none = keys.find(digestKey(makeKey()).toBase64());
  await store.arrive();
  assert.equal(await none, undefined);
});

test("unknown keys that come together wait for one reading of changes, those that come while it is under way for the next", async (t) => {
  const store = openFarStore();
  const { keys } = await openFar(t, store);
  store.far.asked.length = 0;
  const unknown = () => keys.find(digestKey(makeKey()).toBase64());
  const first = [unknown(), unknown()];
  await nextTurn();
  const next = Array.from({ length: 100 }, unknown);
  await store.arrive();
  assert.deepEqual(new Set(await Promise.all([...first, ...next])), new Set([undefined]));
  assert.deepEqual(store.far.asked, ["changes", "changes"]);
});

test("a change that is told while all keys are still being read for the first time is read after them", async (t) => {
  const store = openFarStore();
  const digest = store.add();
  const connect: FarStore["connect"] = async (listener) => {
    const source = await store.connect(listener);
    listener();
    return source;
  };
  const { keys, second } = await openFar(t, { ...store, connect });
  store.change(digest, { revoked_at: "early" });
  await second();
  assert.equal((await keys.find(digest))?.revokedAt, "early");
});

test("after a connection was lost all keys are read again, as it may be another database", async (t) => {
  const store = openFarStore();
  const digest = store.add();
  const { keys, second } = await openFar(t, store);
  store.far.isAway = true;
  await second();
  store.change(digest, { revoked_at: "in the other one" });
  store.far.count = 0;
  store.far.isAway = false;
  await second();
  await second();
  assert.equal((await keys.find(digest))?.revokedAt, "in the other one");
});

test("while the store is away the keys last read stay in force and unknown ones are a 503, told once, as is its return", async (t) => {
  const store = openFarStore();
  const digest = store.add();
  const connect = t.mock.fn(store.connect);
  const { keys, faults, second } = await openFar(t, { ...store, connect });
  const late = store.add();
  const waiting = keys.find(late);
  assert.ok(waiting instanceof Promise);
  const refused = assert.rejects(waiting, problemOf("store_down"));
  await nextTurn();
  // It comes while changes are read, and does not wait for another failure.
  const later = assert.rejects(async () => keys.find(late), problemOf("store_down"));
  store.far.isAway = true;
  await store.arrive();
  await Promise.all([refused, later]);
  assert.equal(connect.mock.callCount(), 1);
  for (let i = 0; i < 3; i++) {
    await second();
    assert.ok(!(keys.find(digest) instanceof Promise) && keys.find(digest) !== undefined);
    assert.throws(() => keys.find(late), problemOf("store_down"));
  }
  assert.deepEqual(faults, ["away"]);
  store.change(digest, { revoked_at: "meanwhile" });
  store.far.isAway = false;
  await second();
  await second();
  assert.deepEqual(faults, ["away", null]);
  assert.equal((await keys.find(digest))?.revokedAt, "meanwhile");
});

forEachStore(
  "a new key works, a revoked one, a suspended and a resumed account and a new quota are seen by every instance",
  async (t) => {
    const { control, place, issue, account } = await controlWithAccount(t);
    const verifiers = await Promise.all(
      [1, 2, 3, 4].map(async () =>
        openKeyVerifier({ keys: await openKeys(t, place), now: () => noon }),
      ),
    );
    const { id, key } = await issue();
    const other = await issue({ name: "other" });
    const everywhere = (check: (verify: () => Promise<unknown>) => Promise<void>, of = key) =>
      Promise.all(
        verifiers.map((verifier) =>
          eventually(async () => {
            await nextTurn();
            await check(async () => verifier.verify(of));
          }),
        ),
      );
    // At once: nobody who was shown a key should have to wait.
    for (const verifier of verifiers) assert.equal((await verifier.verify(key)).id, id);
    await setQuotas(control, account.id, { minute: 7 }, noon);
    await everywhere(async (verify) =>
      assert.deepEqual(((await verify()) as { quotas: unknown }).quotas, {
        minute: 7,
        hour: null,
        day: null,
      }),
    );
    await revokeKey(control, id, noon);
    await everywhere((verify) => assert.rejects(verify, { code: "api-key-revoked" }));
    await suspendAccount(control, account.id, noon);
    await everywhere((verify) => assert.rejects(verify, { code: "access-denied" }), other.key);
    await resumeAccount(control, account.id, noon);
    await everywhere(async (verify) => void (await verify()), other.key);
  },
);

onPostgres("a notification alone brings a change, long before anybody would ask", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const databaseUrl = await freshDatabase(t);
  const control = await openControl("/nowhere", { databaseUrl });
  t.after(() => control.close());
  const account = await createAccount(control, { name: "Acme", quotas: {}, now: noon });
  const { id, key } = await issueKey(control, { account, name: "k", expiresAt: null, now: noon });
  const keys = await openKeys(t, { dataDir: "/nowhere", databaseUrl });
  const verifier = openKeyVerifier({ keys });
  assert.equal((await verifier.verify(key)).id, id);
  await revokeKey(control, id, noon);
  await eventually(() =>
    assert.rejects(async () => verifier.verify(key), { code: "api-key-revoked" }),
  );
});
