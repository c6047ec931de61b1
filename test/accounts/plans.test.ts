import assert from "node:assert/strict";
import { setImmediate as nextTurn } from "node:timers/promises";
import { closeAccount, setQuotas } from "#accounts/accounts.ts";
import { listPlans, putOnPlan, quotasInForce, removePlan, setPlan } from "#accounts/plans.ts";
import { openKeyVerifier } from "#keys/key-verifier.ts";
import { controlWithAccount, noon, openKeys } from "../support/control.ts";
import { eventually } from "../support/eventually.ts";
import { forEachStore as test } from "../support/for-each-store.ts";
import { faultOf } from "../support/people.ts";

async function openPlans(t: Parameters<typeof controlWithAccount>[0]) {
  const world = await controlWithAccount(t);
  const { control, account, place } = world;
  const set = (name: string, quotas: object) => setPlan(control, { name, quotas, now: noon });
  const put = (plan: string | null) => putOnPlan(control, { idOrName: "Acme", plan, now: noon });
  const verifier = openKeyVerifier({ keys: await openKeys(t, place), now: () => noon });
  const { key } = await world.issue();
  /** What a request with the key is given, and what the account page shows, which must agree. */
  const quotas = async () => {
    await nextTurn();
    const shown = await quotasInForce(control.database, account.number);
    const isShown = async () => {
      const { minute, hour, day } = (await verifier.verify(key)).quotas;
      assert.deepEqual([minute ?? 60, hour ?? 1000, day ?? 10_000], Object.values(shown));
      return [minute, hour, day];
    };
    // The file is read with the next request; a database tells of a change in its own time.
    return place.databaseUrl === null ? isShown() : (await eventually(isShown)).result;
  };
  return { ...world, set, put, quotas, verifier, key };
}

test("a quota is the account's own number, else its plan's, else that of the plan default, else the service's", async (t) => {
  const { control, set, put, quotas } = await openPlans(t);
  assert.deepEqual(await quotas(), [null, null, null]);
  await set("default", { minute: 10, hour: 100 });
  assert.deepEqual(await quotas(), [10, 100, null]);
  await set("gold", { minute: 1000 });
  await put("gold");
  assert.deepEqual(await quotas(), [1000, 100, null]);
  await setQuotas(control, "Acme", { minute: 5, day: 7 }, noon);
  assert.deepEqual(await quotas(), [5, 100, 7]);
  await setQuotas(control, "Acme", { minute: null }, noon);
  assert.deepEqual(await quotas(), [1000, 100, 7]);
  await put(null);
  assert.deepEqual(await quotas(), [10, 100, 7]);
});

test("a change of a plan is in force for every key on it from the next request on", async (t) => {
  const { set, put, quotas } = await openPlans(t);
  await set("gold", { minute: 1000, hour: 2000, day: 3000 });
  await put("gold");
  assert.deepEqual(await quotas(), [1000, 2000, 3000]);
  await set("gold", { hour: 20_000 });
  assert.deepEqual(await quotas(), [1000, 20_000, 3000]);
  await set("gold", { minute: null });
  assert.deepEqual(await quotas(), [null, 20_000, 3000]);
});

test("a plan that accounts are on is not removed, and one that none is on is", async (t) => {
  const { control, account, set, put } = await openPlans(t);
  await set("gold", { day: 5 });
  await put("gold");
  const remove = (name = "gold") => removePlan(control, { name, now: noon });
  await assert.rejects(remove(), faultOf("conflict", /1 account is on the plan 'gold'/));
  await assert.rejects(remove("silver"), faultOf("not_found", /plans list/));
  await closeAccount(control, { account: account.number, actor: "operator", now: noon });
  await remove();
  assert.deepEqual(await listPlans(control.database), []);
});

test("plans are listed by name with the number of accounts on each", async (t) => {
  const { control, set, put } = await openPlans(t);
  await set("silver", { day: 5 });
  await set("gold", {});
  await put("silver");
  const [gold, silver] = await listPlans(control.database);
  assert.deepEqual(gold, {
    name: "gold",
    quotas: { minute: null, hour: null, day: null },
    changes: null,
    accounts: 0,
    createdAt: "2026-11-21T12:00:00.000Z",
  });
  assert.deepEqual([silver?.name, silver?.accounts, silver?.quotas.day], ["silver", 1, 5]);
});

test("a name or a quota that cannot be used, and a plan that is not there, are refused", async (t) => {
  const { set, put } = await openPlans(t);
  for (const name of ["", "none", "Gold", "a b", "a".repeat(41), "-a", "gold\n"])
    await assert.rejects(set(name, {}), faultOf("invalid", /name of a plan/), name);
  await assert.rejects(set("gold", { day: 0 }), faultOf("invalid", /quota per day/));
  await assert.rejects(put("gold"), faultOf("not_found", /no plan 'gold'/));
});

test("the keys of a closed account are refused as those of a suspended one are", async (t) => {
  const { control, account, verifier, key } = await openPlans(t);
  await control.database
    .updateTable("account")
    .set({ closed_at: new Date(noon).toISOString() })
    .where("number", "=", account.number)
    .execute();
  await nextTurn();
  await eventually(() =>
    assert.rejects(async () => verifier.verify(key), { code: "access-denied" }),
  );
});
