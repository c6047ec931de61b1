import assert from "node:assert/strict";
import { test } from "node:test";
import type { Encoding } from "#importers/encoding.ts";
import { csvEntries, faultOf, gpMapping } from "./written-file.ts";

test("columns are found by name: order, further columns and spaces in the header do not matter", async (t) => {
  const entries = await csvEntries(t, "Extra,  Name ,Extra,Id\nx,Acme,y,1\n", gpMapping());
  assert.deepEqual(entries[0]?.records, [{ record: "gp", id: "1", name: "Acme" }]);
  assert.equal(entries[0]?.line, 2);
});

test("a renamed column refuses the file before any row, with the nearest names there are", async (t) => {
  const fault = await faultOf(
    csvEntries(t, "Id,Firm Name,City\n1,Acme,Reno\n", gpMapping({ hq_state: "State" })),
  );
  assert.equal(fault.line, 1);
  assert.equal(
    fault.reason,
    'the column "Name" is missing; the nearest are "Firm Name"; the column "State" is missing',
  );
});

test("a column that stands in the header twice refuses the file if the mapping uses it", async (t) => {
  const fault = await faultOf(csvEntries(t, "Id,Name,Name\n1,Acme,Acme\n", gpMapping()));
  assert.equal(fault.reason, 'the column "Name" stands in the header 2 times, at 2 and 3');
});

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

test("a file that is cut off in its last row is refused as a whole", async (t) => {
  const fault = await faultOf(csvEntries(t, "Id,Name,City\n1,Acme,Reno\n2,Bir", gpMapping()));
  assert.equal(fault.line, 3);
  assert.match(fault.reason, /the file is cut off$/);
});

test("a file without a row, or without even a header, is refused unless it may be empty", async (t) => {
  for (const content of ["Id,Name\n", "Id,Name", "", "\n\n", "\uFEFF"]) {
    const fault = await faultOf(csvEntries(t, content, gpMapping()));
    assert.match(fault.message, /table\.csv: holds no record; .* --allow-empty$/);
    assert.deepEqual(await csvEntries(t, content, gpMapping(), { allowsEmpty: true }), []);
  }
});

test("a row of empty cells is no row", async (t) => {
  const entries = await csvEntries(t, "Id,Name\n1,Acme\n,\n , \n", gpMapping());
  assert.equal(entries.length, 1);
});

test("a byte that is not UTF-8 rejects its row with column and byte, and is read if the encoding is said", async (t) => {
  const bytes = Buffer.from(
    "Id,Name,City\n1,Caf\xe9 \x93Roy\x94,Reno\n2,Birch,Orl\xe9ans\n",
    "latin1",
  );
  const [cafe, birch] = await csvEntries(t, bytes, gpMapping());
  assert.deepEqual(cafe?.records, []);
  assert.equal(cafe?.faults[0]?.field, "Name");
  assert.match(cafe?.faults[0]?.reason ?? "", /^is not UTF-8 at byte 4 \(0xE9\)/);
  assert.equal(birch?.faults.length, 0, "a column that is not used cannot be at fault");

  const [read] = await csvEntries(t, bytes, gpMapping({}, { encoding: "windows-1252" }));
  assert.deepEqual(read?.records, [{ record: "gp", id: "1", name: "Café “Roy”" }]);
});

test("a byte that no letter of a single-byte encoding has is rejected", async (t) => {
  const quotes = Buffer.from("Id,Name\n1,\x93Roy\x94\n2,Caf\xe9\n", "latin1");
  const [roy, cafe] = await csvEntries(t, quotes, gpMapping({}, { encoding: "iso-8859-1" }));
  assert.deepEqual(roy?.faults, [
    { field: "Name", reason: "holds no character of iso-8859-1 at byte 1 (0x93)" },
  ]);
  assert.deepEqual(cafe?.records, [{ record: "gp", id: "2", name: "Café" }]);
  const [unused] = await csvEntries(
    t,
    Buffer.from("Id,Name\n1,\x81\n", "latin1"),
    gpMapping({}, { encoding: "windows-1252" }),
  );
  assert.match(unused?.faults[0]?.reason ?? "", /^holds no character of windows-1252/);
});

test("an encoding that is said counts before that of the mapping", async (t) => {
  const bytes = Buffer.from("Id,Name\n1,Café\n");
  const asWritten = gpMapping({}, { encoding: "windows-1252" });
  const nameOf = async (encoding?: Encoding) =>
    (await csvEntries(t, bytes, asWritten, { encoding }))[0]?.records[0];
  assert.deepEqual(await nameOf(), { record: "gp", id: "1", name: "CafÃ©" });
  assert.deepEqual(await nameOf("utf-8"), { record: "gp", id: "1", name: "Café" });
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
