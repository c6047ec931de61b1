import assert from "node:assert/strict";
import { test } from "node:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { sendRaw } from "../support/raw-request.ts";
import { startService } from "../support/service.ts";

test("the key is read from x-api-key, in any letter case of the name, exactly once", async (t) => {
  const { port, key } = await startService(t);
  const ask = (headers: string) =>
    sendRaw(
      port,
      `GET /fetch-gp?gp_name=kkr HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers}\r\n`,
    );
  assert.equal((await ask(`X-API-KEY: ${key}\r\n`)).status, 200);
  assert.equal((await ask(`x-api-key: \t ${key} \t\r\n`)).status, 200);
  assert.equal((await ask(`x_api_key: ${key}\r\n`)).status, 401);
  for (const twice of [
    `x-api-key: ${key}\r\nx-api-key: ${key}\r\n`,
    `x-api-key: nope\r\nx-api-key: ${key}\r\n`,
  ])
    assert.equal((await ask(twice)).status, 401);
});

test("a key in the query, Authorization or a cookie is not read; its place is named and it is never echoed", async (t) => {
  const service = await startService(t);
  const { key } = service;
  const places = {
    "the query string": await service.get(`/fetch-gp?gp_name=kkr&api_key=${key}`, {
      "x-api-key": "",
    }),
    "the header Authorization": await service.get("/fetch-gp?gp_name=kkr", {
      "x-api-key": "",
      authorization: `Bearer ${key}`,
    }),
    "a cookie": await service.get("/fetch-gp?gp_name=kkr", {
      "x-api-key": "",
      cookie: `key=${key}`,
    }),
  };
  for (const [place, answer] of Object.entries(places)) {
    assert.equal(answer.status, 401);
    assert.match(answer.body.detail, new RegExp(place));
    assert.doesNotMatch(answer.text, new RegExp(key.slice(9)));
  }
});

test("echoed names and values are cut at 50 characters, and key-shaped text in them is masked", async (t) => {
  const service = await startService(t);
  const long = "n".repeat(80);
  const { body, text } = await service.get(`/fetch-gp?gp_name=kkr&${long}=1&${service.key}=1`);
  assert.equal(body.errors[0].parameter, `${"n".repeat(50)}…`);
  assert.equal(text.includes(service.key), false);
  const { body: hinted } = await service.get(`/fetch-gp?gp_name=${service.key}`);
  assert.equal(JSON.stringify(hinted.meta).includes(service.key), false);
});

test("bodies over 1 KiB are sent in br or gzip to whoever accepts them, and smaller ones as they are", async (t) => {
  const { port, key } = await startService(t);
  const ask = (path: string, encoding: string) =>
    sendRaw(
      port,
      `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nx-api-key: ${key}\r\nAccept-Encoding: ${encoding}\r\n\r\n`,
    );
  const plain = await ask("/fetch-gp?gp_name=northwind", "identity");
  assert.equal(plain.headers["content-encoding"], undefined);
  const decoded = { br: brotliDecompressSync, gzip: gunzipSync };
  for (const [accepted, encoding] of [
    ["br", "br"],
    ["gzip", "gzip"],
    ["gzip, deflate, br", "br"],
    ["gzip;q=1, br;q=0.1", "gzip"],
  ] as const) {
    const answer = await ask("/fetch-gp?gp_name=northwind", accepted);
    assert.equal(answer.headers["content-encoding"], encoding, accepted);
    assert.equal(
      decoded[encoding](Buffer.from(answer.body, "latin1")).toString("latin1"),
      plain.body,
    );
    assert.equal(answer.headers["etag"], plain.headers["etag"]);
  }
  const small = await ask("/fetch-gp?gp_name=zzzz", "br");
  assert.equal(small.headers["content-encoding"], undefined);
});

test("a fit X-Request-Id is kept, any other is replaced by one of our own", async (t) => {
  const service = await startService(t);
  const idFor = async (id: string) =>
    (await service.get("/fetch-signals", { "x-request-id": id })).headers.get("x-request-id");
  for (const fit of ["a", "Trace-1.2_3", "x".repeat(64)]) assert.equal(await idFor(fit), fit);
  for (const unfit of ["x".repeat(65), "a b", "é", "a/b"])
    assert.match((await idFor(unfit))!, /^req_[0-9A-HJKMNP-TV-Z]{26}$/);
});

test("a query is percent-encoded UTF-8, plus means space, empty pairs mean nothing", async (t) => {
  const service = await startService(t);
  const total = async (query: string) =>
    (await service.get(`/fetch-gp?${query}`)).body.pagination?.total;
  assert.equal(await total("gp_name=northwind+residential"), 1);
  assert.equal(await total("gp_name=northwind%20residential"), 1);
  assert.equal(await total("&&gp_name=northwind&&"), 1);
  assert.equal(await total("gp_name=%E4%B8%89%E4%BA%95"), 1);
  assert.equal(
    (await service.get("/fetch-gp?gp_name=northwind&tag")).body.errors[0].code,
    "empty_value",
  );
});

test("bytes beyond ASCII that are not percent-encoded are refused", async (t) => {
  const { port, key } = await startService(t);
  const ask = (bytes: string) =>
    sendRaw(
      port,
      Buffer.from(
        `GET /fetch-gp?gp_name=${bytes} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nx-api-key: ${key}\r\n\r\n`,
        "latin1",
      ),
    );
  for (const bytes of [Buffer.from("Société").toString("latin1"), "Soci\u00e9t\u00e9"]) {
    const answer = await ask(bytes);
    assert.equal(answer.status, 400);
    assert.equal(JSON.parse(answer.body).code, "malformed-request");
  }
});

test("names of parameters are case-sensitive", async (t) => {
  const service = await startService(t);
  const { body } = await service.get("/fetch-gp?GP_NAME=kkr");
  assert.deepEqual(
    body.errors.map((error: { code: string }) => error.code),
    ["unknown_parameter", "missing"],
  );
});
