import assert from "node:assert/strict";
import { test } from "node:test";
import { commandDone } from "../support/command-line.ts";
import { startService } from "../support/service.ts";

test("an expired and a revoked key say since when, and show no more of the key than its beginning", async (t) => {
  const service = await startService(t);
  const expiresAt = service.clock.now() + 1000;
  const { key } = await service.newKey({ expiresAt });
  service.clock.advance(2);
  const { status, body, text } = await service.get("/fetch-gp?gp_name=kkr", { "x-api-key": key });
  assert.equal(status, 401);
  assert.deepEqual(
    [body.code, body.key_hint, body.expired_at, body.account_url],
    ["api-key-expired", key.slice(0, 8), new Date(expiresAt).toISOString(), "/account"],
  );
  assert.equal(text.includes(key.slice(8)), false);
});

test("a suspended account is a 403 that counts nothing, from the next request on, until it is resumed", async (t) => {
  const service = await startService(t);
  const { key, account } = await service.newKey();
  const ask = () => service.get("/fetch-gp?gp_name=kkr", { "x-api-key": key });
  assert.equal((await ask()).status, 200);
  await commandDone(service.dataDir, "accounts", "suspend", account);
  const { status, body, headers } = await ask();
  assert.equal(status, 403);
  assert.deepEqual([body.code, body.reason], ["access-denied", "account_suspended"]);
  assert.equal(headers.get("ratelimit"), null);
  await commandDone(service.dataDir, "accounts", "resume", account);
  assert.match((await ask()).headers.get("ratelimit")!, /^"minute";r=58;/);
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
