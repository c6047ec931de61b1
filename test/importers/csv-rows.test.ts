import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import fc from "fast-check";
import { type CsvRow, readRows } from "#importers/csv.ts";
import { faultOf, writtenFile } from "./written-file.ts";

const rowsOf = (
  t: TestContext,
  content: string | Uint8Array,
  format: object = {},
): Promise<CsvRow[]> =>
  Array.fromAsync(readRows(writtenFile(t, "table.csv", content), { records: [], ...format }));

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
  assert.deepEqual(
    rows.map((row) => row.ended),
    [true, true, true, true, false],
  );
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
  assert.deepEqual(
    rows.map((row) => row.cells),
    table,
  );
  let line = 1;
  for (const [at, row] of rows.entries()) {
    assert.equal(row.line, line);
    line += 1 + (at % 7);
  }
});

test("a quote that is not doubled is told from one that is, and the rows after it are read", async (t) => {
  const rows = await rowsOf(
    t,
    '1,"say ""yes"""\n2,"say "no" x"\n3,5" pipe\n4,"""all"""\n5,"x" \n6,z\n',
  );
  assert.deepEqual(
    rows.map((row) => [row.line, row.quoteFault !== ""]),
    [
      [1, false],
      [2, true],
      [3, true],
      [4, false],
      [5, true],
      [6, false],
    ],
  );
});

test("a row longer than 1 MiB refuses the whole file before memory does", async (t) => {
  const fault = await faultOf(rowsOf(t, `1,a\n2,"${"x\n".repeat(600_000)}`));
  assert.equal(fault.line, 2);
  assert.match(fault.reason, /longer than 1048576 bytes/);
});
