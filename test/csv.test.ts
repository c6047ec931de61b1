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
  const halfWidth = ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", '=HYPERLINK("x")'];
  const fullWidth = ["＝1+1", "＋1", "－1", "＠SUM(A1)"];
  const alike = ["﹦1", "⁼1", "₌1", "﹢1", "⁺1", "﹣1", "⁻1", "−1", "﹫SUM(A1)"];
  const behindSpaces = ["  =1", "\u00a0=1", "\u202f\u3000+1", " \t1", "\v\f-1", "\ufeff@x"];
  for (const formula of [...halfWidth, ...fullWidth, ...alike, ...behindSpaces]) {
    assert.deepEqual(parse(lineOf(formula, "x")), [[`'${formula}`, "x"]]);
    assert.deepEqual(parse(lineOf([formula, "x"])), [[`'${formula}; x`]]);
    assert.deepEqual(parse(csvHeading([{ name: formula, of: () => 1 }])), [[`'${formula}`]]);
  }
});

test("a formula behind a semicolon, a tab or a line end is text, too, for programs that cut there", () => {
  for (const [text, harmless] of [
    ["Acme;=1+1", "'Acme;'=1+1"],
    ["Acme;\u00a0 =1+1;x", "'Acme;\u00a0 '=1+1;x"],
    ["a\t=1\t-2", "'a\t'=1\t'-2"],
    ["two\n\n=1", "'two\n\n'=1"],
    ["two\r\n- one", "'two\r\n'- one"],
    ['a;"=1";x', `'a;"'=1";x`],
    ["a;⁼1", "'a;'⁼1"],
    ["=1;=2", "'=1;'=2"],
  ] as const)
    assert.deepEqual(parse(lineOf(text)), [[harmless]]);
  assert.deepEqual(parse(lineOf(["x", "=1+1"])), [["'x; '=1+1"]]);
});

test("every other cell is read as it was written", () => {
  const cells = [
    "a",
    'say "x", please',
    "two\nlines",
    "",
    "1=1",
    "'x",
    "a; 1=1",
    "a ; x-1",
    "ab-c\t1",
    "ä…",
    "; ",
    "三＝1",
    "ー1",
  ];
  assert.deepEqual(parse(lineOf(...cells)), [cells]);
});

test("numbers stay numbers, negative ones too, and what is unknown is empty", () => {
  assert.equal(lineOf(1.5, 0, null, -3), "1.5,0,,-3\r\n");
});

test("the members of a list are joined, whatever stands in them", () => {
  assert.equal(lineOf(["a", "b c"], [], ["x"]), "a; b c,,x\r\n");
  assert.deepEqual(parse(lineOf(["Austin, TX", 'the "old" one'])), [['Austin, TX; the "old" one']]);
});
