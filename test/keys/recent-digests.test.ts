import assert from "node:assert/strict";
import { test } from "node:test";
import { openRecentDigests } from "#keys/key-verifier.ts";

test("no key is remembered for longer than a second, and a thousand of them at most", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const recent = openRecentDigests();
  for (let i = 0; i < 1500; i++) recent.add(`key ${i}`, `digest ${i}`);
  assert.equal(recent.find("key 0"), "digest 0");
  assert.equal(recent.find("key 999"), "digest 999");
  assert.equal(recent.find("key 1000"), undefined);
  t.mock.timers.tick(999);
  assert.equal(recent.find("key 0"), "digest 0");
  t.mock.timers.tick(1);
  assert.equal(recent.find("key 0"), undefined);
  recent.add("key 0", "digest 0");
  t.mock.timers.tick(1000);
  assert.equal(recent.find("key 0"), undefined);
});
