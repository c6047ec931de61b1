import assert from "node:assert/strict";
import { test } from "node:test";
import { type NumberKind, readNumber } from "#importers/compile-source.ts";
import { Unreadable } from "#importers/unreadable.ts";

const read: [text: string, kind: NumberKind, value: number, multiplyBy?: number][] = [
  ["12", "whole", 12],
  ["4.0", "whole", 4],
  ["1,234", "whole", 1234],
  ["(123)", "whole", -123],
  ["-5", "whole", -5],
  ["(0)", "whole", 0],
  ["$5", "money", 5],
  ["$1,234.56", "money", 1235],
  ["US$ 1,234.49", "money", 1234],
  ["($2.50)", "money", -3],
  ["-$7", "money", -7],
  ["180237116700.0", "money", 180_237_116_700],
  ["1.1", "money", 1_100_000, 1_000_000],
  ["1,840", "money", 1_840_000, 1000],
  ["-122.4001", "decimal", -122.4001],
  ["37", "decimal", 37],
];
for (const [text, kind, value, multiplyBy] of read)
  test(`${text} as ${kind}${multiplyBy === undefined ? "" : ` times ${multiplyBy}`} is ${value}`, () => {
    assert.equal(readNumber(text, kind, multiplyBy), value);
  });

const refused: [text: string, kind: NumberKind, reason: RegExp][] = [
  ["4.5", "whole", /must be a whole number/],
  ["1.80E+11", "money", /a spreadsheet has shortened/],
  ["1e6", "whole", /a spreadsheet has shortened/],
  ["1.234,56", "money", /must be a number such as/],
  ["12,34", "money", /must be a number such as/],
  ["N/A", "money", /must be a number such as/],
  ["Indefinite", "money", /must be a number such as/],
  ["NaN", "decimal", /must be a number/],
  ["inf", "decimal", /must be a number/],
  ["0x10", "whole", /must be a whole number/],
  ["1 000", "whole", /must be a whole number/],
  ["", "whole", /must be a whole number/],
  ["--5", "whole", /must be a whole number/],
  ["(-5)", "whole", /must be a whole number/],
  ["$1.2M", "money", /must be a number such as/],
  ["9007199254740993", "money", /below 2\^53/],
];
for (const [text, kind, reason] of refused)
  test(`${JSON.stringify(text)} as ${kind} is refused and not guessed`, () => {
    const found = readNumber(text, kind);
    assert.ok(found instanceof Unreadable);
    assert.match(found.reason, reason);
  });
