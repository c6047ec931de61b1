import assert from "node:assert/strict";
import { test } from "node:test";
import { csvEntries, faultOf, gpMapping } from "./written-file.ts";

test("a wrong delimiter is guessed at where the header has a single column", async (t) => {
  const fault = await faultOf(csvEntries(t, "Id;Name\n1;Acme\n", gpMapping()));
  assert.match(fault.reason, /perhaps the mapping's delimiter is not the file's$/);
  const entries = await csvEntries(t, "Id;Name\n1;Acme, Inc.\n", gpMapping({}, { delimiter: ";" }));
  assert.deepEqual(entries[0]?.records, [{ record: "gp", id: "1", name: "Acme, Inc." }]);
});

test("a row of another length than the header is rejected with its line and the others are read", async (t) => {
  const entries = await csvEntries(t, "Id,Name\n1,Acme\n2\n3,Birch,x\n4,Cedar\n", gpMapping());
  assert.deepEqual(
    entries.map((entry) => [entry.line, entry.records.length, entry.faults]),
    [
      [2, 1, []],
      [3, 0, [{ field: "row", reason: "must have 2 cells as the header has, not 1" }]],
      [4, 0, [{ field: "row", reason: "must have 2 cells as the header has, not 3" }]],
      [5, 1, []],
    ],
  );
});

test("a row of empty cells is no row", async (t) => {
  const entries = await csvEntries(t, "Id,Name\n1,Acme\n,\n , \n", gpMapping());
  assert.equal(entries.length, 1);
});

test("a row whose column says so names the records to remove, and none of its other cells counts", async (t) => {
  const mapping = {
    records: [
      {
        record: "project",
        id: "Id",
        deleted: { column: "Stage", is: ["Withdrawn"] },
        fields: { name: "Name", units: "Units" },
      },
      {
        record: "signal",
        id: { template: "permit:{Id}" },
        when: "Permit",
        deleted: "Removed",
        fields: { title: "Name", date: "Permit" },
      },
    ],
    named_gps: { names: "Sponsor" },
  };
  const entries = await csvEntries(
    t,
    "Id,Name,Units,Stage,Permit,Removed,Sponsor\n1,A,many,WITHDRAWN,,x,Birch\n2,B,2,Built,2031,2032,Birch\n3,,,Withdrawn,2031,yes,\n",
    mapping,
  );
  assert.deepEqual(
    entries.map(({ records, deleted, namedGps, faults }) => [
      records.map(({ id }) => id),
      deleted,
      namedGps.length,
      faults,
    ]),
    [
      [[], [{ record: "project", id: "1" }], 0, []],
      [["2"], [{ record: "signal", id: "permit:2" }], 1, []],
      [
        [],
        [
          { record: "project", id: "3" },
          { record: "signal", id: "permit:3" },
        ],
        0,
        [],
      ],
    ],
  );
});

test("every fault of a row is told at once, and a row with a fault gives nothing", async (t) => {
  const mapping = gpMapping(
    { aum_usd: "AUM", founded_year: "Founded", website: "Web" },
    { named_gps: { names: "Sponsor" } },
  );
  const [entry] = await csvEntries(
    t,
    "Id,Name,AUM,Founded,Web,Sponsor\n1,Acme,lots,1.5,none,Birch\n",
    mapping,
  );
  assert.deepEqual(entry?.faults, [
    {
      field: "aum_usd",
      reason: 'must be a number such as 1,234.50; column "AUM" holds "lots"',
      isOfCell: true,
    },
    {
      field: "founded_year",
      reason: 'must be a whole number; column "Founded" holds "1.5"',
      isOfCell: true,
    },
    {
      field: "website",
      reason: 'must be a web address such as https://www.example.com; column "Web" holds "none"',
      isOfCell: true,
    },
  ]);
  assert.deepEqual([entry?.records, entry?.namedGps], [[], []]);
});
