/** Word lists written as text. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { phrases, rows, trimmed, words } from "#demo/lists.ts";

test("words end at spaces and lines, phrases at bars and lines, rows at lines", () => {
  const text = `
    New York | Ash Hill
    Elm
  `;
  assert.deepEqual(words(" a  b\n c "), ["a", "b", "c"]);
  assert.deepEqual(phrases(text), ["New York", "Ash Hill", "Elm"]);
  assert.deepEqual(rows(text), [["New York", "Ash Hill"], ["Elm"]]);
});

test("a trimmed list is another list of the same values", () => {
  const list = ["a", "b"];
  assert.deepEqual(trimmed(list), list);
  assert.notEqual(trimmed(list), list);
});
