import assert from "node:assert/strict";
import { exitCodes } from "#cli/command-fault.ts";
import { commandsOnStore } from "../support/all-commands.ts";
import { forEachStore as test } from "../support/for-each-store.ts";

const since = "2026-11-21T12:00:00.000Z";
const unlimited = { minute: null, hour: null, day: null };

test("accounts create --json gives id, name and limits, null where the default holds", async (t) => {
  const { json } = await commandsOnStore(t);
  const { id, ...rest } = await json("accounts", "create", "--name", "Acme", "--per-hour", "5");
  assert.match(id, /^ac_[0-9a-z]{16}$/);
  assert.deepEqual(rest, { name: "Acme", limits: { minute: null, hour: 5, day: null } });
});

test("accounts create says what was made and what to do next", async (t) => {
  const { text } = await commandsOnStore(t);
  const out = await text("accounts", "create", "--name", "Acme", "--per-minute", "5");
  assert.match(
    out,
    /^Made the account 'Acme' \(ac_[0-9a-z]{16}\): 5 a minute, default an hour, default a day\.\n/,
  );
  assert.match(out, /gp-records keys create --account ac_/);
});

test("accounts list shows every account, and how to make the first", async (t) => {
  const { text, json } = await commandsOnStore(t);
  assert.equal(
    await text("accounts", "list"),
    "No account yet. Make one: gp-records accounts create --name NAME\n",
  );
  assert.deepEqual(await json("accounts", "list"), []);
  const { id } = await json("accounts", "create", "--name", "Acme");
  assert.deepEqual(await json("accounts", "list"), [
    {
      id,
      name: "Acme",
      limits: unlimited,
      plan: null,
      suspended_at: null,
      created_at: since,
      limits_in_force: { minute: 60, hour: 1000, day: 10_000 },
    },
  ]);
  const [headings, row] = (await text("accounts", "list")).split("\n");
  assert.match(headings!, /^ID +NAME +PLAN +PER MINUTE +PER HOUR +PER DAY +SUSPENDED +CREATED$/);
  assert.match(row!, new RegExp(`^${id}  Acme  - +60 +1000 +10000 +- +2026-11-21T12:00:00Z$`));
});

test("accounts limits changes the windows that are given, resets those set to default, and shows them", async (t) => {
  const { text, json } = await commandsOnStore(t);
  await text(
    "accounts",
    "create",
    "--name",
    "Acme",
    "--per-minute",
    "1",
    "--per-hour",
    "2",
    "--per-day",
    "3",
  );
  const changed = await json(
    "accounts",
    "limits",
    "acme",
    "--per-minute",
    "default",
    "--per-day",
    "30",
  );
  assert.deepEqual(changed.limits, { minute: null, hour: 2, day: 30 });
  assert.deepEqual((await json("accounts", "limits", "acme")).limits, changed.limits);
  assert.equal(
    await text("accounts", "limits", "acme"),
    "Acme: default a minute, 2 an hour, 30 a day.\n",
  );
});

test("accounts suspend and resume give the account as it then is", async (t) => {
  const { text, json } = await commandsOnStore(t);
  const { id } = await json("accounts", "create", "--name", "Acme");
  const account = { id, name: "Acme", limits: unlimited, plan: null, created_at: since };
  assert.deepEqual(await json("accounts", "suspend", id), { ...account, suspended_at: since });
  assert.match(
    await text("accounts", "suspend", id),
    /suspended since 2026-11-21T12:00:00Z.*\n.*accounts resume ac_/,
  );
  assert.deepEqual(await json("accounts", "resume", "Acme"), { ...account, suspended_at: null });
  assert.equal(await text("accounts", "resume", "Acme"), "The account 'Acme' is active.\n");
});

test("a quota that is no number, or too large a one, is refused before anything is written", async (t) => {
  const { start, json } = await commandsOnStore(t);
  for (const given of ["x", "-1", "1.5", "", "1e3", "0", "1000001", "9".repeat(30)]) {
    const { exitCode, err } = await start(
      "accounts",
      "create",
      "--name",
      "Acme",
      "--per-day",
      given,
    );
    assert.equal(exitCode, exitCodes.usage, given);
    assert.match(err, /^error: .*(--per-day|per day).*\n$/, given);
  }
  assert.deepEqual(await json("accounts", "list"), []);
});
