import assert from "node:assert/strict";
import { test } from "node:test";
import { lists } from "#operations/lists.ts";
import type { AnsweredRequest } from "#usage/recording.ts";
import { openHttpServer } from "../support/http-server.ts";
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
  assert.deepEqual(body.errors, [
    {
      parameter: "tag",
      code: "unknown_parameter",
      detail: "Not a parameter of /vocabulary.",
      allowed: [],
      allowed_on: [
        "/fetch-gp",
        "/fetch-principals",
        ...Object.values(lists).map(({ path }) => path),
      ],
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
