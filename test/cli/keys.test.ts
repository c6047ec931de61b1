import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { exitCodes } from "#cli/command-fault.ts";
import { readKey } from "#keys/api-key.ts";
import { commandsOnStore } from "../support/all-commands.ts";
import { day, hour, noon } from "../support/control.ts";
import { forEachStore as test } from "../support/for-each-store.ts";
import { readUsage } from "../support/usage.ts";

async function withAccount(t: TestContext) {
  const commands = await commandsOnStore(t);
  const { json } = commands;
  const account = await json("accounts", "create", "--name", "Acme");
  const create = (...args: string[]) =>
    json("keys", "create", "--account", "Acme", "--name", "web", ...args);
  return { ...commands, account, create };
}

const at = (time: number) => new Date(time).toISOString();

test("keys create --json gives the key, which never expires unless asked to", async (t) => {
  const { account, create } = await withAccount(t);
  const made = await create();
  assert.deepEqual(made, {
    id: made.id,
    key: made.key,
    account: account.id,
    name: "web",
    expires_at: null,
  });
  assert.match(made.id, /^key_[0-9a-z]{16}$/);
  assert.ok("digest" in readKey(made.key));
  assert.equal((await create("--expires", "never")).expires_at, null);
  assert.equal((await create("--expires", "90d")).expires_at, at(noon + 90 * day));
  assert.equal((await create("--expires", "30m")).expires_at, at(noon + hour / 2));
});

test("keys create prints the key on a line of its own and says that it is shown once", async (t) => {
  const { text } = await withAccount(t);
  const out = await text("keys", "create", "--account", "Acme", "--name", "web");
  const [key, ...words] = out.trimEnd().split("\n");
  assert.ok("digest" in readKey(key!));
  assert.match(words.join(" "), /'web' \(key_[0-9a-z]{16}\).*shown this once.*does not expire/);
});

test("keys list shows state and last use, of all accounts or of one, and never a key", async (t) => {
  const { place, text, json, account, create } = await withAccount(t);
  assert.match(await text("keys", "list"), /^No key yet\. Make one: gp-records keys create/);
  const { id, key } = await create("--expires", "24h");
  const use = { key_id: id, last_used_at: at(noon - hour), network: "203.0.113.0/24" };
  await readUsage(place, ({ database }) => database.insertInto("key_use").values(use).execute());
  await json("accounts", "create", "--name", "Beta");
  assert.deepEqual(await json("keys", "list", "--account", "beta"), []);
  const [listed, ...others] = await json("keys", "list");
  assert.deepEqual(others, []);
  assert.deepEqual(listed, {
    id,
    account: account.id,
    account_name: "Acme",
    name: "web",
    hint: key.slice(0, 8),
    state: "expiring",
    is_demo: false,
    made_by: null,
    created_at: at(noon),
    expires_at: at(noon + day),
    revoked_at: null,
    replaced_by: null,
    last_used_at: at(noon - hour),
    last_used_network: "203.0.113.0/24",
  });
  const [headings, row] = (await text("keys", "list", "--account", account.id)).split("\n");
  assert.match(headings!, /^ID +ACCOUNT +NAME +KEY +STATE +EXPIRES +LAST USED$/);
  assert.equal(
    row!.replaceAll(/ +/g, " "),
    `${id} Acme web ${key.slice(0, 8)}… expiring 2026-11-22T12:00:00Z 2026-11-21T11:00:00Z`,
  );
});

test("keys revoke gives the id and the time, and the same time when it is repeated", async (t) => {
  const { start, text, json, create } = await withAccount(t);
  const { id } = await create();
  assert.deepEqual(await json("keys", "revoke", id), { id, revoked_at: at(noon) });
  assert.equal(
    await text("keys", "revoke", id),
    `The key ${id} is revoked since 2026-11-21T12:00:00Z.\n`,
  );
  assert.equal((await json("keys", "list"))[0].state, "revoked");
  assert.equal((await start("keys", "rotate", id)).exitCode, exitCodes.conflict);
});

test("keys rotate gives a new key, and says until when the old one is valid: 24 hours unless told", async (t) => {
  const { text, json, account, create } = await withAccount(t);
  const first = await create();
  const second = await json("keys", "rotate", first.id);
  assert.deepEqual(second, { ...second, account: account.id, name: "web", expires_at: null });
  assert.deepEqual(Object.keys(second), ["id", "key", "account", "name", "expires_at"]);
  assert.ok("digest" in readKey(second.key));
  const out = await text("keys", "rotate", second.id, "--overlap", "2h");
  assert.ok(out.endsWith(`The old key ${second.id} is valid until 2026-11-21T14:00:00Z.\n`), out);
  const ends = new Map((await json("keys", "list")).map((key: any) => [key.id, key.expires_at]));
  assert.equal(ends.get(first.id), at(noon + day));
  assert.equal(ends.get(second.id), at(noon + 2 * hour));
});

test("a duration that is none is refused with what one looks like", async (t) => {
  const { start, json, create } = await withAccount(t);
  const { id } = await create();
  for (const given of ["90", "d", "0d", "-1d", "1.5h", "1y", "90 d", "123456d", "90D", ""]) {
    const created = await start(
      "keys",
      "create",
      "--account",
      "Acme",
      "--name",
      "web",
      "--expires",
      given,
    );
    assert.equal(created.exitCode, exitCodes.usage, given);
    assert.match(
      created.err,
      /^error: option '--expires <duration>'.*30m, 24h or 90d, or never\. See `gp-records keys create --help`\.\n$/,
    );
    const rotated = await start("keys", "rotate", id, "--overlap", given);
    assert.equal(rotated.exitCode, exitCodes.usage, given);
    assert.match(
      rotated.err,
      /^error: option '--overlap <duration>'.*30m, 24h or 90d\. See `gp-records keys rotate --help`\.\n$/,
    );
  }
  assert.equal((await start("keys", "rotate", id, "--overlap", "never")).exitCode, exitCodes.usage);
  assert.equal((await json("keys", "list")).length, 1);
});
