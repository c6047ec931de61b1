import assert from "node:assert/strict";
import { test } from "node:test";
import { commandDone } from "../support/command-line.ts";
import { fixedClock, startService } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const path = "/fetch-gp?gp_name=kkr";

test("60 requests a minute pass, the 61st is a 429 that says when to come back, and it is true", async (t) => {
  const service = await startService(t);
  for (let i = 59; i >= 0; i--) {
    const { status, headers } = await service.get(path);
    assert.equal(status, 200);
    assert.match(
      headers.get("ratelimit")!,
      new RegExp(`^"minute";r=${i};t=60, "hour";r=${940 + i};t=3600, "day";r=${9940 + i};t=86400$`),
    );
  }
  service.clock.advance(36.5);
  const refused = await service.get(path);
  assert.equal(refused.status, 429);
  assert.equal(refused.headers.get("retry-after"), "24");
  assert.equal(refused.headers.get("cache-control"), "no-store");
  assert.match(refused.headers.get("ratelimit")!, /^"minute";r=0;t=24, "hour";r=940;t=3564, /);
  assert.deepEqual(refused.body, {
    type: "https://iana.org/assignments/http-problem-types#quota-exceeded",
    title: "Request cannot be satisfied as assigned quota has been exceeded",
    status: 429,
    detail: "All 60 requests of this minute are used. Try again in 24 seconds.",
    code: "quota-exceeded",
    request_id: refused.headers.get("x-request-id"),
    "violated-policies": ["minute"],
    retry_after: 24,
    policies: [
      { name: "minute", quota: 60, window: 60, remaining: 0, reset: 24 },
      { name: "hour", quota: 1000, window: 3600, remaining: 940, reset: 3564 },
      { name: "day", quota: 10000, window: 86400, remaining: 9940, reset: 86364 },
    ],
  });
  service.clock.advance(24);
  assert.equal((await service.get(path)).status, 200);
});

test("a refusal spends nothing in any window", async (t) => {
  const service = await startService(t);
  const { key } = await service.newKey({ quotas: { minute: 1 } });
  const ask = () => service.get(path, { "x-api-key": key });
  await ask();
  for (let i = 0; i < 5; i++) assert.equal((await ask()).status, 429);
  service.clock.advance(60);
  assert.match((await ask()).headers.get("ratelimit")!, /"hour";r=998;/);
});

test("two hundred requests at once over many connections get exactly the quota", async (t) => {
  const service = await startService(t);
  const answers = await Promise.all(Array.from({ length: 200 }, () => service.get(path)));
  assert.equal(answers.filter(({ status }) => status === 200).length, 60);
  assert.equal(answers.filter(({ status }) => status === 429).length, 140);
});

test("the quota is the account's, over all its keys", async (t) => {
  const service = await startService(t);
  const { id, key } = await service.newKey({ quotas: { minute: 2 } });
  const rotated = JSON.parse(await commandDone(service.dataDir, "keys", "rotate", id, "--json"));
  assert.equal((await service.get(path, { "x-api-key": key })).status, 200);
  assert.equal((await service.get(path, { "x-api-key": rotated.key })).status, 200);
  assert.equal((await service.get(path, { "x-api-key": key })).status, 429);
  assert.equal((await service.get(path, { "x-api-key": rotated.key })).status, 429);
});

test("numbers the operator gives an account hold from the next request on", async (t) => {
  const service = await startService(t);
  const { key, account } = await service.newKey({ quotas: { minute: 1 } });
  await service.get(path, { "x-api-key": key });
  assert.equal((await service.get(path, { "x-api-key": key })).status, 429);
  await commandDone(service.dataDir, "accounts", "limits", account, "--per-minute", "3", "--json");
  const { status, headers } = await service.get(path, { "x-api-key": key });
  assert.equal(status, 200);
  assert.match(headers.get("ratelimit-policy")!, /^"minute";q=3;w=60/);
});

test("every request that passes the key check counts 1, whatever the answer", async (t) => {
  const service = await startService(t);
  const etag = (await service.get(path)).headers.get("etag")!;
  await service.get(path, { "if-none-match": etag });
  await service.get("/fetch-gp");
  await service.get(path, { accept: "image/png" });
  await service.get(path, {}, "HEAD");
  assert.match((await service.get(path)).headers.get("ratelimit")!, /^"minute";r=54;/);
});

test("401, 403, 404, 405, OPTIONS and public paths do not count", async (t) => {
  const service = await startService(t);
  await service.get(path, { "x-api-key": "gpr_no" });
  await service.get("/nowhere");
  await service.get(path, {}, "POST");
  await service.get(path, {}, "OPTIONS");
  await service.get("/docs");
  assert.match((await service.get(path)).headers.get("ratelimit")!, /^"minute";r=59;/);
});

test("thirty wrong keys a minute from one address are told apart, more are a 429 without RateLimit; a valid key passes", async (t) => {
  const service = await startService(t);
  const wrong = () => service.get(path, { "x-api-key": "gpr_wrong" });
  for (let i = 0; i < 30; i++) assert.equal((await wrong()).status, 401);
  const refused = await wrong();
  assert.equal(refused.status, 429);
  assert.deepEqual(refused.body["violated-policies"], ["failed-keys"]);
  assert.equal(refused.headers.get("retry-after"), "60");
  assert.equal(refused.headers.get("ratelimit"), null);
  assert.equal((await service.get(path, { "x-api-key": "" })).status, 401);
  assert.equal((await service.get(path)).status, 200);
  service.clock.advance(60);
  assert.equal((await wrong()).status, 401);
});

test("a client cannot choose the address it is counted by", async (t) => {
  const service = await startService(t);
  const headers = (i: number) => ({
    "x-api-key": "gpr_wrong",
    ...Object.fromEntries(
      [
        "x-forwarded-for",
        "forwarded",
        "x-real-ip",
        "cf-connecting-ip",
        "true-client-ip",
        "x-client-ip",
      ].map((name) => [name, `203.0.113.${i}`]),
    ),
  });
  for (let i = 0; i < 30; i++) await service.get(path, headers(i));
  assert.equal((await service.get(path, headers(99))).status, 429);
});

test("behind a trusted proxy the right-most address that is not a proxy's counts", async (t) => {
  const service = await startService(t, { settings: { TRUSTED_PROXIES: "127.0.0.1, 10.0.0.0/8" } });
  const wrong = (forwarded: string) =>
    service.get(path, { "x-api-key": "gpr_wrong", "x-forwarded-for": forwarded });
  for (let i = 0; i < 30; i++) await wrong(`203.0.113.${i}, 198.51.100.7, 10.1.2.3`);
  assert.equal((await wrong("1.2.3.4, 198.51.100.7")).status, 429);
  assert.equal((await wrong("198.51.100.7, 198.51.100.8")).status, 401);
});

test("counts survive a restart", async (t) => {
  const dataDir = temporaryFolder(t);
  const clock = fixedClock();
  const first = await startService(t, { dataDir, clock });
  for (let i = 0; i < 40; i++) await first.get(path);
  await first.stop();
  clock.advance(10);
  const second = await startService(t, { dataDir, clock, records: null });
  const { headers } = await second.get(path, { "x-api-key": first.key });
  assert.match(
    headers.get("ratelimit")!,
    /^"minute";r=19;t=50, "hour";r=959;t=3590, "day";r=9959;t=86390$/,
  );
});
