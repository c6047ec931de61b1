import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { test } from "node:test";
import { operations } from "#operations/index.ts";
import { readAssets } from "#pages/assets.ts";
import { assertEveryAnswer } from "../support/problem-answer.ts";
import { publicPages } from "../support/public-pages.ts";
import { startService } from "../support/service.ts";

const noKey = { "x-api-key": "" };
const mediaTypes = ["application/json", "application/x-ndjson", "text/csv"];
const publicPaths = [
  "/openapi.json",
  "/llms.txt",
  "/health",
  "/ready",
  // All but the answer to a mistyped address.
  ...[...publicPages().keys()].filter((path) => path !== "/dosc"),
];

test("public documents need no key, may be kept for five minutes and are confirmed by their tag", async (t) => {
  const service = await startService(t);
  for (const path of publicPaths.filter((one) => one !== "/health" && one !== "/ready")) {
    const first = await service.get(path, noKey);
    assert.equal(first.status, 200, path);
    assertEveryAnswer(Object.fromEntries(first.headers));
    assert.equal(first.headers.get("ratelimit"), null, path);
    assert.equal(first.headers.get("cache-control"), "public, max-age=300", path);
    const again = await service.get(path, {
      ...noKey,
      "if-none-match": first.headers.get("etag")!,
    });
    assert.equal(again.status, 304, path);
    assert.deepEqual([again.text, again.headers.get("content-type")], ["", null]);
  }
});

test("while there is no dataset /ready and the operations are a 503 that says so, and /health is well", async (t) => {
  const empty = await startService(t, { records: null });
  assert.equal((await empty.get("/health", noKey)).status, 200);
  for (const [path, headers, wait] of [
    ["/ready", noKey, 1],
    ["/fetch-gp?gp_name=kkr", {}, 5],
  ] as const) {
    const { status, body } = await empty.get(path, headers);
    assert.deepEqual([status, body.reason, body.retry_after], [503, "no_dataset", wait], path);
  }
});

test("an asset has its hash in its address, may be kept for a year, and is at no other address", async (t) => {
  const service = await startService(t);
  const pages = await Promise.all(
    ["/", "/docs/fetch-gp", "/account"].map((path) => service.get(path, noKey)),
  );
  const isText = (address: string) => !address.endsWith(".woff2");
  const found = pages.flatMap(({ text }) => text.match(/\/assets\/[^"]+/g) ?? []).filter(isText);
  const addresses = [...new Set(found)];
  const names = addresses.map((address) => address.replace(/\.[0-9a-f]{16}(?=\.[a-z]+$)/, ""));
  for (const name of ["frame.css", "style.css", "plot.css", "page.js", "docs.js", "icon.svg"])
    assert.ok(names.includes(`/assets/${name}`), name);
  for (const [at, address] of addresses.entries()) {
    const { status, headers, text } = await service.get(address, noKey);
    assert.equal(status, 200, address);
    assert.equal(headers.get("cache-control"), "public, max-age=31536000, immutable");
    const [, sum] = /\.([0-9a-f]{16})\.[a-z]+$/.exec(address)!;
    assert.equal(hash("sha256", text).slice(0, 16), sum);
    const again = await service.get(address, { ...noKey, "if-none-match": headers.get("etag")! });
    assert.equal(again.status, 304);
    assert.equal((await service.get(address, noKey, "HEAD")).status, 200);
    const other = await service.get(address, noKey, "OPTIONS");
    assert.deepEqual([other.status, other.headers.get("allow")], [405, "GET, HEAD"]);
    for (const gone of [names[at]!, address.replace(sum!, "0123456789abcdef")])
      assert.equal((await service.get(gone, noKey)).status, 404, gone);
  }
});

test("br is the smallest form of every public document, then gzip", async (t) => {
  const service = await startService(t);
  const assets = readAssets().flatMap(({ path }) => (path.endsWith(".woff2") ? [] : [path]));
  for (const path of [...publicPaths, ...assets]) {
    const sizeIn = async (encoding: string) => {
      const { headers } = await service.get(path, { ...noKey, "accept-encoding": encoding });
      assert.equal(headers.get("vary"), "Accept, Accept-Encoding");
      return Number(headers.get("content-length"));
    };
    const [plain, gzip, br] = [await sizeIn("identity"), await sizeIn("gzip"), await sizeIn("br")];
    if (plain <= 1024) assert.deepEqual([gzip, br], [plain, plain], path);
    else assert.ok(br < gzip * 0.95 && gzip < plain, `${path}: ${plain}, gzip ${gzip}, br ${br}`);
  }
});

test("/ is a page for people and an index of links for programs", async (t) => {
  const service = await startService(t);
  const page = await service.get("/", { ...noKey, accept: "text/html,*/*;q=0.8" });
  assert.match(page.text, /<!doctype html>/i);
  const index = (await service.get("/", { ...noKey, accept: "application/json" })).body;
  assert.equal(index.links.openapi, "/openapi.json");
  assert.equal(index.operations.length, operations.length);
});

const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

test("the title of every page ends with the name of the service", async (t) => {
  const service = await startService(t, { settings: { SERVICE_NAME: "Northwind & Söhne" } });
  for (const path of ["/", "/docs", "/privacy", "/nowhere", "/account/sign-in", "/browse/gps"]) {
    const { text } = await service.get(path, { ...noKey, accept: browser });
    assert.match(text, / · Northwind &amp; Söhne<\/title>/, path);
  }
});

test("a mistyped address is a page in a browser, with what was meant, and a problem for everybody else", async (t) => {
  const service = await startService(t);
  for (const [path, href, meant] of [
    ["/dosc", "/docs", "/docs"],
    ["/fetch-gps?gp_name=kkr", "/docs/fetch-gp", "/fetch-gp"],
    ["/errors/quota-exceded", "/errors/quota-exceeded", "/errors/quota-exceeded"],
  ] as const) {
    const page = await service.get(path, { ...noKey, accept: browser });
    assert.equal(page.status, 404, path);
    assert.equal(page.headers.get("content-type"), "text/html; charset=utf-8");
    assert.equal(page.headers.get("cache-control"), "no-store");
    assert.equal(page.headers.get("vary"), "Accept, Accept-Encoding");
    assert.match(page.headers.get("content-security-policy")!, /script-src 'self'/);
    assert.match(page.text, /<h1>There is nothing at this path<\/h1>/);
    assert.ok(page.text.includes(`<a href="${href}">${meant}</a>`), path);
    assert.ok(page.text.includes(page.headers.get("x-request-id")!));
    const jsonFirst = "application/json, text/html;q=0.9";
    for (const accept of ["*/*", "application/json", jsonFirst, "image/png"]) {
      const problem = await service.get(path, { ...noKey, accept });
      assert.equal(problem.status, 404);
      assert.equal(problem.body.code, "unknown-path", accept);
      assert.equal(problem.body.suggestion, meant);
    }
  }
  for (const [path, suggestion] of [
    ["/Fetch-GP", "/fetch-gp"],
    ["/fetch-gp/", "/fetch-gp"],
    ["/v9/fetch-gp", "/v1/fetch-gp"],
    ["/wp-admin", null],
  ] as const) {
    const { status, body } = await service.get(path);
    assert.deepEqual([status, body.suggestion], [404, suggestion], path);
    const paths = operations.map((operation) => operation.path);
    assert.deepEqual(body.operations, paths);
  }
  const far = await service.get("/%3Cscript%3E'x'", { ...noKey, accept: browser });
  assert.equal(far.status, 404);
  assert.doesNotMatch(far.text, /Did you mean/);
  assert.doesNotMatch(far.text, /<script>/);
});

test("OPTIONS is 204 with Allow and CORS, without a key", async (t) => {
  const service = await startService(t);
  const answer = await service.get("/fetch-gp", noKey, "OPTIONS");
  assert.equal(answer.status, 204);
  assert.equal(answer.headers.get("allow"), "GET, HEAD, OPTIONS");
  assert.equal(answer.headers.get("access-control-allow-origin"), "*");
  assert.equal(answer.headers.get("access-control-allow-methods"), "GET, HEAD, OPTIONS");
  const allowed = answer.headers.get("access-control-allow-headers");
  assert.equal(allowed, "x-api-key, accept, if-none-match, x-request-id");
  assert.equal(answer.headers.get("access-control-max-age"), "7200");
});

test("checks come in their order: target, path, method, key, quota, format, parameters, dataset", async (t) => {
  const service = await startService(t, { records: null });
  const long = "x".repeat(8200);
  const bad = { "x-api-key": "wrong", accept: "image/png" };
  assert.equal((await service.get(`/nowhere?${long}`, bad, "POST")).status, 414);
  assert.equal((await service.get("/nowhere?limit=0", bad, "POST")).status, 404);
  for (const [faulty, sound, formats] of [
    ["/fetch-gp?limit=0", "/fetch-gp?gp_name=kkr", mediaTypes],
    ["/vocabulary?tag=x", "/vocabulary", ["application/json"]],
  ] as const) {
    const answer = async (path: string, headers: Record<string, string>, method = "GET") => {
      const { status, body } = await service.get(path, headers, method);
      return [status, body.code, body.available ?? body.reason];
    };
    assert.deepEqual(await answer(faulty, bad, "POST"), [405, "method-not-allowed", undefined]);
    assert.deepEqual(await answer(faulty, noKey), [401, "api-key-missing", undefined]);
    assert.deepEqual(await answer(faulty, bad), [401, "api-key-invalid", "malformed"]);
    const { key } = await service.newKey({ quotas: { minute: 1 } });
    const picture = { "x-api-key": key, accept: "image/png" };
    assert.deepEqual(await answer(faulty, picture), [406, "not-acceptable", formats]);
    assert.equal((await answer(faulty, picture))[1], "quota-exceeded");
    assert.equal((await answer(faulty, {}))[1], "invalid-parameters");
    const unavailable = await answer(sound, { "if-none-match": "*" });
    assert.deepEqual(unavailable, [503, "unavailable", "no_dataset"]);
  }
});
