import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { openRowWriter } from "#datasets/rows.ts";

test("every row is written once and in its order, whether or not it fills a batch", () => {
  for (const count of [0, 1, 31, 32, 33, 64, 100]) {
    const db = new DatabaseSync(":memory:");
    db.exec("create table pair (number integer, word text)");
    const rows = Array.from({ length: count }, (_, i) => ({ number: i, word: `w${i}` }));
    const writer = openRowWriter(db, "pair", 2);
    for (const { number, word } of rows) writer.add(number, word);
    writer.end();
    const written = db.prepare("select number, word from pair order by rowid").all();
    assert.deepEqual(
      written.map((row) => ({ ...row })),
      rows,
    );
    db.close();
  }
});
