import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import * as messages from "#dashboard/mail-templates.ts";
import { openMailer } from "#dashboard/mailer.ts";
import { startMailServer } from "../support/mail-server.ts";
import { freePort } from "../support/ports.ts";

const mailFrom = "Records <records@example.com>";
const hasty = { pausesMilliseconds: [1, 2], closeMilliseconds: 30_000 };
/** A mail server, a mailer that sends by it, and what that reported. */
async function openWithServer(t: TestContext, patience: Parameters<typeof openMailer>[2] = hasty) {
  const mail = await startMailServer(t);
  const errors: string[] = [];
  const report = (error: string) => void errors.push(error);
  const mailer = await openMailer({ smtpUrl: mail.url, mailFrom }, report, patience);
  return { mail, mailer, errors };
}

const link = `https://records.example/account/link?token=${"a=.b_-".repeat(7)}x`;
const message = {
  to: "zoë@example.com",
  subject: "Grüße",
  text: `Hello.\n\n.${link}\n\nBye — now.\n`,
};

test("a message arrives word for word, long links and other scripts included", async (t) => {
  const { mail, mailer, errors } = await openWithServer(t);
  mailer.send({ ...message, to: "zoe@example.com" });
  const { from, headers, text } = await mail.messageTo("zoe@example.com");
  assert.equal(from, "records@example.com");
  assert.equal(headers["from"], mailFrom);
  assert.equal(headers["to"], "zoe@example.com");
  assert.equal(headers["subject"], "=?UTF-8?Q?Gr=C3=BC=C3=9Fe?=");
  assert.equal(headers["auto-submitted"], "auto-generated");
  assert.equal(text.trimEnd(), message.text.trimEnd());
  await mailer.close();
  assert.deepEqual(errors, []);
});

test("messages are sent one after another, and a line break in a subject adds no header", async (t) => {
  const { mail, mailer, errors } = await openWithServer(t);
  for (const to of ["a@example.com", "b@example.com", "c@example.com"])
    mailer.send({ to, subject: "One\r\nBcc: d@example.com", text: "x" });
  await mailer.close();
  const addressees = mail.messages.map(({ to }) => to);
  assert.deepEqual(addressees, ["a@example.com", "b@example.com", "c@example.com"]);
  assert.equal(mail.messages[0]!.headers["bcc"], undefined);
  assert.deepEqual(errors, []);
});

test("a message refused temporarily is tried three times, then reported once without its address", async (t) => {
  const { mail, mailer, errors } = await openWithServer(t);
  mail.refusals.set("RCPT", "451 4.7.1 <zoe@example.com> come back later");
  mailer.send({ ...message, to: "zoe@example.com" });
  await mailer.close();
  assert.equal(mail.connections, 3);
  assert.equal(errors.length, 1);
  assert.match(errors[0]!, /127\.0\.0\.1:\d+ \(EENVELOPE 451\)/);
  assert.doesNotMatch(errors[0]!, /zoe|token|example/);
});

test("a message refused permanently is not tried again, and the next one is sent", async (t) => {
  const { mail, mailer, errors } = await openWithServer(t);
  mail.refusals.set("RCPT TO:<nobody", "550 5.1.1 no such user");
  mailer.send({ ...message, to: "nobody@example.com" });
  mailer.send({ ...message, to: "zoe@example.com" });
  await mail.messageTo("zoe@example.com");
  await mailer.close();
  assert.equal(mail.connections, 2);
  assert.equal(errors.length, 1);
});

test("a mail server that does not reply delays closing only briefly, and the message is reported", async (t) => {
  const { mail, mailer, errors } = await openWithServer(t, { ...hasty, closeMilliseconds: 10 });
  mail.refusals.set("EHLO", null);
  mailer.send(message);
  mailer.send(message);
  await mailer.close();
  assert.equal(errors.length, 2);
});

test("a mail server that is down is reported by its name, never with the password", async () => {
  const port = await freePort();
  const errors: string[] = [];
  const smtpUrl = `smtp://user:s3cret@127.0.0.1:${port}`;
  const mailer = await openMailer({ smtpUrl, mailFrom }, (one) => errors.push(one), hasty);
  mailer.send(message);
  await mailer.close();
  assert.match(errors.join(), new RegExp(`127\\.0\\.0\\.1:${port} \\(ESOCKET ECONNREFUSED\\)`));
  assert.doesNotMatch(errors.join(), /s3cret/);
});

test("without a mail server the mailer is off and silently drops messages", async () => {
  const mailer = await openMailer({ smtpUrl: null, mailFrom }, assert.fail);
  mailer.send(message);
  await mailer.close();
  assert.equal(mailer.isOff, true);
});

const to = "zoe@example.com";
const url = "https://records.example/account/link?token=abc";
const expiresAt = "2026-11-22T09:00:00.000Z";
const accountName = "Grüße & Söhne <b>";

const links = [
  messages.linkMail("signUp", { to, url, expiresAt }),
  messages.linkMail("known", { to, url, expiresAt }),
  messages.invitationMail({ to, url, expiresAt }, accountName),
  messages.linkMail("reset", { to, url, expiresAt }),
  messages.linkMail("addressChange", { to, url, expiresAt }),
];
const words = [
  messages.addressTakenMail(to),
  messages.addressChangedMail(to),
  messages.passwordChangedMail(to, url),
  messages.keyExpiresMail({ to, url, accountName }, { name: "n", hint: "gpr_R7mQ", expiresAt }),
  messages.quotaMail({ to, url, accountName }, { used: 8001, quota: 10_000 }),
];

test("every message is plain text to one person, with a subject of its own and names unchanged; a link has a line of its own and its end", () => {
  const all = [...links, ...words];
  assert.equal(new Set(all.map(({ subject }) => subject)).size, all.length);
  for (const message of all) {
    assert.equal(message.to, to);
    assert.match(message.text, /^[^\r]+\n$/);
    assert.doesNotMatch(message.text + message.subject, /undefined|null|NaN/);
  }
  for (const { text } of links) {
    assert.ok(text.split("\n").includes(url), text);
    assert.match(text, /until 2026-11-22 09:00 UTC/);
  }
  assert.match(links[2]!.text, /the account "Grüße & Söhne <b>"/);
  assert.equal(words[4]!.subject, "Grüße & Söhne <b> has used 80% of its daily quota");
});
