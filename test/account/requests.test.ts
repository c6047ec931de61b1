import assert from "node:assert/strict";
import { test } from "node:test";
import { requestsPage, type RequestsView } from "#account/screens/requests.ts";

const view: RequestsView = {
  frame: null,
  logDays: 14,
  typed: {},
  keys: [],
  operations: [],
  rows: [],
  olderHref: null,
  csvHref: "/account/requests.csv",
  csvRowsMax: 10_000,
};

test("a log that is switched off names the setting, and an empty one says what to do", () => {
  const off = requestsPage({ ...view, logDays: 0 });
  assert.match(off, /<h1>No log of requests<\/h1>.*<code>USAGE_LOG_DAYS<\/code> is 0/s);
  assert.doesNotMatch(off, /<form method="get"|requests\.csv/);
  assert.match(requestsPage(view), /No request yet\. Send one with/);
  assert.match(requestsPage({ ...view, typed: { id: "x" } }), /No request is like that/);
});

test("names of keys are cut between characters, and a problem that is no longer known is no link", () => {
  const row = {
    at: "2026-11-21T09:00:00.000Z",
    keyHref: "/account/keys/key_1",
    keyName: "😀".repeat(30),
    operation: "fetch-gp",
    status: 400,
    milliseconds: 1,
    bytes: 1,
    requestId: "req_1",
    dataset: null,
    problem: "gone-code",
    query: null,
  };
  const page = requestsPage({ ...view, rows: [row] });
  assert.ok(page.includes(`>${"😀".repeat(23)}…<`));
  assert.doesNotMatch(page, /errors\/gone-code/);
});
