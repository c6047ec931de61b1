import assert from "node:assert/strict";
import { test } from "node:test";
import { connectionsMaxFor } from "#http/connections.ts";

test("connections leave files for everything else, whatever the limit", () => {
  assert.equal(connectionsMaxFor(1024), 921);
  assert.equal(connectionsMaxFor(256), 156);
  assert.equal(connectionsMaxFor(12_000), 10_800);
  assert.equal(connectionsMaxFor(50), 1);
});

test("there is a most, also where files are without limit or the limit is unknown", () => {
  assert.equal(connectionsMaxFor(1_048_576), 20_000);
  assert.equal(connectionsMaxFor(Number.POSITIVE_INFINITY), 20_000);
  assert.equal(connectionsMaxFor(null), 8000);
});
