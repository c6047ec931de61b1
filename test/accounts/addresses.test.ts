import assert from "node:assert/strict";
import { test } from "node:test";
import { foldAddress, readAddress } from "#accounts/people.ts";
import { faultOf } from "../support/people.ts";

test("an address is kept as it was written, and is the same in any letter case and Unicode form", () => {
  assert.deepEqual(readAddress("  Ada.Lovelace@Example.COM "), {
    email: "Ada.Lovelace@Example.COM",
    folded: "ada.lovelace@example.com",
  });
  const composed = readAddress("José@Bücher.example");
  assert.deepEqual(readAddress("JOSE\u0301@xn--bcher-kva.example").folded, composed.folded);
});

test("what is no address is refused with what one looks like", () => {
  for (const text of [
    "",
    "ada",
    "@example.com",
    "ada@",
    "ada@localhost",
    "ada@example",
    "ada@127.0.0.1",
    "ada@[127.0.0.1]",
    "ada lovelace@example.com",
    "ada@example.com/path",
    "ada@exa%6dple.com",
    "ada@example..com",
    "ada@-example.com",
    ".ada@example.com",
    "ada..l@example.com",
    "ada@example.com\r\nBcc: all@example.com",
    "Ada <ada@example.com>",
    '"ada"@example.com',
    `${"a".repeat(65)}@example.com`,
  ])
    assert.throws(() => readAddress(text), faultOf("invalid", /name@company\.example/), text);
  assert.throws(
    () => readAddress(`ada@${"a".repeat(60)}.${"b.".repeat(100)}example`),
    faultOf("invalid", /at most 254 bytes/),
  );
});

test("any text can be folded, so that a wrong address is looked up like a right one", () => {
  assert.equal(foldAddress(" ADA@Example.com"), "ada@example.com");
  for (const text of ["", "@", "\u0000", "a@b@C", "a@%zz"])
    assert.equal(foldAddress(text), text.toLowerCase());
});
