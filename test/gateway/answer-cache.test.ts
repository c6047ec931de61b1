import assert from "node:assert/strict";
import { test } from "node:test";
import { openAnswerCache, type SentBody } from "#gateway/answer-cache.ts";

test("what is kept takes no more memory than its bytes", async () => {
  const cache = openAnswerCache(1024 * 1024);
  const answer: SentBody = {
    tag: 'W/"1-a"',
    datasetVersion: "1",
    body: Buffer.from("stone ".repeat(300)),
    encoded: {},
    headers: "",
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
