import assert from "node:assert/strict";
import { exitCodes } from "#cli/command-fault.ts";
import { commandsOnStore } from "../support/all-commands.ts";
import { forEachStore as test } from "../support/for-each-store.ts";

const since = "2026-11-21T12:00:00.000Z";

test("plans are set, listed and removed, and an account is put on one and taken off it", async (t) => {
  const { text, json, refusal } = await commandsOnStore(t);
  assert.match(await text("plans", "list"), /^No plan yet\. Make one: gp-records plans set/);
  const set = await json("plans", "set", "gold", "--per-minute", "600", "--per-day", "default");
  const gold = {
    name: "gold",
    limits: { minute: 600, hour: null, day: null },
    changes: null,
    accounts: 0,
    created_at: since,
  };
  assert.deepEqual(set, gold);
  await json("accounts", "create", "--name", "Acme");
  assert.equal((await json("accounts", "plan", "acme", "gold")).plan, "gold");
  assert.equal(
    await text("plans", "set", "gold", "--per-hour", "5"),
    "gold: 600 a minute, 5 an hour, default a day; changes default; 1 account is on it.\n",
  );
  const [headings, row] = (await text("plans", "list")).split("\n");
  assert.match(headings!, /^NAME +PER MINUTE +PER HOUR +PER DAY +CHANGES +ACCOUNTS +CREATED$/);
  assert.match(row!, /^gold +600 +5 +default +default +1 +2026-11-21T12:00:00Z$/);
  const refused = await refusal(exitCodes.conflict, "plans", "remove", "gold");
  assert.match(refused, /1 account is on the plan 'gold'.*accounts plan ACCOUNT PLAN/);
  assert.equal(
    await text("accounts", "plan", "acme", "none"),
    "The account 'Acme' is on no plan of its own.\n",
  );
  assert.deepEqual(await json("plans", "remove", "gold"), { name: "gold", removed: true });
  assert.match(await refusal(exitCodes.conflict, "accounts", "plan", "acme", "gold"), /no plan/);
  assert.match(await refusal(exitCodes.usage, "plans", "set", "none"), /name of a plan/);
});

test("a plan says whether its accounts may read what changed, else the plan default says it, else they may", async (t) => {
  const { text, json } = await commandsOnStore(t);
  await text("plans", "set", "gold", "--changes", "no", "--per-minute", "600");
  const [gold] = await json("plans", "list");
  assert.deepEqual([gold.changes, gold.limits.minute], [false, 600]);
  // What is not given stays.
  assert.match(await text("plans", "set", "gold", "--per-hour", "5"), /; changes no;/);
  assert.match(await text("plans", "set", "default", "--changes", "no"), /; changes no;/);
  assert.match(await text("plans", "set", "gold", "--changes", "yes"), /; changes yes;/);
  assert.match(await text("plans", "set", "gold", "--changes", "default"), /; changes default;/);
});

test("accounts list shows the quotas in force: an account's own, else its plan's, else the plan default's", async (t) => {
  const { text, json } = await commandsOnStore(t);
  await text("plans", "set", "gold", "--per-minute", "600");
  await text("plans", "set", "default", "--per-hour", "30");
  await text("accounts", "create", "--name", "Acme", "--per-day", "7");
  await text("accounts", "plan", "acme", "gold");
  const [acme] = await json("accounts", "list");
  assert.deepEqual(acme.limits_in_force, { minute: 600, hour: 30, day: 7 });
  assert.match(await text("accounts", "list"), /Acme +gold +600 +30 +7 +- /);
});

test("the help of each option for a quota tells the most it takes, which it takes", async (t) => {
  const { text, refusal } = await commandsOnStore(t);
  for (const command of [
    ["accounts", "create"],
    ["accounts", "limits"],
    ["plans", "set"],
  ]) {
    const help = await text(...command, "--help");
    for (const window of ["minute", "hour", "day"])
      assert.match(help, new RegExp(`--per-${window} <n> +requests in [^:]+: 1 to\\s+1,000,000`));
  }
  await text("plans", "set", "most", "--per-day", "1000000");
  await refusal(exitCodes.usage, "plans", "set", "more", "--per-day", "1000001");
});
