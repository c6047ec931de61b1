import assert from "node:assert/strict";
import { exitCodes } from "#cli/command-fault.ts";
import { readKey } from "#keys/api-key.ts";
import { commandsOnStore } from "../support/all-commands.ts";
import { day, hour, noon } from "../support/control.ts";
import { forEachStore as test } from "../support/for-each-store.ts";
import { readUsage } from "../support/usage.ts";

const at = (time: number) => new Date(time).toISOString();
const since = at(noon);
const account = {
  id: "ac_",
  name: "Acme",
  limits: { minute: null, hour: 2, day: 30 },
  plan: null,
  suspended_at: null,
  created_at: since,
};
const gold = {
  name: "gold",
  limits: { minute: 600, hour: null, day: null },
  changes: null,
  accounts: 0,
  created_at: since,
};
const key = { id: "key_", key: "gpr_", account: "ac_", name: "web", expires_at: null };
const listed = {
  id: "key_",
  account: "ac_",
  account_name: "Acme",
  name: "web",
  hint: "gpr_",
  state: "active",
  is_demo: false,
  made_by: null,
  created_at: since,
  expires_at: null,
  revoked_at: null,
  replaced_by: null,
  last_used_at: null,
  last_used_network: null,
};

/**
 * A command, and what it prints: as JSON where that is no text, else in words. Of ids and keys only the beginning is written
 * down; `NAME` stands for the id of the key that was made last.
 */
type Step = [line: string, prints: string | RegExp | object];

const walks: Record<string, Step[]> = {
  "accounts are made, limited, suspended and shown": [
    ["accounts list", "No account yet. Create one: gp-records accounts create --name NAME\n"],
    ["accounts list", []],
    [
      "accounts create --name Acme --per-minute 1 --per-hour 2",
      { ...account, limits: { minute: 1, hour: 2, day: null } },
    ],
    ["accounts limits acme --per-minute default --per-day 30", account],
    ["accounts limits acme", account],
    [
      "accounts limits acme",
      "The account 'Acme' has the default quota per minute, 2 requests per hour and 30 requests per day.\n",
    ],
    ["accounts suspend acme", { ...account, suspended_at: since }],
    [
      "accounts suspend acme",
      /suspended since 2026-11-21T12:00:00Z.*\n.*gp-records accounts resume ac_/,
    ],
    ["accounts resume Acme", account],
    ["accounts resume Acme", "The account 'Acme' is active; its keys are accepted.\n"],
    ["accounts list", [{ ...account, limits_in_force: { minute: 60, hour: 2, day: 30 } }]],
    [
      "accounts list",
      "ID NAME PLAN PER MINUTE PER HOUR PER DAY SUSPENDED AT CREATED AT\nac_ Acme - 60 2 30 - 2026-11-21T12:00:00Z\n",
    ],
    [
      "accounts create --name Beta --per-minute 5",
      /^Created the account 'Beta' \(ac_\) with 5 requests per minute, the default quota per hour and the default quota per day\.\n.*gp-records keys create --account ac_/,
    ],
  ],
  "plans are set, listed and removed, and an account is put on one and taken off it": [
    ["plans list", /^No plan yet\. Create one: gp-records plans set/],
    ["plans set gold --per-minute 600 --per-day default", gold],
    ["accounts create --name Acme --per-day 7", /^Created/],
    [
      "accounts plan acme gold",
      { ...account, limits: { minute: null, hour: null, day: 7 }, plan: "gold" },
    ],
    [
      "plans set gold --per-hour 5",
      "The plan 'gold' has 600 requests per minute, 5 requests per hour and the default quota per day; access to /changes: default; 1 account is on it.\n",
    ],
    [
      "plans list",
      "NAME PER MINUTE PER HOUR PER DAY CHANGES ACCOUNTS CREATED AT\ngold 600 5 default default 1 2026-11-21T12:00:00Z\n",
    ],
    ["plans set gold --per-hour default", /the default quota per hour/],
    ["plans set default --per-hour 30", /^The plan 'default' has /],
    // An account's own quota, else its plan's, else that of the plan default.
    ["accounts list", /Acme gold 600 30 7 - /],
    ["plans set gold --changes no", { ...gold, changes: false, accounts: 1 }],
    // What is not given stays.
    ["plans set gold --per-hour 5", /; access to \/changes: no;/],
    ["plans set default --changes no", /; access to \/changes: no;/],
    ["plans set gold --changes yes", /; access to \/changes: yes;/],
    ["plans set gold --changes default", /; access to \/changes: default;/],
    ["accounts plan acme none", /^The account 'Acme' is on no plan\. The default quotas apply, /],
    ["plans remove gold", { name: "gold", removed: true }],
    ["plans set silver --per-minute 9", /^The plan 'silver' has 9 requests per minute/],
    [
      "accounts create --name Beta --plan silver",
      { ...account, name: "Beta", limits: { minute: null, hour: null, day: null }, plan: "silver" },
    ],
    [
      "accounts create --name Gamma --plan silver --per-day 8",
      /^Created the account 'Gamma' \(ac_\) on the plan 'silver' with the plan's quota per minute, the plan's quota per hour and 8 requests per day\./,
    ],
    ["plans set most --per-day 1000000", /1,?000,?000 requests per day/],
    ["plans list", /\ndefault .* 0 \S+\nmost .* 0 \S+\nsilver 9 .* 2 \S+\n$/],
  ],
  "keys are made, listed, rotated and revoked, and a key is shown once": [
    ["accounts create --name Acme", /^Created/],
    ["accounts create --name Beta", /^Created/],
    ["keys list", /^No key yet\. Create one: gp-records keys create/],
    ["keys create --account Acme --name web", key],
    ["keys list --account beta", []],
    ["keys list", [listed]],
    ["keys revoke NAME", { id: "key_", revoked_at: since }],
    ["keys revoke NAME", "The key key_ was revoked at 2026-11-21T12:00:00Z.\n"],
    ["keys list", [{ ...listed, state: "revoked", revoked_at: since }]],
    ["keys create --account Acme --name web --expires never", key],
    [
      "keys create --account Acme --name web --expires 30m",
      { ...key, expires_at: at(noon + hour / 2) },
    ],
    [
      "keys create --account Acme --name web --expires 90d",
      { ...key, expires_at: at(noon + 90 * day) },
    ],
    ["keys rotate NAME", { ...key, expires_at: at(noon + 90 * day) }],
    [
      "keys rotate NAME --overlap 2h",
      /\nThe old key key_ is valid until 2026-11-21T14:00:00Z\.\n$/,
    ],
    [
      "keys create --account Acme --name web",
      /^gpr_\n.*'web' \(key_\).*shown only once.*does not expire/s,
    ],
  ],
};

for (const [title, steps] of Object.entries(walks))
  test(title, async (t) => {
    const { text } = await commandsOnStore(t);
    let id = "";
    for (const [line, prints] of steps) {
      const command = line.replace("NAME", id);
      const isText = typeof prints === "string" || prints instanceof RegExp;
      const printed = await (isText ? text(command) : text(`${command} --json`));
      if (!isText) id = JSON.parse(printed).id ?? id;
      const brief = printed
        .replaceAll(/\b(ac_|key_)[0-9a-z]{16}\b/g, "$1")
        .replaceAll(/\bgpr_[0-9A-Za-z]{36}\b/g, "gpr_");
      const words = brief.replaceAll(/ +/g, " ");
      if (typeof prints === "string") assert.equal(words, prints, line);
      else if (prints instanceof RegExp) assert.match(words, prints, line);
      else assert.deepEqual(JSON.parse(brief.replaceAll(/"gpr_\w{4}"/g, '"gpr_"')), prints, line);
    }
  });

test("a key that is made is whole; of one in use the list has the time, the network and the day it ends", async (t) => {
  const { place, text, json } = await commandsOnStore(t);
  await text("accounts create --name Acme");
  const made = await json("keys create --account Acme --name web --expires 24h");
  assert.ok("digest" in readKey(made.key));
  const use = { key_id: made.id, last_used_at: at(noon - hour), network: "203.0.113.0/24" };
  await readUsage(place, ({ database }) => database.insertInto("key_use").values(use).execute());
  const [{ hint, state, ...used }] = await json("keys list");
  assert.deepEqual([hint, state], [made.key.slice(0, 8), "expiring"]);
  assert.equal(used.last_used_at, use.last_used_at);
  assert.equal(used.last_used_network, use.network);
  const [headings, row] = (await text("keys list --account Acme")).split("\n");
  assert.match(headings!, /^ID +ACCOUNT NAME +NAME +HINT +STATE +EXPIRES AT +LAST USED AT$/);
  assert.equal(
    row!.replaceAll(/ +/g, " "),
    `${made.id} Acme web ${hint} expiring 2026-11-22T12:00:00Z 2026-11-21T11:00:00Z`,
  );
  const rotated = await json("keys rotate", made.id);
  assert.ok("digest" in readKey(rotated.key));
  const ends = new Map((await json("keys list")).map((one: any) => [one.id, one.expires_at]));
  assert.equal(ends.get(made.id), at(noon + day));
  assert.equal(ends.get(rotated.id), at(noon + day));
});

test("a quota or a duration that is none is refused with what one looks like, before anything is written", async (t) => {
  const { text, json, refusal } = await commandsOnStore(t);
  for (const command of ["accounts create", "accounts limits", "plans set"]) {
    const help = await text(`${command} --help`);
    for (const window of ["minute", "hour", "day"])
      assert.match(help, new RegExp(`--per-${window} <n> +requests in [^:]+: 1 to\\s+1,000,000`));
  }
  for (const given of ["x", "-1", "1.5", "", "1e3", "0", "1000001", "9".repeat(30)])
    for (const command of ["accounts create --name Acme --per-day", "plans set more --per-day"])
      assert.match(
        await refusal(exitCodes.usage, command, given),
        /^error: .*(--per-day|per day).*\n$/,
        given,
      );
  assert.deepEqual([await json("accounts list"), await json("plans list")], [[], []]);
  await text("accounts create --name Acme");
  const { id } = await json("keys create --account Acme --name web");
  for (const given of ["90", "d", "0d", "-1d", "1.5h", "1y", "90 d", "123456d", "90D", ""]) {
    assert.match(
      await refusal(exitCodes.usage, "keys create --account Acme --name web --expires", given),
      /^error: option '--expires <duration>'.*30m, 24h or 90d, or never\. See `gp-records keys create --help`\.\n$/,
    );
    assert.match(
      await refusal(exitCodes.usage, `keys rotate ${id} --overlap`, given),
      /^error: option '--overlap <duration>'.*30m, 24h or 90d, or 0\. See `gp-records keys rotate --help`\.\n$/,
    );
  }
  await refusal(exitCodes.usage, `keys rotate ${id} --overlap never`);
  assert.equal((await json("keys list")).length, 1);
});

test("what the present state forbids is refused with what to do", async (t) => {
  const { text, refusal } = await commandsOnStore(t);
  await text("accounts create --name Acme");
  await text("plans set gold");
  await text("accounts plan acme gold");
  for (const [line, words] of [
    ["plans remove gold", /1 account is on the plan 'gold'.*accounts plan ACCOUNT PLAN/],
    ["accounts resume Beta", /no account 'Beta'/],
    ["accounts create --name Beta --plan silver", /no plan 'silver'.*plans list/],
  ] as const)
    assert.match(await refusal(exitCodes.conflict, line), words, line);
  assert.match(await refusal(exitCodes.usage, "plans set none"), /name of a plan/);
  assert.doesNotMatch(await text("accounts list"), /Beta/);
});
