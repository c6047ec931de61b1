import assert from "node:assert/strict";
import { test } from "node:test";
import { operations } from "#operations/index.ts";
import { ask } from "../support/raw-client.ts";
import { startService, type Answer } from "../support/service.ts";

const exposed =
  "API-Version, Dataset-Version, ETag, Link, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, X-Request-Id, X-Total-Count";

function links({ headers }: Answer): Record<string, string> {
  return Object.fromEntries(
    [...headers.get("link")!.matchAll(/<([^>]*)>; rel="([^"]*)"/g)].map(([, target, rel]) => [
      rel!,
      target!,
    ]),
  );
}

test("If-None-Match is compared weakly, among several and with a star", async (t) => {
  const service = await startService(t);
  const path = "/fetch-gp?gp_name=northwind";
  const etag = (await service.get(path)).headers.get("etag")!;
  for (const value of [etag, etag.slice(2), `"x", ${etag}`, "*"])
    assert.equal((await service.get(path, { "if-none-match": value })).status, 304, value);
  for (const value of ['"x"', `${etag.slice(0, -2)}"`, ""])
    assert.equal((await service.get(path, { "if-none-match": value })).status, 200, value);
});

test("Link names first, prev, next and last where they exist, of a page past the end the last one, and the description of the API", async (t) => {
  const service = await startService(t);
  const middle = links(await service.get("/fetch-signals?limit=2&offset=2"));
  assert.deepEqual(middle, {
    first: "/fetch-signals?limit=2&offset=0",
    prev: "/fetch-signals?limit=2&offset=0",
    next: "/fetch-signals?limit=2&offset=4",
    last: "/fetch-signals?limit=2&offset=4",
    "service-desc": "/openapi.json",
  });
  const { prev, last, next } = links(await service.get("/fetch-signals?limit=2&offset=400"));
  assert.deepEqual([prev, last, next], [middle["last"], middle["last"], undefined]);
  const only = links(await service.get("/fetch-gp?gp_name=northwind&tag=multifamily"));
  assert.deepEqual(Object.keys(only), ["first", "last", "service-desc"]);
  assert.equal(only["first"], "/fetch-gp?gp_name=northwind&tag=multifamily&limit=20&offset=0");
});

test("links are made from PUBLIC_URL and never from Host", async (t) => {
  const service = await startService(t, {
    settings: { PUBLIC_URL: "https://records.example/api/" },
  });
  const { headers, text } = await service.get("/fetch-signals?limit=1", { host: "evil.example" });
  assert.match(
    headers.get("link")!,
    /^<https:\/\/records\.example\/api\/fetch-signals\?limit=1&offset=0>; rel="first"/,
  );
  assert.doesNotMatch(headers.get("link")! + text, /evil/);
});

test("any origin may read answers and errors by default, a list of origins lets those alone and says that it varies, off none; never with credentials", async (t) => {
  const two = "https://app.example, https://b.example";
  for (const [CORS_ORIGINS, origin, allowed, exposes] of [
    ["*", "https://app.example", "*", exposed],
    [two, "https://app.example", "https://app.example", exposed],
    [two, "https://evil.example", null, null],
    ["off", "https://app.example", null, null],
  ] as const) {
    const service = await startService(
      t,
      CORS_ORIGINS === "*" ? {} : { settings: { CORS_ORIGINS } },
    );
    for (const path of [...operations.map((one) => one.path), "/nowhere", "/openapi.json"]) {
      const { headers } = await service.get(path, { origin });
      assert.equal(headers.get("access-control-allow-origin"), allowed);
      assert.equal(headers.get("access-control-expose-headers"), exposes);
      assert.equal(headers.get("access-control-allow-credentials"), null);
      if (CORS_ORIGINS === two)
        assert.equal(headers.get("vary"), "Accept, Accept-Encoding, Origin");
    }
  }
});

test("a key that stands in the query by mistake comes back in no link, and what is cut out leaves it well-formed", async (t) => {
  const { port, key, get } = await startService(t);
  const { headers: own, text } = await get(`/fetch-gp?gp_name=${key}`);
  assert.match(own.get("link")!, /gp_name=gpr_[0-9A-Za-z]{4}%E2%80%A6&/);
  assert.doesNotMatch(own.get("link")! + text, new RegExp(key.slice(8)));
  for (const name of [key, key.replace("_", "%255f"), key.replace("g", "%2567")]) {
    const { status, headers } = await ask(
      port,
      `/fetch-principals?gp_name=${name}&tag=a%26b%3E%2C&tag=%E2%82%AC`,
      { key },
    );
    assert.equal(status, 200, name);
    assert.match(headers["link"]!, /&tag=a%26b%3E%2C&tag=%E2%82%AC&/, name);
  }
});

test("a fit X-Request-Id is kept, any other is replaced by one of our own", async (t) => {
  const service = await startService(t);
  const idFor = async (id: string) =>
    (await service.get("/fetch-signals", { "x-request-id": id })).headers.get("x-request-id");
  for (const fit of ["a", "Trace-1.2_3", "x".repeat(64)]) assert.equal(await idFor(fit), fit);
  for (const unfit of ["x".repeat(65), "a b", "é", "a/b"])
    assert.match((await idFor(unfit))!, /^req_[0-9A-HJKMNP-TV-Z]{26}$/);
});
