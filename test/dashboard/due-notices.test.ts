import assert from "node:assert/strict";
import { test } from "node:test";
import { dueNotice, isQuotaNear } from "#dashboard/watch-notices.ts";
import type { ListedKey } from "#keys/keys.ts";
import { day, noon } from "../support/control.ts";

const at = (time: number) => new Date(time).toISOString();
const expiring = (days: number, more: Partial<ListedKey> = {}) =>
  ({
    createdAt: at(noon - 60 * day),
    expiresAt: at(noon + days * day),
    revokedAt: null,
    replacedBy: null,
    ...more,
  }) as ListedKey;
const dueDays = (key: ListedKey) => dueNotice(key, noon)?.days ?? null;

test("a key causes a notice in its last 14 days, and another in its last 3", () => {
  const found = [15, 14.001, 14, 9, 3.001, 3, 0.5].map((days) => dueDays(expiring(days)));
  assert.deepEqual(found, [null, null, 14, 14, 14, 3, 3]);
});

test("nothing is due for a key that has ended, that was rotated, or that never ends", () => {
  assert.equal(dueDays(expiring(0)), null);
  assert.equal(dueDays(expiring(-1)), null);
  assert.equal(dueDays(expiring(2, { revokedAt: at(noon) })), null);
  assert.equal(dueDays(expiring(2, { replacedBy: "key_other" })), null);
  assert.equal(dueDays(expiring(2, { expiresAt: null })), null);
});

test("a key that was made for a few days is not announced as soon as it is made", () => {
  assert.equal(dueDays(expiring(10, { createdAt: at(noon) })), null);
  assert.equal(dueDays(expiring(3, { createdAt: at(noon - 7 * day) })), 3);
  assert.equal(dueDays(expiring(2, { createdAt: at(noon - day) })), null);
});

test("a quota counts as nearly used up from 80 % on", () => {
  const near = [0, 79, 80, 100].map((used) => isQuotaNear({ used, quota: 100 }));
  assert.deepEqual(near, [false, false, true, true]);
});
