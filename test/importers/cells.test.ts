import assert from "node:assert/strict";
import { test } from "node:test";
import { clean, cleanParagraphs, titleCase } from "#importers/cells.ts";
import { readWebAddress } from "#importers/compile-mapping.ts";
import { type DateFormat, dateFormats, isoFormats, readDate } from "#importers/dates.ts";
import { Unreadable } from "#importers/import-fault.ts";
import type { NumberKind } from "#importers/mapping.ts";
import { readNumber } from "#importers/numbers.ts";

test("white space of every kind is tidied and nothing else is touched", () => {
  assert.equal(clean(" 24th\u00a0St\t \r\n Lofts "), "24th St Lofts");
  for (const text of ["=1+1", "+5", "-5", "@acme", "O'Brien & Söhne, L.P.", "A–B"])
    assert.equal(clean(text), text);
});

test("paragraphs keep their line breaks", () => {
  assert.equal(
    cleanParagraphs("  One  two.\r\n\r\n\r\n\r\nThree.\rFour. "),
    "One two.\n\nThree.\nFour.",
  );
});

/** Asserts that this value was read, or that the text was refused with these words. */
function assertRead(found: unknown, expected: string | number | RegExp): void {
  if (!(expected instanceof RegExp)) return assert.equal(found, expected);
  assert.ok(found instanceof Unreadable);
  assert.match(found.reason, expected);
}

const titled: [text: string, title: string][] = [
  ["GREENWOOD VILLAGE", "Greenwood Village"],
  ["ST. LOUIS", "St. Louis"],
  ["WINSTON-SALEM", "Winston-Salem"],
  ["MARTHA'S VINEYARD", "Martha's Vineyard"],
  ["ÉVRY", "Évry"],
  ["reno", "Reno"],
  ["MCLEAN", "McLean"],
  ["O'FALLON", "O'Fallon"],
  ["KING OF PRUSSIA", "King of Prussia"],
  ["McLean", "McLean"],
  ["La Jolla", "La Jolla"],
];
for (const [text, title] of titled)
  test(`title case makes ${title} of ${text}`, () => assert.equal(titleCase(text), title));

const dates: [text: string, formats: readonly DateFormat[], expected: string | RegExp][] = [
  ["2031-03-09", isoFormats, "2031-03-09"],
  ["2031-03", isoFormats, "2031-03"],
  ["2031", isoFormats, "2031"],
  ["20310309", ["YYYYMMDD"], "2031-03-09"],
  ["03/09/2031", ["MM/DD/YYYY"], "2031-03-09"],
  ["3/9/2031", ["MM/DD/YYYY"], "2031-03-09"],
  ["03/09/2031", ["DD/MM/YYYY"], "2031-09-03"],
  ["9/2012", ["MM/YYYY"], "2012-09"],
  ["22-JAN-2026", ["DD-MON-YYYY"], "2026-01-22"],
  ["1-Dec-2026", ["DD-MON-YYYY"], "2026-12-01"],
  ["9.3.2031", ["dmy"], "2031-03-09"],
  ["9/3/2031", ["mdy"], "2031-09-03"],
  ["2031.03.09", ["ymd"], "2031-03-09"],
  ["9 March 2031", ["dmy"], "2031-03-09"],
  ["Mar 9, 2031", ["mdy"], "2031-03-09"],
  ["09-MAR-2031", ["dmy"], "2031-03-09"],
  ["09.03.2031 04:20", ["dmy"], "2031-03-09"],
  ["9 Marches 2031", ["dmy"], /exists/],
  ["31.04.2031", ["dmy"], /exists/],
  ["9.3.31", ["dmy"], /must be a date written dmy/],
  ["9/3/2031", ["ymd"], /must be a date written ymd/],
  ["02/29/2032", ["MM/DD/YYYY"], "2032-02-29"],
  ["07/10/2026 04:20:33 PM", ["MM/DD/YYYY"], "2026-07-10"],
  ["2026-07-10T00:00:00.000", isoFormats, "2026-07-10"],
  ["2016", ["MM/DD/YYYY", "YYYY"], "2016"],
  ["2024-02-30", isoFormats, /exists/],
  ["02/29/2031", ["MM/DD/YYYY"], /exists/],
  ["2024-13-01", isoFormats, /exists/],
  ["13/01/2031", ["MM/DD/YYYY"], /exists/],
  ["2031-00", isoFormats, /exists/],
  ["22-XXX-2026", ["DD-MON-YYYY"], /exists/],
  ["0000-00-00", isoFormats, /in a year from 1600 to 2200/],
  ["9999", isoFormats, /in a year from 1600 to 2200/],
  ["12/31/99", ["MM/DD/YYYY"], /must be a date written MM\/DD\/YYYY/],
  ["22-JAN-26", ["DD-MON-YYYY"], /must be a date written/],
  ["03/09/2031", isoFormats, /must be a date written YYYY-MM-DD or YYYY-MM or YYYY/],
  ["soon", dateFormats, /must be a date written/],
];
for (const [text, formats, expected] of dates)
  test(`${text} as ${formats.join(" or ")} is ${expected}, as precise as it was and not guessed`, () =>
    assertRead(readDate(text, formats), expected));

type Options = Parameters<typeof readNumber>[2];

const point = { decimal: "." } as const;
const comma = { decimal: "," } as const;

const numbers: [text: string, kind: NumberKind, expected: number | RegExp, options?: Options][] = [
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
  ["-1234567890123.457", "money", -1_234_567_890_123_457, { multiply_by: 1000 }],
  ["120000000", "whole", 12, { multiply_by: 1e-7 }],
  ["0", "whole", 0, { multiply_by: 1e21 }],
  ["1,840", "money", 1_840_000, { ...point, multiply_by: 1000 }],
  ["-122.4001", "decimal", -122.4001],
  ["37.775", "decimal", 37.775],
  ["37,775", "decimal", 37.775, comma],
  ["37", "decimal", 37],
  ["12.500", "money", /^could be 12\.500 or 12500; set "decimal": "\." or "decimal": "," in the/],
  ["1,200", "money", /^could be 1\.200 or 1200;/],
  ["($1,200)", "money", /^could be 1\.200 or 1200;/],
  ["1,234", "whole", /^could be/],
  ["1,840", "money", /^could be/, { multiply_by: 1000 }],
  ["12.5", "money", /^is neither whole dollars nor cents; set multiply_by to/],
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
  ["1.2345", "whole", /is whole once multiplied by 1000 \(multiply_by\)$/, { multiply_by: 1000 }],
  ["1.80E+11", "money", /is in scientific notation/],
  ["1e6", "whole", /is in scientific notation/],
  ["1.234,56", "money", /is written with a decimal comma, .* "decimal": "," in the mapping/],
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
  ["9007199254740993", "money", /^must be between -9007199254740991 and 9007199254740991$/],
  ["-9007199254741", "money", / once multiplied by 1000 \(multiply_by\)$/, { multiply_by: 1000 }],
];
for (const [text, kind, expected, options] of numbers)
  test(`${JSON.stringify(text)} as ${kind} ${JSON.stringify(options ?? {})} is ${expected}, and not guessed`, () =>
    assertRead(readNumber(text, kind, options), expected));

const readAddresses: [text: string, address: string][] = [
  ["HTTP://WWW.ACME.EXAMPLE", "http://www.acme.example"],
  ["HTTPS://ACME.EXAMPLE/About?ID=A", "https://acme.example/About?ID=A"],
  ["https://acme.example/", "https://acme.example/"],
  ["www.acme.example", "http://www.acme.example"],
  ["acme.example/Team", "http://acme.example/Team"],
  ["http://bücher.example:8080", "http://bücher.example:8080"],
];
for (const [text, address] of readAddresses)
  test(`${text} is ${address}: capitals change only where they mean nothing`, () =>
    assert.equal(readWebAddress(text), address));

for (const text of [
  "NONE",
  "SEE BROCHURE",
  "ftp://acme.example",
  "javascript:alert(1)",
  "http://",
  "http://localhost",
  "jane@acme.example",
  "http://acme..example",
  "http://user:word@acme.example",
  "http://acme.example/a b",
])
  test(`${JSON.stringify(text)} is no web address`, () =>
    assertRead(readWebAddress(text), /^must be a web address/));
