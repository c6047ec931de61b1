import assert from "node:assert/strict";
import { test } from "node:test";
import { holds, packTexts } from "#search/packed-texts.ts";

test("a text holds a part wherever all of its bytes follow each other, and not where only their pieces occur", () => {
  const texts = ["abcd", "xxabcd", "abcxbcd", "ababcd", "abc", "dabc", "müller", ""];
  const packed = packTexts(texts);
  for (const part of ["abcd", "a", "d", "ül", "abab", "xabcd", "cdm"])
    for (const [index, text] of texts.entries())
      assert.equal(
        holds(packed, index, Buffer.from(part)),
        text.includes(part),
        `${part} in ${text}`,
      );
});
