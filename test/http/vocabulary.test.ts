import assert from "node:assert/strict";
import { test } from "node:test";
import { startService } from "../support/service.ts";

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
  assert.deepEqual(
    body.errors.map((one: any) => [one.parameter, one.code, one.allowed, one.allowed_on?.length]),
    [
      ["tag", "unknown_parameter", [], 6],
      ["x", "unknown_parameter", [], undefined],
      ["y", "invalid_encoding", undefined, undefined],
    ],
  );
  assert.equal((await service.get("/vocabulary?")).status, 200);
});
