import assert from "node:assert/strict";
import { test } from "node:test";
import { brotliDecompressSync } from "node:zlib";
import type { AnsweredRequest } from "#usage/recording.ts";
import { openHttpServer } from "../support/http-server.ts";
import { sendRaw } from "../support/raw-client.ts";
import { startService } from "../support/service.ts";

const noKey = { "x-api-key": "" };

test("the vocabulary is data and meta, in the style of the operations, and the same under /v1", async (t) => {
  const service = await startService(t);
  const { status, headers, body, text } = await service.get("/vocabulary");
  assert.equal(status, 200);
  assert.deepEqual(Object.keys(body), ["data", "meta"]);
  assert.deepEqual(Object.keys(body.data), ["tags", "themes", "markets", "enums"]);
  assert.equal(body.meta.dataset_version, headers.get("dataset-version"));
  assert.equal(headers.get("content-type"), "application/json; charset=utf-8");
  assert.equal(headers.get("cache-control"), "private, no-cache");
  assert.equal(headers.get("link"), '</openapi.json>; rel="service-desc"');
  const page = await service.get("/fetch-principals?tag=multifamily");
  assert.deepEqual(body.meta, page.body.meta);
  const versioned = await service.get("/v1/vocabulary");
  assert.equal(versioned.text, text);
  assert.equal(versioned.headers.get("etag"), headers.get("etag"));
});

test("the vocabulary takes no parameter, and says where one that it was given belongs", async (t) => {
  const service = await startService(t);
  const { status, body } = await service.get("/vocabulary?tag=ai&x=1&x=2&y=%zz&&");
  assert.equal(status, 400);
  assert.match(body.detail, /^3 problems: 'tag' is not a parameter of \/vocabulary; 'x' is not/);
  assert.deepEqual(body.errors, [
    {
      parameter: "tag",
      code: "unknown_parameter",
      detail: "Not a parameter of /vocabulary.",
      allowed: [],
      allowed_on: ["/fetch-gp", "/fetch-principals"],
    },
    {
      parameter: "x",
      code: "unknown_parameter",
      detail: "Not a parameter of /vocabulary.",
      allowed: [],
    },
    {
      parameter: "y",
      code: "invalid_encoding",
      detail: "Must be percent-encoded UTF-8 without control characters.",
    },
  ]);
  assert.equal((await service.get("/vocabulary?")).status, 200);
  const many = Array.from({ length: 30 }, (_, i) => `n${i}=`).join("&");
  const { errors, errors_total: total } = (await service.get(`/vocabulary?${many}`)).body;
  assert.deepEqual([errors.length, total], [20, 30]);
});

test("a kept vocabulary is a 304 by its tag until another dataset is served, and each request counts 1", async (t) => {
  const service = await startService(t);
  const { headers } = await service.get("/vocabulary");
  const tag = headers.get("etag")!;
  assert.match(tag, /^W\/"/);
  assert.match(headers.get("ratelimit")!, /^"minute";r=59;/);
  const again = await service.get("/vocabulary", { "if-none-match": `"other", ${tag}` });
  assert.deepEqual([again.status, again.text], [304, ""]);
  assert.equal(again.headers.get("dataset-version"), headers.get("dataset-version"));
  assert.match(again.headers.get("ratelimit")!, /^"minute";r=58;/);
  const head = await service.get("/vocabulary", {}, "HEAD");
  assert.deepEqual([head.status, head.text], [200, ""]);
  for (const name of ["etag", "content-length", "content-type", "dataset-version", "link"])
    assert.equal(head.headers.get(name), headers.get(name), name);
  const options = await service.get("/vocabulary", noKey, "OPTIONS");
  assert.deepEqual([options.status, options.headers.get("allow")], [204, "GET, HEAD, OPTIONS"]);
  assert.match((await service.get("/vocabulary")).headers.get("ratelimit")!, /^"minute";r=56;/);

  const other = await startService(t, { records: [{ record: "gp", id: "a", name: "A" }] });
  const changed = await other.get("/vocabulary", { "if-none-match": tag });
  assert.equal(changed.status, 200);
  assert.deepEqual(changed.body.data.tags, []);
});

test("the vocabulary is compressed where the client allows it", async (t) => {
  const service = await startService(t);
  const { text } = await service.get("/vocabulary");
  const request = `GET /vocabulary HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${service.key}\r\nAccept-Encoding: br\r\nConnection: close\r\n\r\n`;
  for (const time of ["made", "kept"]) {
    const { headers, body } = await sendRaw(service.port, request);
    assert.equal(headers["content-encoding"], "br", time);
    assert.equal(brotliDecompressSync(Buffer.from(body, "latin1")).toString(), text, time);
  }
});

test("a request for the vocabulary is logged, measured and recorded under its name", async (t) => {
  const recorded: AnsweredRequest[] = [];
  const { get, log } = await openHttpServer(t, { record: (one) => void recorded.push(one) });
  const { headers, text } = await get("/v1/vocabulary", { "accept-encoding": "identity" });
  const { milliseconds: _, ...request } = recorded[0]!;
  assert.deepEqual(request, {
    account: 1,
    key: "key_1",
    operation: "vocabulary",
    status: 200,
    bytes: Buffer.byteLength(text),
    dataset: headers.get("dataset-version"),
    problem: null,
    requestId: headers.get("x-request-id"),
    query: null,
  });
  const line = log.map((one) => JSON.parse(one)).find(({ msg }) => msg === "request");
  assert.deepEqual([line.path, line.key, line.status], ["/v1/vocabulary", "key_1", 200]);
});

test("a mistake while the vocabulary is made is a 500 that was counted", async (t) => {
  const { get, log } = await openHttpServer(t, {
    model: () => assert.fail("the records are broken"),
  });
  const { status, headers, body } = await get("/vocabulary");
  assert.deepEqual([status, body.code], [500, "internal-error"]);
  assert.match(headers.get("ratelimit")!, /^"minute";r=59/);
  assert.ok(log.some((line) => line.includes("the records are broken")));
  assert.doesNotMatch(JSON.stringify(body), /broken/);
});
