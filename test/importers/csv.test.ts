import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import fc from "fast-check";
import { type CsvRow, readRows } from "#importers/csv.ts";
import { csvEntries, faultOf, gpMapping, writtenFile } from "./written-file.ts";

test("a wrong delimiter is guessed at where the header has a single column", async (t) => {
  const fault = await faultOf(csvEntries(t, "Id;Name\n1;Acme\n", gpMapping()));
  assert.match(fault.message, /only one column; check "delimiter" in the mapping$/);
  const entries = await csvEntries(t, "Id;Name\n1;Acme, Inc.\n", gpMapping({}, { delimiter: ";" }));
  assert.deepEqual(entries[0]?.records, [{ record: "gp", id: "1", name: "Acme, Inc." }]);
});

test("a column whose name cannot be decoded is missing because of the encoding", async (t) => {
  const table = Buffer.from("Id,Name,Größe\n1,Acme,5\n", "latin1");
  const fault = await faultOf(csvEntries(t, table, gpMapping({ description: "Größe" })));
  assert.match(fault.message, /no column "Größe".*; a name in the header is not utf-8 .*1252/);
});

test("a row of another length than the header is rejected with its line and the others are read", async (t) => {
  const others = "but the header has 2; check its delimiters and quotes";
  const entries = await csvEntries(t, "Id,Name\n1,Acme\n2\n3,Birch,x\n4,Cedar\n", gpMapping());
  assert.deepEqual(
    entries.map((entry) => [entry.line, entry.records.length, entry.faults]),
    [
      [2, 1, []],
      [3, 0, [{ field: "row", reason: `has 1 cell, ${others}` }]],
      [4, 0, [{ field: "row", reason: `has 3 cells, ${others}` }]],
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
  const table =
    "Id,Name,Units,Stage,Permit,Removed,Sponsor\n1,A,many,WITHDRAWN,,x,Birch\n2,B,2,Built,2031,2032,Birch\n3,,,Withdrawn,2031,yes,??\n";
  const entries = await csvEntries(t, table, mapping);
  const named = (all: readonly { record: string; id: string }[] = []) =>
    all.map(({ record, id }) => `${record} ${id}`).join();
  assert.deepEqual(
    entries.map((entry) => [named(entry.records), named(entry.deleted), entry.namedGps.length]),
    [
      ["", "project 1", 0],
      ["project 2", "signal permit:2", 1],
      ["", "project 3,signal permit:3", 0],
    ],
  );
  for (const { faults } of entries) assert.deepEqual(faults, []);
});

test("every fault of a row is told at once, and a row with a fault gives nothing", async (t) => {
  const fields = { aum_usd: "AUM", founded_year: "Founded", website: "Web" };
  const table = "Id,Name,AUM,Founded,Web,Sponsor\n1,Acme,lots,1.5,none,Birch\n";
  const mapping = gpMapping(fields, { named_gps: { names: "Sponsor" } });
  const [entry] = await csvEntries(t, table, mapping);
  const faults = entry!.faults.map(({ field, reason }) => `${field} ${reason}`);
  assert.deepEqual(faults, [
    'aum_usd must be a number such as 1,234.50; column "AUM" holds "lots"',
    'founded_year must be a whole number; column "Founded" holds "1.5"',
    'website must be a web address such as https://www.example.com; column "Web" holds "none"',
  ]);
  assert.deepEqual([entry?.records, entry?.namedGps], [[], []]);
});

const rowsOf = (
  t: TestContext,
  content: string | Uint8Array,
  format: object = {},
): Promise<CsvRow[]> => Array.fromAsync(readRows(writtenFile(t, "table.csv", content), format));

const shown = (rows: readonly CsvRow[]) =>
  rows.map(({ line, cells, quoteFault }) => [line, cells, quoteFault !== ""]);

test("rows have the line of the file on which they begin, after blank lines, mixed line ends and cells of several lines", async (t) => {
  const rows = await rowsOf(t, '\uFEFF"a",b\r\n\r\n1,"x\r\ny\nz"\n\n\n2,w\r3,\r\n,\r\n4,v');
  assert.deepEqual(shown(rows), [
    [1, ["a", "b"], false],
    [3, ["1", "x\r\ny\nz"], false],
    [8, ["2", "w"], false],
    [9, ["3", ""], false],
    [11, ["4", "v"], false],
  ]);
  const found = rows.map((row) => row.ended);
  assert.deepEqual(found, [true, true, true, true, false]);
});

test("what is written by the rules is read back whole, wherever the pieces of the file fall", async (t) => {
  const cell = fc.oneof(
    fc.string({ unit: fc.constantFrom("a", " ", '"', ",", "\n", "\r", ";", "x") }),
    fc.string({ minLength: 1 }).map((text) => Buffer.from(text).toString("latin1")),
  );
  const table = fc.array(fc.tuple(cell, cell, cell), { minLength: 1 });
  const lineEnds = fc.constantFrom("\n", "\r\n", "\r");
  await fc.assert(
    fc.asyncProperty(table, lineEnds, fc.boolean(), async (rows, lineEnd, endsLast) => {
      const written = rows.map((cells) => ["k", ...cells]);
      const quote = (text: string) =>
        /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
      const text =
        written.map((cells) => cells.map(quote).join(",")).join(lineEnd) +
        (endsLast ? lineEnd : "");
      const found = await rowsOf(t, Buffer.from(text, "latin1"));
      assert.deepEqual(
        found.map(({ cells, quoteFault }) => [...cells, quoteFault]),
        written.map((cells) => [...cells, ""]),
      );
    }),
    { numRuns: 100 },
  );
});

test("a table of many chunks is read whole, with right line numbers", async (t) => {
  const cells = (at: number) => [`${at}`, `q"${at}\r\nnext`.repeat(at % 7), "é".repeat(at % 11)];
  const table = Array.from({ length: 20_000 }, (_, at) => cells(at));
  const text = table
    .map((row) => row.map((one) => `"${one.replaceAll('"', '""')}"`).join(","))
    .join("\r\n");
  const rows = await rowsOf(t, Buffer.from(text, "latin1"));
  const found = rows.map((row) => row.cells);
  assert.deepEqual(found, table);
  let line = 1;
  for (const [at, row] of rows.entries()) {
    assert.equal(row.line, line);
    line += 1 + (at % 7);
  }
});

test("a quote that is not doubled is told from one that is, and the rows after it are read", async (t) => {
  const table = '1,"say ""yes"""\n2,"say "no" x"\n3,5" pipe\n4,"""all"""\n5,"x" \n6,z\n';
  const rows = await rowsOf(t, table);
  const lines = rows.filter(({ quoteFault }) => quoteFault !== "").map(({ line }) => line);
  assert.deepEqual([rows.length, lines], [6, [2, 3, 5]]);
});

test("a row longer than 1 MiB refuses the whole file before memory does", async (t) => {
  const fault = await faultOf(rowsOf(t, `1,a\n2,"${"x\n".repeat(600_000)}`));
  assert.match(fault.message, /:2: .*longer than 1048576 bytes/);
});
