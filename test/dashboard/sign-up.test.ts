import assert from "node:assert/strict";
import { invite, inviteToSignUp } from "#accounts/invitations.ts";
import { StoreFault } from "#store/store-fault.ts";
import { noon } from "../support/control.ts";
import { forEachStore as test } from "../support/for-each-store.ts";
import { openInsideWorker, tokenFor } from "../support/inside-worker.ts";
import { startMailServer } from "../support/mail-server.ts";
import { goodPassword } from "../support/people.ts";
import { startService } from "../support/service.ts";
import { openUser, testPassword } from "../support/user.ts";

const email = "ada@example.org";

test("somebody who signs up gets a link by mail, chooses a password and is signed in to an account of their own", async (t) => {
  const mail = await startMailServer(t);
  const service = await startService(t, {
    records: null,
    settings: { SIGN_UP: "open", SMTP_URL: mail.url, MAIL_FROM: "Records <records@example.org>" },
  });
  const ada = openUser(service);
  assert.equal((await ada.get("/account")).location, "/account/sign-in");
  const asked = await ada.submit("/account/sign-up", "/account/sign-up", { email });
  assert.equal(asked.status, 200);
  assert.match(asked.text, /We are mailing a message to .*ada@example\.org/);
  assert.doesNotMatch(asked.text, /token=/);
  const message = await mail.messageTo(email);
  assert.equal(message.headers["from"], "Records <records@example.org>");
  const [url = ""] = /^http\S+$/m.exec(message.text) ?? [];
  assert.ok(url.startsWith(`${service.url}/account/link?token=`), url);

  const path = url.slice(service.url.length);
  const weak = await ada.submit(path, "/account/link", {
    password: "password",
    account: "Ada Ltd",
  });
  assert.equal(weak.status, 400);
  assert.match(weak.text, /role="alert"/);
  assert.match(weak.text, /value="Ada Ltd"/);
  assert.doesNotMatch(weak.text, /value="password"/);
  const done = await ada.submit(path, "/account/link", {
    password: testPassword,
    account: "Ada Ltd",
  });
  assert.deepEqual([done.status, done.location], [303, "/browse/gps"]);
  assert.equal((await ada.get("/account")).location, "/account/keys");
  const settings = await ada.get("/account/settings");
  assert.match(settings.text, /The account Ada Ltd/);
  const replayed = await ada.post("/account/link", {
    token: url.slice(-43),
    password: "a password of somebody else",
  });
  assert.equal(replayed.status, 404);
  assert.match(replayed.text, /no longer works/);
  assert.match(replayed.text, /If you have chosen a password.*href="\/account\/sign-in"/s);
  for (const path of ["forgot", "sign-up"])
    assert.ok(replayed.text.includes(`href="/account/${path}"`), path);
  assert.doesNotMatch(service.log.join(), /token=|@example\.org/);
});

test("a link that is followed while the store is busy shows its form again, and reads nothing for it", async (t) => {
  const { control, messages, post } = await openInsideWorker(t);
  await post("/account/sign-up", { email });
  const busy = () => {
    throw new StoreFault("busy", "Another process writes.");
  };
  const write = async () => {
    Object.assign(control, { database: { selectFrom: busy } });
    busy();
  };
  Object.assign(control, { write });
  const fields = { token: tokenFor(messages, email), password: goodPassword, account: "Ada Ltd" };
  const { status, body } = await post("/account/link", fields);
  assert.equal(status, 503);
  assert.match(body, /role="alert">The service cannot read or write.*value="Ada Ltd"/s);
});

test("the form to sign in that a page shows to a stranger leads back to it, never to one that only takes forms, and has no note of what was done", async (t) => {
  const worker = await openInsideWorker(t);
  const { status, body } = await worker.get("/account/keys?done=deleted");
  assert.equal(status, 401);
  assert.match(body, /name="next" value="\/account\/keys"/);
  assert.doesNotMatch(body, /has been deleted/);
  const late = await worker.post("/account/sign-out-everywhere", {});
  assert.match(late.body, /name="next" value="\/browse\/gps"/);
});

test("if sign-up is closed or by invitation, nobody can sign up by themselves and the page says whom to ask", async (t) => {
  for (const [signUp, whom] of [
    ["closed", /Ask the operator of this service to invite you/],
    ["invite", /Ask an owner of an account or the operator of this service to invite you/],
  ] as const) {
    const worker = await openInsideWorker(t, { signUp });
    for (const answer of [
      await worker.get("/account/sign-up"),
      await worker.post("/account/sign-up", { email }),
    ]) {
      assert.equal(answer.status, 403);
      assert.match(answer.body, whom);
    }
    assert.deepEqual(worker.messages, []);
    assert.doesNotMatch((await worker.get("/account/sign-in")).body, /href="\/account\/sign-up"/);
    const { control } = worker;
    const made = await inviteToSignUp(control, { address: email, now: noon });
    const fields = { token: made.token, password: goodPassword };
    assert.equal((await worker.post("/account/link", fields)).status, 303);
  }
});

test("without a mail server the pages say who makes the link, and make none", async (t) => {
  const service = await startService(t, { records: null, settings: { SIGN_UP: "open" } });
  const user = openUser(service);
  const links = { "/account/sign-up": "sign up", "/account/forgot": "choose a new password" };
  for (const [path, link] of Object.entries(links))
    for (const page of [await user.get(path), await user.post(path, { email })]) {
      assert.equal(page.status, 403);
      assert.ok(page.text.includes(`sends no mail. Ask its operator for a link to ${link}.`));
    }
});

test("an operator's link to sign up asks for a password and a name; an invitation to an existing account asks a known person for neither", async (t) => {
  const worker = await openInsideWorker(t, { signUp: "closed" });
  const { control } = worker;
  const order = { role: "owner", actor: "operator", now: noon } as const;
  const own = await inviteToSignUp(control, { address: email, now: noon });
  const { body } = await worker.get(`/account/link?token=${own.token}`);
  assert.match(body, /name="password"/);
  assert.match(body, /name="account"/);
  const fields = { token: own.token, password: goodPassword, account: "Ada Ltd" };
  assert.equal((await worker.post("/account/link", fields)).status, 303);
  const other = await inviteToSignUp(control, { address: "bob@example.org", now: noon });
  await worker.post("/account/link", { ...fields, token: other.token, account: "Bob & Co <b>" });
  const bobs = await control.database
    .selectFrom("account")
    .select("number")
    .where("name", "=", "Bob & Co <b>")
    .executeTakeFirstOrThrow();
  const joining = await invite(control, { ...order, account: bobs.number, address: email });
  const page = await worker.get(`/account/link?token=${joining.token}`);
  assert.match(page.body, /Join Bob &amp; Co &lt;b&gt;/);
  assert.doesNotMatch(page.body, /type="password"/);
  const joined = await worker.post("/account/link", { token: joining.token });
  assert.deepEqual(
    joined.headers.filter(([name]) => name === "location" || name === "set-cookie"),
    [["location", "/account/sign-in?done=joined"]],
  );
});
