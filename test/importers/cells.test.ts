import assert from "node:assert/strict";
import { test } from "node:test";
import { clean, cleanParagraphs, titleCase } from "#importers/cells.ts";

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

const titled: [text: string, title: string][] = [
  ["GREENWOOD VILLAGE", "Greenwood Village"],
  ["ST. LOUIS", "St. Louis"],
  ["WINSTON-SALEM", "Winston-Salem"],
  ["MARTHA'S VINEYARD", "Martha's Vineyard"],
  ["ÉVRY", "Évry"],
  ["McLean", "McLean"],
  ["La Jolla", "La Jolla"],
];
for (const [text, title] of titled)
  test(`title case makes ${title} of ${text}`, () => {
    assert.equal(titleCase(text), title);
  });
