import assert from "node:assert/strict";
import { test } from "node:test";
import { openChunkDraft } from "#usage/recording.ts";
import { chunkOf, readChunk, request } from "../support/usage.ts";

test("what is laid into a chunk is read from it, in its order", () => {
  const requests = [
    request({ requestId: "req_1", query: null }),
    request({ at: 1_795_262_400_123, account: 4_294_967_295, key: "key_b", requestId: "x" }),
    request({ status: 400, dataset: null, problem: "invalid-parameters", bytes: 0, query: "" }),
    request({ requestId: "r".repeat(64), query: "gp_name=gpr_abcd…&limit=%20", milliseconds: 0 }),
    request({ operation: "fetch-projects", bytes: 4_294_967_295, milliseconds: 99_999.99 }),
  ];
  assert.deepEqual(readChunk(chunkOf(requests)), requests);
  assert.deepEqual(readChunk(chunkOf([])), []);
});

test("words that many requests share lie in a chunk once", () => {
  const { words, bytes } = chunkOf(Array.from({ length: 100 }, () => request()));
  assert.deepEqual(words, ["", "key_a", "fetch-gp", "20261121T090000Z-1"]);
  assert.ok(bytes.byteLength <= 100 * 40, String(bytes.byteLength));
});

test("of a query 500 characters are kept, of an id 64", () => {
  const [found] = readChunk(
    chunkOf([request({ query: "ä".repeat(501), requestId: "r".repeat(65) })]),
  );
  assert.equal(found!.query, "ä".repeat(500));
  assert.equal(found!.requestId, "r".repeat(64));
});

test("a draft that is full says so and takes requests again once its chunk was taken", () => {
  const draft = openChunkDraft(4096);
  const long = request({ query: "q".repeat(500), requestId: "r".repeat(64) });
  let added = 0;
  while (draft.add(long.at, long)) added++;
  assert.ok(added >= 2);
  const full = draft.take();
  assert.equal(full.count, added);
  assert.deepEqual(
    readChunk(full),
    Array.from({ length: added }, () => long),
  );
  assert.equal(draft.add(long.at, { ...long, key: "key_b" }), true);
  assert.equal(readChunk(draft.take())[0]!.key, "key_b");
  assert.deepEqual(readChunk(full)[0], long);
});
