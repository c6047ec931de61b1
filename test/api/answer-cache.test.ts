import assert from "node:assert/strict";
import { test } from "node:test";
import { type Answer, openAnswerCache } from "#api/answer-cache.ts";
import { fetchGp } from "#operations/fetch-gp.ts";
import { json } from "#operations/formats.ts";

test("what is kept takes no more memory than its bytes", async () => {
  const cache = openAnswerCache(1024 * 1024);
  const answer: Answer = {
    operation: fetchGp,
    format: json,
    query: { filter: { name: "stone" }, limit: 20, offset: 0 },
    tag: 'W/"1-a"',
    datasetVersion: "1",
    total: 300,
    body: Buffer.from("stone ".repeat(300)),
    encoded: {},
    headers: null,
  };
  cache.add(answer);
  for (const encoding of ["br", "gzip"] as const) {
    const body = await cache.bodyOf(answer, encoding);
    assert.equal(body.buffer.byteLength, body.length, encoding);
  }
  const { body } = cache.find(answer.tag)!;
  assert.equal(body.buffer.byteLength, body.length);
  assert.equal(body.toString(), "stone ".repeat(300));
});
