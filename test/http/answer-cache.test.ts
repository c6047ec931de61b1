import assert from "node:assert/strict";
import { test } from "node:test";
import { openAnswerCache } from "#http/answer-cache.ts";

test("what is kept takes no more memory than its bytes", async () => {
  const cache = openAnswerCache(1024 * 1024);
  const answer = { identity: Buffer.from("stone ".repeat(300)), encoded: {}, headers: [] };
  cache.add("key", answer);
  for (const encoding of ["br", "gzip"] as const) {
    const body = await cache.bodyOf("key", answer, encoding);
    assert.equal(body.buffer.byteLength, body.length, encoding);
  }
  const { identity } = cache.find("key")!;
  assert.equal(identity.buffer.byteLength, identity.length);
  assert.equal(identity.toString(), "stone ".repeat(300));
});
