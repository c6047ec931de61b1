import assert from "node:assert/strict";
import { test } from "node:test";
import { makeRequestId } from "#http/request-id.ts";
import { checkBlock, decodeBlock, encodeBlocks, orderByAccount } from "#store/request-block.ts";
import { columnsOfRequests, requestAt, type StoredRequest } from "#store/request-columns.ts";
import { noon } from "../support/control.ts";
import { request } from "../support/usage.ts";

const numbered = (count: number, otherwise: (i: number) => Partial<StoredRequest>) =>
  Array.from({ length: count }, (_, i) => ({ ...request(), number: i + 1, ...otherwise(i) }));

function blocksOf(requests: readonly StoredRequest[], requestsMax: number, packsTexts: boolean) {
  const columns = columnsOfRequests(requests);
  return encodeBlocks(columns, orderByAccount(columns), requestsMax, packsTexts);
}

const readAll = (content: Uint8Array, account?: number) => {
  const columns = decodeBlock(content, account);
  return Array.from({ length: columns?.count ?? 0 }, (_, i) => requestAt(columns!, i));
};

test("what is put into blocks is read from them: all of it, or that of one account", () => {
  const requests = numbered(500, (i) => ({
    account: (i * 7) % 13,
    at: noon + i * 1000,
    bytes: i === 99 ? 4_294_967_295 : i,
    requestId: i % 3 === 0 ? `client-${i}` : makeRequestId(noon + i * 1000 - 5),
    query: i % 5 === 0 ? "gp_name=ä%20" : null,
  }));
  for (const packsTexts of [false, true]) {
    const blocks = blocksOf(requests, 64, packsTexts);
    const byNumber = (one: StoredRequest, other: StoredRequest) => one.number - other.number;
    const all = blocks.flatMap(({ content }) => readAll(content));
    assert.deepEqual(all.toSorted(byNumber), requests);
    assert.deepEqual(
      blocks.flatMap(({ content }) => readAll(content, 4)),
      requests.filter(({ account }) => account === 4),
    );
    for (const { content } of blocks) checkBlock(content);
  }
});

test("a request with an id of the service takes less than 25 bytes", () => {
  const requests = numbered(1024, (i) => ({
    account: i % 200,
    at: noon + Math.floor(i / 5),
    bytes: (i * 7919) % 60_000,
    requestId: makeRequestId(noon + Math.floor(i / 5)),
  }));
  const [block] = blocksOf(requests, 1024, true);
  assert.ok(block!.content.length < 25 * 1024, String(block!.content.length));
});

test("bytes that are no block, or part of one, are refused with what is wrong", () => {
  const [block] = blocksOf(
    numbered(50, (i) => ({ bytes: i })),
    50,
    false,
  );
  const { content } = block!;
  assert.throws(() => decodeBlock(content.subarray(0, 0)), /format/);
  assert.throws(() => decodeBlock(Uint8Array.from(content).fill(9, 0, 1)), /its format is 9/);
  assert.throws(() => checkBlock(content.subarray(0, content.length - 5)), Error);
  assert.throws(() => checkBlock(content.subarray(0, 200)), Error);
});
