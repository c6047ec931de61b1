import assert from "node:assert/strict";
import { test } from "node:test";
import { type NumberKind, readNumber } from "#importers/compile-mapping.ts";
import { Unreadable } from "#importers/import-fault.ts";

type Options = Parameters<typeof readNumber>[2];

const point = { decimal: "." } as const;
const comma = { decimal: "," } as const;

const read: [text: string, kind: NumberKind, value: number, options?: Options][] = [
  ["12", "whole", 12],
  ["4.0", "whole", 4],
  ["1,234", "whole", 1234, point],
  ["1.234", "whole", 1234, comma],
  ["4,000", "whole", 4, comma],
  ["1,234,567", "whole", 1_234_567],
  ["1 000", "whole", 1000],
  ["1'234'567", "whole", 1_234_567],
  ["(123)", "whole", -123],
  ["-5", "whole", -5],
  ["(0)", "whole", 0],
  ["$5", "money", 5],
  ["$1,234.56", "money", 1235],
  ["US$ 1,234.49", "money", 1234],
  ["1 234 USD", "money", 1234],
  ["1.234,56 $", "money", 1235, comma],
  ["12.500", "money", 12_500, comma],
  ["1’234.50", "money", 1235],
  ["($2.50)", "money", -3],
  ["-$7", "money", -7],
  ["12.50", "money", 13],
  ["180237116700.0", "money", 180_237_116_700],
  ["12.5", "money", 13, { multiply_by: 1 }],
  ["1.1", "money", 1_100_000, { multiply_by: 1_000_000 }],
  ["12.500", "money", 12_500, { ...point, multiply_by: 1000 }],
  ["1,840", "money", 1_840_000, { ...point, multiply_by: 1000 }],
  ["-122.4001", "decimal", -122.4001],
  ["37.775", "decimal", 37.775],
  ["37,775", "decimal", 37.775, comma],
  ["37", "decimal", 37],
];
for (const [text, kind, value, options] of read)
  test(`${text} as ${kind} ${JSON.stringify(options ?? {})} is ${value}`, () => {
    assert.equal(readNumber(text, kind, options), value);
  });

const refused: [text: string, kind: NumberKind, reason: RegExp, options?: Options][] = [
  ["12.500", "money", /^could be 12\.500 or 12500; say "decimal": "\." or "decimal": "," in the/],
  ["1,200", "money", /^could be 1\.200 or 1200;/],
  ["($1,200)", "money", /^could be 1\.200 or 1200;/],
  ["1,234", "whole", /^could be/],
  ["1,840", "money", /^could be/, { multiply_by: 1000 }],
  ["12.5", "money", /^is neither whole dollars nor cents; say in multiply_by/],
  ["12.500", "money", /^is neither whole dollars nor cents/, point],
  ["12.50", "money", /must be a number such as 1\.234,50/, comma],
  ["1,234.56", "money", /must be a number such as 1\.234,50/, comma],
  ["1.234,56", "money", /must be a number such as 1,234\.50/, point],
  ["1.234.567", "money", /such as 1,234\.50/, point],
  ["37,775", "decimal", /is written with a decimal comma/],
  ["1,234.5", "decimal", /must be a number such as 37\.775/],
  ["0,125", "whole", /is written with a decimal comma/],
  ["1,23,456", "money", /must be a number/, point],
  ["1 234,567", "whole", /must be a whole number/, point],
  ["5%", "decimal", /must be a number/],
  ["€1,200.00", "money", /must be a number/],
  ["$5", "whole", /must be a whole number/],
  ["4.5", "whole", /must be a whole number/],
  ["1.80E+11", "money", /a spreadsheet has shortened/],
  ["1e6", "whole", /a spreadsheet has shortened/],
  ["1.234,56", "money", /is written with a decimal comma; .* "decimal": "," in the mapping/],
  ["12,34", "money", /is written with a decimal comma/],
  ["N/A", "money", /must be a number such as/],
  ["Indefinite", "money", /must be a number such as/],
  ["NaN", "decimal", /must be a number/],
  ["inf", "decimal", /must be a number/],
  ["0x10", "whole", /must be a whole number/],
  ["10 00", "whole", /must be a whole number/],
  ["", "whole", /must be a whole number/],
  ["--5", "whole", /must be a whole number/],
  ["(-5)", "whole", /must be a whole number/],
  ["$1.2M", "money", /must be a number such as/],
  ["9007199254740993", "money", /below 2\^53/],
];
for (const [text, kind, reason, options] of refused)
  test(`${JSON.stringify(text)} as ${kind} ${JSON.stringify(options ?? {})} is refused and not guessed`, () => {
    const found = readNumber(text, kind, options);
    assert.ok(found instanceof Unreadable);
    assert.match(found.reason, reason);
  });
