import assert from "node:assert/strict";
import { test } from "node:test";
import { csvHeading, csvRow, jsonRow } from "#csv.ts";
import { requestColumns } from "#usage/request-log.ts";
import { emptyTotals, totalsColumns } from "#usage/totals.ts";

test("columns have the same names in CSV and JSON", () => {
  const totals = { ...emptyTotals(), requests: 3, bytes: 12, milliseconds: 1.239, overQuota: 1 };
  assert.equal(
    csvHeading(totalsColumns),
    "requests,status_2xx,status_3xx,status_4xx,status_5xx,status_429,bytes,ms",
  );
  assert.equal(csvRow(totalsColumns, totals), "3,0,0,0,0,1,12,1.24");
  assert.deepEqual(
    Object.keys(jsonRow(totalsColumns, totals)),
    csvHeading(totalsColumns).split(","),
  );
  assert.equal(
    csvHeading(requestColumns),
    "at,request_id,key,operation,status,ms,bytes,dataset,problem,query",
  );
});

test("the id of a request that a client chose as a formula is text in the export", () => {
  const request = {
    at: "2026-11-21T12:00:00.000Z",
    account: 1,
    key: "key_a",
    operation: "fetch-gp",
    status: 200,
    milliseconds: 1,
    bytes: 2,
    dataset: null,
    problem: null,
    requestId: "-2.5",
    query: "=cmd|' /C calc'!A0",
  };
  assert.equal(
    csvRow(requestColumns, request),
    "2026-11-21T12:00:00.000Z,'-2.5,key_a,fetch-gp,200,1,2,,,'=cmd|' /C calc'!A0",
  );
});
