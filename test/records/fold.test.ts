import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { fold } from "#records/fold.ts";
import { fold as referenceFold } from "../support/reference.ts";

test("the examples of the rule fold as it says", () => {
  const examples: Record<string, string> = {
    "Société Générale": "societe generale",
    "J.P. Morgan & Co.": "jp morgan co",
    ＫＫＲ: "kkr",
    "O'Brien’s ‘Ranch’ʼ": "obriens ranch",
    "Straße Ærø Œuvre Łódź Þór Đà ılık Ħamrun": "strasse aero oeuvre lodz thor da ilik hamrun",
    ΟΔΟΣ: "οδοσ",
    "A  --  B_C": "a b c",
    "%%": "",
  };
  for (const [text, folded] of Object.entries(examples)) assert.equal(fold(text), folded, text);
});

test("folding twice changes nothing, for every character there is", () => {
  for (let start = 0; start < 0x110000; start += 256) {
    const letters = Array.from({ length: 256 }, (_, i) => start + i)
      .filter((codePoint) => codePoint < 0xd800 || codePoint > 0xdfff)
      .map((codePoint) => String.fromCodePoint(codePoint));
    const folded = fold(letters.join(" a"));
    assert.equal(fold(folded), folded, start.toString(16));
  }
});

test("the fold agrees with the plain reference on any text", () => {
  const agrees = (text: string) => assert.equal(fold(text), referenceFold(text));
  fc.assert(fc.property(fc.string({ unit: "binary" }), agrees), { numRuns: 2000 });
  fc.assert(fc.property(fc.string({ unit: "binary-ascii" }), agrees), { numRuns: 2000 });
});
