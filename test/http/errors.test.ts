import assert from "node:assert/strict";
import { test } from "node:test";
import { command, commandDone } from "../support/command-line.ts";
import { startService } from "../support/service.ts";

test("an expired and a revoked key say since when, and show no more of the key than its beginning", async (t) => {
  const { clock, dataDir, get, newKey } = await startService(t);
  const since = new Date(clock.now()).toISOString();
  const expired = await newKey({ expiresAt: clock.now() });
  const revoked = await newKey();
  await command(["keys", "revoke", revoked.id], { dataDir, now: clock.now });
  for (const [{ key }, code, member] of [
    [expired, "api-key-expired", "expired_at"],
    [revoked, "api-key-revoked", "revoked_at"],
  ] as const) {
    const { status, body, text } = await get("/fetch-gp?gp_name=kkr", { "x-api-key": key });
    assert.deepEqual([status, body.code], [401, code]);
    const told = [body.key_hint, body[member], body.account_url];
    assert.deepEqual(told, [key.slice(0, 8), since, "/account"]);
    assert.equal(text.includes(key.slice(8)), false);
  }
});

test("a suspended account is a 403 that counts nothing, from the next request on, until it is resumed", async (t) => {
  const { clock, dataDir, get, newKey } = await startService(t);
  const { key, account } = await newKey();
  const create = ["keys", "create", "--account", account, "--name", "brief", "--expires", "1m"];
  const made = await command([...create, "--json"], { dataDir, now: clock.now });
  const ask = (presented = key) => get("/fetch-gp?gp_name=kkr", { "x-api-key": presented });
  assert.equal((await ask()).status, 200);
  await commandDone(dataDir, "accounts", "suspend", account);
  const { status, body, headers } = await ask();
  assert.equal(status, 403);
  assert.deepEqual([body.code, body.reason], ["access-denied", "account_suspended"]);
  assert.equal(headers.get("ratelimit"), null);
  clock.advance(60);
  assert.equal((await ask(JSON.parse(made.out).key)).body.code, "api-key-expired");
  await commandDone(dataDir, "accounts", "resume", account);
  assert.match((await ask()).headers.get("ratelimit")!, /"hour";r=998;/);
});

test("an unknown path names the nearest known one, and all operations", async (t) => {
  const service = await startService(t);
  for (const [path, suggestion] of [
    ["/fetch-gps", "/fetch-gp"],
    ["/Fetch-GP", "/fetch-gp"],
    ["/fetch-gp/", "/fetch-gp"],
    ["/v9/fetch-gp", "/v1/fetch-gp"],
    ["/wp-admin", null],
  ]) {
    const { status, body } = await service.get(path!);
    assert.equal(status, 404, path!);
    assert.equal(body.suggestion, suggestion, path!);
    assert.deepEqual(body.operations, [
      "/fetch-gp",
      "/fetch-principals",
      "/fetch-signals",
      "/fetch-projects",
    ]);
  }
});

test("a name that is echoed is cut at 50 characters", async (t) => {
  const { get } = await startService(t);
  const { body } = await get(`/fetch-gp?gp_name=kkr&${"n".repeat(80)}=1`);
  assert.equal(body.errors[0].parameter, `${"n".repeat(50)}…`);
});
