import assert from "node:assert/strict";
import { test } from "node:test";
import { readExpiry } from "#dashboard/screens/keys.ts";
import { day, noon } from "../support/control.ts";

const expiry = (choice: string, lastDay = "") => readExpiry(choice, lastDay, noon);

test("a key ends after as many days as were chosen, or never", () => {
  assert.equal(expiry("30"), noon + 30 * day);
  assert.equal(expiry("90"), noon + 90 * day);
  assert.equal(expiry("365", "2026-12-01"), noon + 365 * day);
  assert.equal(expiry("never"), null);
});

test("a key with a last day works through it, also where that is today", () => {
  assert.equal(expiry("date", "2026-12-31"), Date.parse("2027-01-01T00:00:00Z"));
  assert.equal(expiry("date", "2026-11-21"), Date.parse("2026-11-22T00:00:00Z"));
  assert.equal(expiry("date", "2028-02-29"), Date.parse("2028-03-01T00:00:00Z"));
});

test("an unknown choice or a day that is over is refused, with what to do", () => {
  for (const choice of ["", "0", "31", "-90", "9e9", "Never", "constructor"])
    assert.throws(() => expiry(choice), { kind: "invalid", message: /when the key expires/ });
  for (const lastDay of ["", "tomorrow", "2026-02-30", "2026-13-01", "31.12.2026", "12026-01-01"])
    assert.throws(() => expiry("date", lastDay), { kind: "invalid", message: /last day/ }, lastDay);
  assert.throws(() => expiry("date", "2026-11-20"), { message: /2026-11-20 is over/ });
  assert.throws(() => expiry("date", "9999-12-31"), { message: /10 years/ });
});
