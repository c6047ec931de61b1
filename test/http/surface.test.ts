import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { METHODS } from "node:http";
import { test } from "node:test";
import { operations } from "#operations/index.ts";
import { readAssets } from "#pages/assets.ts";
import { problemCodes } from "#problems.ts";
import { sendRaw } from "../support/raw-request.ts";
import { startService } from "../support/service.ts";

const noKey = { "x-api-key": "" };
const publicPaths = [
  "/openapi.json",
  "/docs",
  "/errors",
  "/changelog",
  "/docs.md",
  "/docs/samples",
  "/errors.md",
  "/changelog.md",
  "/llms.txt",
  "/health",
  "/ready",
  "/",
  ...problemCodes.map((code) => `/errors/${code}`),
];

test("the four operations answer under their path and under /v1 with the same bytes and ETag", async (t) => {
  const service = await startService(t);
  for (const { path } of operations) {
    const query = path === "/fetch-gp" ? "?gp_name=northwind" : "";
    const [bare, versioned] = [
      await service.get(path + query),
      await service.get(`/v1${path}${query}`),
    ];
    assert.equal(bare.status, 200);
    assert.equal(versioned.text, bare.text);
    for (const header of ["etag", "link", "x-total-count"])
      assert.equal(versioned.headers.get(header), bare.headers.get(header));
  }
});

test("the public paths need no key and count nothing", async (t) => {
  const service = await startService(t);
  for (const path of publicPaths) {
    const answer = await service.get(path, noKey);
    assert.equal(answer.status, 200, path);
    assert.equal(answer.headers.get("ratelimit"), null, path);
  }
});

test("public documents may be kept for five minutes and are confirmed by their tag", async (t) => {
  const service = await startService(t);
  for (const path of publicPaths.filter((one) => one !== "/health" && one !== "/ready")) {
    const first = await service.get(path, noKey);
    assert.equal(first.headers.get("cache-control"), "public, max-age=300", path);
    const again = await service.get(path, {
      ...noKey,
      "if-none-match": first.headers.get("etag")!,
    });
    assert.equal(again.status, 304, path);
    assert.equal(again.text, "");
  }
});

test("the operations need a key, whatever the method or spelling of the path", async (t) => {
  const service = await startService(t);
  for (const { path } of operations)
    for (const url of [path, `/v1${path}`, path.replace("-", "%2D")])
      for (const method of ["GET", "HEAD"])
        assert.equal((await service.get(url, noKey, method)).status, 401, `${method} ${url}`);
});

test("/health and /ready say ok, and /ready is a 503 problem while there is no dataset", async (t) => {
  const ready = await startService(t);
  assert.deepEqual((await ready.get("/health", noKey)).body, { status: "ok" });
  assert.deepEqual((await ready.get("/ready", noKey)).body, { status: "ok" });
  const empty = await startService(t, { records: null });
  assert.equal((await empty.get("/health", noKey)).status, 200);
  const answer = await empty.get("/ready", noKey);
  assert.equal(answer.status, 503);
  assert.equal(answer.body.reason, "no_dataset");
});

test("an asset has its hash in its address, may be kept for a year, and is at no other address", async (t) => {
  const service = await startService(t);
  const pages = await Promise.all(
    ["/", "/docs", "/account"].map((path) => service.get(path, noKey)),
  );
  const found = pages.flatMap(({ text }) => text.match(/\/assets\/[^"]+/g) ?? []);
  const addresses = [...new Set(found)];
  const names = addresses.map((address) => address.replace(/\.[0-9a-f]{16}(?=\.[a-z]+$)/, ""));
  for (const name of [
    "frame.css",
    "style.css",
    "account.css",
    "theme.js",
    "page.js",
    "docs.js",
    "icon.svg",
  ])
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
  const assets = readAssets().map(({ path }) => path);
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
  assert.match(
    (await service.get("/", { ...noKey, accept: "text/html,*/*;q=0.8" })).text,
    /<!doctype html>/i,
  );
  const index = (await service.get("/", { ...noKey, accept: "application/json" })).body;
  assert.equal(index.links.openapi, "/openapi.json");
  assert.equal(index.operations.length, 4);
});

const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

test("a mistyped address is a page in a browser, with what was meant, and a problem for everybody else", async (t) => {
  const service = await startService(t);
  for (const [path, href, meant] of [
    ["/dosc", "/docs", "/docs"],
    ["/fetch-gps?gp_name=kkr", "/docs#fetch-gp", "/fetch-gp"],
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
    for (const accept of [
      "*/*",
      "application/json",
      "application/json, text/html;q=0.9",
      "image/png",
    ]) {
      const problem = await service.get(path, { ...noKey, accept });
      assert.equal(problem.status, 404);
      assert.equal(problem.body.code, "unknown-path", accept);
      assert.equal(problem.body.suggestion, meant);
    }
  }
  const far = await service.get("/%3Cscript%3E'x'", { ...noKey, accept: browser });
  assert.equal(far.status, 404);
  assert.doesNotMatch(far.text, /Did you mean/);
  assert.doesNotMatch(far.text, /<script>/);
});

test("an operation answers a browser with problems alone, as it does programs", async (t) => {
  const service = await startService(t);
  for (const [path, status] of [
    ["/fetch-gp?gp_name=kkr", 401],
    ["/v1/fetch-signals", 401],
  ] as const) {
    const answer = await service.get(path, { ...noKey, accept: browser });
    assert.equal(answer.status, status);
    assert.equal(answer.headers.get("content-type"), "application/problem+json; charset=utf-8");
  }
});

test("/metrics is not on the public port", async (t) => {
  const service = await startService(t);
  assert.equal((await service.get("/metrics")).status, 404);
});

test("HEAD is GET without content and with all headers, and counts 1", async (t) => {
  const service = await startService(t);
  const get = await service.get("/fetch-gp?gp_name=northwind");
  const head = await service.get("/fetch-gp?gp_name=northwind", {}, "HEAD");
  assert.equal(head.status, 200);
  assert.equal(head.text, "");
  for (const name of [
    "etag",
    "link",
    "x-total-count",
    "content-type",
    "content-length",
    "dataset-version",
    "cache-control",
  ])
    assert.equal(head.headers.get(name), get.headers.get(name), name);
  assert.match(head.headers.get("ratelimit")!, /^"minute";r=58;/);
});

test("OPTIONS is 204 with Allow and CORS, without a key, and counts nothing", async (t) => {
  const service = await startService(t);
  const answer = await service.get("/fetch-gp", noKey, "OPTIONS");
  assert.equal(answer.status, 204);
  assert.equal(answer.headers.get("allow"), "GET, HEAD, OPTIONS");
  assert.equal(answer.headers.get("access-control-allow-origin"), "*");
  assert.equal(answer.headers.get("access-control-allow-methods"), "GET, HEAD, OPTIONS");
  assert.equal(
    answer.headers.get("access-control-allow-headers"),
    "x-api-key, accept, if-none-match, x-request-id",
  );
  assert.equal(answer.headers.get("access-control-max-age"), "7200");
  assert.match(
    (await service.get("/fetch-gp?gp_name=kk")).headers.get("ratelimit")!,
    /^"minute";r=59;/,
  );
});

test("every other method is a 405 that names the allowed ones, before any key is looked at", async (t) => {
  const service = await startService(t);
  for (const method of METHODS.filter(
    (one) => !["GET", "HEAD", "OPTIONS", "CONNECT"].includes(one),
  )) {
    const answer = await sendRaw(
      service.port,
      `${method} /fetch-gp HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    );
    assert.equal(answer.status, 405, method);
    assert.equal(answer.headers["allow"], "GET, HEAD, OPTIONS", method);
    assert.deepEqual(JSON.parse(answer.body).allowed, ["GET", "HEAD", "OPTIONS"]);
  }
  const tunnel = await sendRaw(
    service.port,
    "CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\n",
  );
  assert.equal(tunnel.status, 405);
});

test("checks come in their order: target, path, method, key, quota, format, parameters, dataset", async (t) => {
  const service = await startService(t, { records: null });
  const long = "x".repeat(8200);
  const status = async (path: string, headers: Record<string, string>, method = "GET") =>
    (await service.get(path, headers, method)).status;
  const bad = { "x-api-key": "wrong", accept: "image/png" };
  assert.equal(await status(`/nowhere?${long}`, bad, "POST"), 414);
  assert.equal(await status("/nowhere?limit=0", bad, "POST"), 404);
  assert.equal(await status("/fetch-gp?limit=0", bad, "POST"), 405);
  assert.equal(await status("/fetch-gp?limit=0", bad), 401);
  const { key } = await service.newKey({ quotas: { minute: 1 } });
  assert.equal(await status("/fetch-gp?limit=0", { "x-api-key": key, accept: "image/png" }), 406);
  assert.equal(await status("/fetch-gp?limit=0", { "x-api-key": key, accept: "image/png" }), 429);
  assert.equal(await status("/fetch-gp?limit=0", {}), 400);
  assert.equal(await status("/fetch-gp?gp_name=kkr", {}), 503);
});

test("a refused key costs no query and a fault in a parameter costs one request", async (t) => {
  const service = await startService(t);
  await service.get("/fetch-gp?gp_name=kkr", { "x-api-key": "gpr_wrong" });
  assert.equal((await service.get("/fetch-gp")).status, 400);
  assert.match(
    (await service.get("/fetch-gp?gp_name=kkr")).headers.get("ratelimit")!,
    /^"minute";r=58;/,
  );
});
