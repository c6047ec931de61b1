import assert from "node:assert/strict";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import {
  closeAccount,
  createAccount,
  findAccount,
  listAccounts,
  requireAccount,
  resumeAccount,
  setQuotas,
  suspendAccount,
} from "#accounts/accounts.ts";
import { listPlans, putOnPlan, quotasInForce, removePlan, setPlan } from "#accounts/plans.ts";
import { openKeyVerifier } from "#keys/key-verifier.ts";
import { openControl } from "#store/stores.ts";
import { outcomeOfScript } from "../support/command-line.ts";
import { controlWithAccount, day, noon, openEmptyControl, openKeys } from "../support/control.ts";
import { eventually } from "../support/eventually.ts";
import { forEachStore as test, storePlace } from "../support/for-each-store.ts";
import { faultOf } from "../support/people.ts";

async function openAccounts(t: TestContext) {
  const { control } = await openEmptyControl(t);
  const create = (name: string, quotas = {}) => createAccount(control, { name, quotas, now: noon });
  return { control, create };
}

test("two accounts never share a name, whatever the letter case, Unicode form or spaces around", async (t) => {
  const { create, control } = await openAccounts(t);
  const { id } = await create("Société Ünïted");
  for (const name of ["société ünïted", "  SOCIÉTÉ ÜNÏTED ", "Société Ünïted".normalize("NFD")])
    await assert.rejects(create(name), faultOf("conflict", new RegExp(id)));
  assert.equal((await listAccounts(control)).length, 1);
});

test("processes that make accounts at once in a new data folder lose none and share no number", async (t) => {
  const place = await storePlace(t);
  const dataDir = join(place.dataDir, "new");
  const module = (name: string) => JSON.stringify(import.meta.resolve(name));
  const script = (process: number) => `
    const { openControl } = await import(${module("#store/stores.ts")});
    const { createAccount } = await import(${module("#accounts/accounts.ts")});
    const control = await openControl(${JSON.stringify(dataDir)}, ${JSON.stringify(place)});
    for (let count = 0; count < 20; count++)
      await createAccount(control, { name: "account ${process}-" + count, quotas: {}, now: 0 });
    await control.close();`;
  const outcomes = await Promise.all([1, 2, 3].map((process) => outcomeOfScript(script(process))));
  for (const { exitCode, err } of outcomes) assert.equal(exitCode, 0, err);
  const control = await openControl(dataDir, place);
  t.after(() => control.close());
  const numbers = (await listAccounts(control)).map((account) => account.number);
  assert.deepEqual(
    numbers.toSorted((a, b) => a - b),
    Array.from({ length: 60 }, (_, index) => index + 1),
  );
});

test("an account is found by its id or by its name in any letter case", async (t) => {
  const { control, create } = await openAccounts(t);
  const account = await create("Acme");
  for (const given of [account.id, "Acme", "ACME", " acme "])
    assert.deepEqual(await findAccount(control.database, given), account);
  assert.equal(await findAccount(control.database, "Acm"), undefined);
});

test("an unknown account is named, with the command that lists those there are", async (t) => {
  const { control } = await openAccounts(t);
  const message = /There is no account 'Acme'\. `gp-records accounts list`/;
  await assert.rejects(requireAccount(control.database, "Acme"), message);
  await assert.rejects(setQuotas(control, "Acme", { day: 1 }, noon), message);
  await assert.rejects(suspendAccount(control, "Acme", noon), message);
  await assert.rejects(resumeAccount(control, "Acme", noon), message);
});

test("a suspension keeps the time it began until it is lifted", async (t) => {
  const { control, create } = await openAccounts(t);
  await create("Acme");
  const since = "2026-11-21T12:00:00.000Z";
  assert.equal((await suspendAccount(control, "Acme", noon)).suspendedAt, since);
  assert.equal((await suspendAccount(control, "Acme", noon + day)).suspendedAt, since);
  assert.equal((await resumeAccount(control, "Acme", noon)).suspendedAt, null);
  assert.equal((await resumeAccount(control, "Acme", noon)).suspendedAt, null);
});

test("a name that could be taken for an id, or cannot be shown, is refused", async (t) => {
  const { create } = await openAccounts(t);
  for (const name of ["ac_0123456789abcdef", "AC_0123456789ABCDEF", "", "a\tb"])
    await assert.rejects(create(name), faultOf("invalid"), JSON.stringify(name));
});

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

test("a quota is the account's own number, else its plan's, else that of the plan default, else the service's, from the next request on", async (t) => {
  const { control, set, put, quotas } = await openPlans(t);
  assert.deepEqual(await quotas(), [null, null, null]);
  await set("default", { minute: 10, hour: 100 });
  assert.deepEqual(await quotas(), [10, 100, null]);
  await set("gold", { minute: 1000 });
  await put("gold");
  assert.deepEqual(await quotas(), [1000, 100, null]);
  await set("gold", { hour: 20_000 });
  assert.deepEqual(await quotas(), [1000, 20_000, null]);
  await set("gold", { hour: null });
  assert.deepEqual(await quotas(), [1000, 100, null]);
  await setQuotas(control, "Acme", { minute: 5, day: 7 }, noon);
  assert.deepEqual(await quotas(), [5, 100, 7]);
  await setQuotas(control, "Acme", { minute: null }, noon);
  assert.deepEqual(await quotas(), [1000, 100, 7]);
  await put(null);
  assert.deepEqual(await quotas(), [10, 100, 7]);
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
