import assert from "node:assert/strict";
import { test } from "node:test";
import * as messages from "#dashboard/mail-templates.ts";

const to = "zoe@example.com";
const url = "https://records.example/account/link?token=abc";
const expiresAt = "2026-11-22T09:00:00.000Z";
const accountName = "Grüße & Söhne <b>";

const links = [
  messages.signUpMail({ to, url, expiresAt }),
  messages.knownMail({ to, url, expiresAt }),
  messages.invitationMail({ to, url, expiresAt, accountName }),
  messages.invitationMail({ to, url, expiresAt, accountName: null }),
  messages.resetMail({ to, url, expiresAt }),
  messages.addressChangeMail({ to, url, expiresAt }),
];
const words = [
  messages.addressTakenMail({ to }),
  messages.addressChangedMail({ to }),
  messages.passwordChangedMail({ to, url }),
  messages.keyExpiresMail({ to, url, expiresAt, accountName, keyName: "n", hint: "gpr_R7mQ" }),
  messages.quotaMail({ to, url, accountName, used: 8001, quota: 10_000 }),
];

test("every link is on a line of its own, with the time until which it works", () => {
  for (const { text } of links) {
    assert.ok(text.split("\n").includes(url), text);
    assert.match(text, /until 2026-11-22 09:00 UTC/);
  }
});

test("every message is plain text to one person, with a subject of its own", () => {
  const all = [...links, ...words];
  assert.equal(new Set(all.map(({ subject }) => subject)).size, all.length);
  for (const message of all) {
    assert.equal(message.to, to);
    assert.match(message.text, /^[^\r]+\n$/);
    assert.doesNotMatch(message.text + message.subject, /undefined|null|NaN/);
  }
});

test("names that people chose appear in a message unchanged", () => {
  assert.match(links[2]!.text, /the account "Grüße & Söhne <b>"/);
  assert.equal(words[4]!.subject, "Grüße & Söhne <b> has used 80 % of its day");
});
