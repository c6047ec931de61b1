import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "csv-parse/sync";
import { type Cell, csvHeading, csvRow } from "#csv.ts";

/** Cells as one line of a table with as many columns. */
const lineOf = (...cells: readonly Cell[]) =>
  csvRow(
    cells.map((cell, i) => ({ name: `${i}`, of: () => cell })),
    null,
  );

test("what a spreadsheet would run is text in it, in a list and in a heading too", () => {
  const halfWidth = ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\r=1", '=HYPERLINK("x")'];
  for (const formula of [...halfWidth, "＝1+1", "＋1", "－1", "＠SUM(A1)"]) {
    assert.deepEqual(parse(lineOf(formula, "x")), [[`'${formula}`, "x"]]);
    assert.deepEqual(parse(lineOf([formula, "x"])), [[`'${formula}; x`]]);
    assert.deepEqual(parse(csvHeading([{ name: formula, of: () => 1 }])), [[`'${formula}`]]);
  }
});

test("every other cell is read as it was written", () => {
  const cells = [
    "a",
    'say "x", please',
    "two\nlines",
    "",
    "1=1",
    "'x",
    " =1",
    "ä…",
    "; ",
    "三＝1",
    "ー1",
  ];
  assert.deepEqual(parse(lineOf(...cells)), [cells]);
});

test("numbers stay numbers, negative ones too, and what is unknown is empty", () => {
  assert.equal(lineOf(1.5, 0, null, -3), "1.5,0,,-3");
});

test("the members of a list are joined, whatever stands in them", () => {
  assert.equal(lineOf(["a", "b c"], [], ["x"]), "a; b c,,x");
  assert.deepEqual(parse(lineOf(["Austin, TX", 'the "old" one'])), [['Austin, TX; the "old" one']]);
});
