import assert from "node:assert/strict";
import { test } from "node:test";
import * as letters from "#account/mail-templates.ts";

const to = "zoe@example.com";
const url = "https://records.example/account/link?token=abc";
const expiresAt = "2026-11-22T09:00:00.000Z";
const accountName = "Grüße & Söhne <b>";

const links = [
  letters.signUpLetter({ to, url, expiresAt }),
  letters.knownLetter({ to, url, expiresAt }),
  letters.invitationLetter({ to, url, expiresAt, accountName }),
  letters.invitationLetter({ to, url, expiresAt, accountName: null }),
  letters.resetLetter({ to, url, expiresAt }),
  letters.addressChangeLetter({ to, url, expiresAt }),
];
const words = [
  letters.addressTakenLetter({ to }),
  letters.addressChangedLetter({ to }),
  letters.passwordChangedLetter({ to, url }),
  letters.keyExpiresLetter({ to, url, expiresAt, accountName, keyName: "n", hint: "gpr_R7mQ" }),
  letters.quotaLetter({ to, url, accountName, used: 8001, quota: 10_000 }),
];

test("every link stands on a line of its own and says until when it works", () => {
  for (const { text } of links) {
    assert.ok(text.split("\n").includes(url), text);
    assert.match(text, /until 2026-11-22 09:00 UTC/);
  }
});

test("every letter is plain text to one person, with a subject of its own", () => {
  const all = [...links, ...words];
  assert.equal(new Set(all.map(({ subject }) => subject)).size, all.length);
  for (const letter of all) {
    assert.equal(letter.to, to);
    assert.match(letter.text, /^[^\r]+\n$/);
    assert.doesNotMatch(letter.text + letter.subject, /undefined|null|NaN/);
  }
});

test("what people named stands in a letter as it is", () => {
  assert.match(links[2]!.text, /the account "Grüße & Söhne <b>"/);
  assert.equal(words[4]!.subject, "Grüße & Söhne <b> has used 80 % of its day");
});
