import assert from "node:assert/strict";
import { test } from "node:test";
import { isSameOrigin } from "#dashboard/answer-request.ts";
import type { PageRequest } from "#dashboard/messages.ts";

const own = "https://records.example";
const isOurs = (headers: PageRequest["headers"]) => isSameOrigin({ headers }, own);

test("Sec-Fetch-Site decides where a form comes from", () => {
  assert.ok(isOurs({ "sec-fetch-site": "same-origin" }));
  for (const site of ["cross-site", "same-site", "none", ""])
    assert.ok(!isOurs({ "sec-fetch-site": site, origin: own }), site);
});

test("beside Sec-Fetch-Site, an Origin has to be our own or none", () => {
  const site = { "sec-fetch-site": "same-origin" };
  // Browsers send `null` for a form of a page without a referrer.
  for (const origin of [own, "null"]) assert.ok(isOurs({ ...site, origin }), origin);
  for (const origin of ["https://evil.example", "http://records.example", `${own}:444`, ""])
    assert.ok(!isOurs({ ...site, origin }), origin);
});

test("without Sec-Fetch-Site the Origin has to be exactly our own", () => {
  assert.ok(isOurs({ origin: own }));
  for (const origin of ["https://evil.example", "null", "http://records.example", `${own}:444`])
    assert.ok(!isOurs({ origin }), origin);
});

test("a form with neither header is not ours", () => {
  assert.ok(!isOurs({}));
});
