import assert from "node:assert/strict";
import { test } from "node:test";
import { preferredEncoding } from "#gateway/headers.ts";
import { heapBytes } from "../support/heap-bytes.ts";

/** As long as a client may send it: two hundred of them take more than 3 MiB. */
const longHeader = (number: number) => Buffer.from(`${number}, gzip,${"x,".repeat(8000)}`);

test("long Accept-Encoding headers are understood and none of them is kept", () => {
  const understood = (from: number, to: number) => {
    for (let number = from; number < to; number++)
      assert.equal(preferredEncoding(longHeader(number).toString("latin1")), "gzip");
    return heapBytes();
  };
  const before = understood(0, 1);
  const grownMebibytes = (understood(1, 300) - before) / 2 ** 20;
  assert.ok(grownMebibytes < 1, `${grownMebibytes} MiB`);
});

test("an Accept-Encoding header means the same however many others came before", () => {
  for (let number = 0; number < 1000; number++) {
    assert.equal(preferredEncoding(`x-${number}`), null);
    assert.equal(preferredEncoding("gzip, deflate, br"), "br");
    assert.equal(preferredEncoding("gzip;q=1, br;q=0"), "gzip");
  }
});

test("the service's order decides among encodings of equal q, up to 1,024 characters", () => {
  for (const [header, encoding] of [
    ["gzip, br", "br"],
    ["identity, gzip;q=1.0", "gzip"],
    ["gzip;q=0.5, *;q=0.5", "br"],
    ["br;q=0.5, gzip", "gzip"],
    [`${"x,".repeat(510)}gzip,br`, "gzip"],
    [`${"x,".repeat(511)}gzip,br`, null],
  ] as const)
    assert.equal(preferredEncoding(header), encoding, header.slice(-20));
});
