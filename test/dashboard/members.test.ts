import assert from "node:assert/strict";
import { test as onFile } from "node:test";
import { accountField } from "#dashboard/components/page.ts";
import { uploadPath } from "#dashboard/messages.ts";
import { routes } from "#dashboard/screens/index.ts";
import { StoreFault } from "#store/store-fault.ts";
import { day, noon } from "../support/control.ts";
import { forEachStore as test } from "../support/for-each-store.ts";
import { cookiesOf, openInsideWorker } from "../support/inside-worker.ts";
import { startMailServer } from "../support/mail-server.ts";
import { goodPassword } from "../support/people.ts";
import { openPages } from "../support/record-pages.ts";
import { startService } from "../support/service.ts";
import { hiddenFields, openUser, signedIn, testPassword, type TestUser } from "../support/user.ts";

test("members of an account", async (t) => {
  const mail = await startMailServer(t);
  const settings = { SMTP_URL: mail.url, SIGN_UP: "invite" };
  const service = await startService(t, { records: null, settings });
  const ada = await signedIn(service, { email: "ada@example.org", accountName: "Ada Ltd" });
  const invited = async (email: string, role: string) => {
    const path = "/account/members";
    const { location } = await ada.submit(path, `${path}/invite`, { email, role });
    assert.equal(location, "/account/members?done=invited");
    return mail.linkTo(email);
  };
  const idOf = async (user: TestUser, email: string) => {
    const { text } = await user.get("/account/members");
    const row = text.slice(text.indexOf(`<span class="name">${email}`));
    return /name="person" value="(pe_\w+)"/.exec(row)?.[1] ?? assert.fail(text);
  };
  const bob = openUser(service);

  await t.test("an owner invites somebody, who chooses a password and joins", async () => {
    const link = await invited("bob@example.org", "member");
    assert.match((await ada.get("/account/members")).text, /Open invitations/);
    assert.match((await bob.get(link)).text, /Join Ada Ltd/);
    const joined = await bob.submit(link, "/account/link", { password: testPassword });
    assert.equal(joined.location, "/browse/gps");
    const { text } = await bob.get("/account/members");
    assert.match(text, /2 members/);
    assert.match(text, /Owners invite and remove members/);
  });

  await t.test("a member changes nothing about the members and the account", async () => {
    const person = await idOf(ada, "ada@example.org");
    for (const [path, fields] of [
      ["/account/members/invite", { email: "x@example.org", role: "owner" }],
      ["/account/members/role", { person, role: "member" }],
      ["/account/members/remove", { person }],
      ["/account/members/withdraw", { invitation: "li_x" }],
      ["/account/settings/name", { name: "Bob Ltd" }],
      ["/account/settings/close", { password: testPassword }],
    ] as const)
      assert.equal((await bob.post(path, fields)).status, 403, path);
    assert.equal((await bob.get("/account/settings/close")).status, 403);
    assert.match((await ada.get("/account/settings")).text, /The account Ada Ltd/);
  });

  await t.test("a withdrawn invitation does nothing, and no member is invited twice", async () => {
    const link = await invited("eve@example.org", "owner");
    const withdrawn = await ada.submit("/account/members", "/account/members/withdraw");
    assert.equal(withdrawn.location, "/account/members?done=withdrawn");
    assert.equal((await openUser(service).get(link)).status, 404);
    const fields = { email: "BOB@example.org", role: "member" };
    const again = await ada.submit("/account/members", "/account/members/invite", fields);
    assert.equal(again.status, 409);
    assert.match(again.text, /bob@example\.org is already a member of the account/);
  });

  await t.test("a known person joins by a button, and switches between accounts", async () => {
    const zoe = await signedIn(service, { email: "zoe@example.org", accountName: "Zoe Ltd" });
    const link = await invited("zoe@example.org", "member");
    const joined = await zoe.submit(link, "/account/link");
    assert.equal(joined.location, "/browse/gps");
    const { text } = await zoe.get("/account/settings");
    assert.match(text, /The account Ada Ltd/);
    const [, home = ""] = /<option value="(ac_\w+)"[^>]*>\s*Zoe Ltd/.exec(text) ?? [];
    const leave = "/account/settings/leave";
    const ofAda = hiddenFields((await zoe.get(leave)).text, leave);
    await zoe.post("/account/switch", { account: home });
    assert.match((await zoe.get("/account/settings")).text, /The account Zoe Ltd/);
    assert.equal(
      (await zoe.post("/account/switch", { account: "ac_0000000000000000" })).status,
      404,
    );
    const left = await zoe.submit(leave, leave, { password: testPassword });
    assert.equal(left.status, 409);
    assert.match(left.text, /only owner/);
    // As if sent from the page of Ada Ltd in another tab.
    const confirmed = { ...ofAda, password: testPassword };
    for (const { path, access, POST } of routes) {
      if (POST === undefined || ["anyone", "person"].includes(access) || path === uploadPath)
        continue;
      const to = path.replace("{id}", "key_x");
      const { status, text } = await zoe.post(to, confirmed);
      assert.equal(status, 409, path);
      assert.match(text, /made for Ada Ltd, but this browser now shows Zoe Ltd\./);
    }
    await zoe.post("/account/switch", { account: ofAda[accountField]! });
    const { location } = await zoe.post(leave, confirmed);
    assert.equal(location, "/account/settings?done=left");
  });

  await t.test("every form names the account of its page", async () => {
    for (const page of ["keys", "members", "settings", "sessions", "feeds"]) {
      const { text } = await ada.get(`/account/${page}`);
      const forms = text.match(/<form\b[^>]*>/g)!.filter((one) => one.includes("post"));
      const marks = text.match(/<form\b[^>]*><input type="hidden" name="page-account" value="ac_/g);
      assert.equal(marks?.length, forms.length, page);
    }
  });

  await t.test("an account keeps an owner, whoever is demoted", async () => {
    const [own, bobs] = [await idOf(ada, "ada@example.org"), await idOf(ada, "bob@example.org")];
    const setRole = (person: string, role: string) =>
      ada.post("/account/members/role", { person, role });
    assert.equal((await setRole(own, "member")).status, 409);
    for (const role of ["owner", "member"]) {
      assert.equal((await setRole(bobs, role)).location, "/account/members?done=role");
      const isOwner = (await bob.get("/account/settings/close")).status === 200;
      assert.equal(isOwner, role === "owner");
    }
  });

  await t.test("a removed member sees nothing of the account from then on", async () => {
    const person = await idOf(ada, "bob@example.org");
    assert.match(
      (await ada.get("/account/members")).text,
      /no longer sees the account's keys or usage/,
    );
    const remove = () => ada.post("/account/members/remove", { person });
    const { location } = await remove();
    assert.equal(location, "/account/members?done=removed");
    const { status, text } = await bob.get("/account/keys");
    assert.equal(status, 403);
    assert.match(text, /You are not a member of any account/);
    assert.equal((await remove()).status, 404);
  });
});

test("an account sends fifty invitations a day and no more", async (t) => {
  const worker = await openInsideWorker(t);
  const email = "ada@example.org";
  const cookie = cookiesOf(await worker.signUp(email));
  const invite = "/account/members/invite";
  const { body } = await worker.get("/account/members", { headers: { cookie } });
  const own = hiddenFields(body.toString(), invite);
  const inviting = async (i: number, cookie: string, now = noon) => {
    const fields = { ...own, email: `person${i}@example.org`, role: "member" };
    return (await worker.post(invite, fields, { headers: { cookie }, now })).status;
  };
  const atOnce = await Promise.all(Array.from({ length: 60 }, (_, i) => inviting(i, cookie)));
  assert.equal(atOnce.filter((status) => status === 303).length, 50);
  assert.equal(await inviting(60, cookie), 429);
  assert.equal(worker.messages.length, 51);
  const fields = { email, password: goodPassword };
  const now = noon + day + 1;
  const later = cookiesOf(await worker.post("/account/sign-in", fields, { now }));
  assert.equal(await inviting(51, later, now), 303);
});

test("if sign-up is closed owners cannot invite, and without mail they are told who makes the link", async (t) => {
  for (const [settings, words] of [
    [{ SIGN_UP: "closed" }, /Owners cannot invite anybody here/],
    [{ SIGN_UP: "invite" }, /This service sends no mail/],
  ] as const) {
    const { user: ada } = await openPages(t, { records: null, settings });
    for (const page of [
      await ada.get("/account/members"),
      await ada.post("/account/members/invite", { email: "bob@example.org", role: "member" }),
    ])
      assert.match(page.text, words);
    assert.doesNotMatch((await ada.get("/account/members")).text, /members\/invite/);
  }
});

const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

test("a person sees the browsers they are signed in with, ends one of them or all, and never somebody else's", async (t) => {
  const { service, user: ada } = await openPages(t, { records: null });
  const bob = await signedIn(service, { email: "bob@example.org" });
  const other = openUser(service);
  const fields = { email: "ada@example.org", password: testPassword };
  await other.post("/account/sign-in", fields, { "user-agent": firefox });

  const { text } = await ada.get("/account/sessions");
  // The third is the one that was signed in by signing up.
  assert.match(text, /You are signed in with 3 browsers/);
  assert.match(text, /127\.0\.0\.1/);
  const [, id = ""] = /Firefox on Linux.*?name="session" value="(se_\w+)"/s.exec(text) ?? [];
  const foreign = await bob.post("/account/sessions", { session: id });
  assert.equal(foreign.status, 404);
  assert.equal((await other.get("/account/settings")).status, 200);

  const ended = await ada.post("/account/sessions", { session: id });
  assert.equal(ended.location, "/account/sessions?done=ended");
  assert.equal((await other.get("/account/settings")).status, 401);
  assert.match((await ada.get("/account/sessions")).text, /You are signed in with 2 browsers/);
  assert.equal((await ada.post("/account/sessions", { session: id })).status, 404);

  await other.post("/account/sign-in", fields);
  const everywhere = await ada.post("/account/sign-out-everywhere", {});
  assert.equal(everywhere.location, "/account/sign-in?done=everywhere");
  for (const one of [ada, other]) assert.equal((await one.get("/account/sessions")).status, 401);
  assert.equal((await bob.get("/account/sessions")).status, 200);
});

onFile("to whoever signs in a store that is away is not named", async (t) => {
  const inTurn = () =>
    Promise.reject(new StoreFault("busy", "/var/lib/gp-records/control.sqlite is locked."));
  const { post } = await openInsideWorker(t, {}, { passwords: { inTurn } });
  const fields = { email: "ada@example.org", password: testPassword };
  const { status, headers, body } = await post("/account/sign-in", fields);
  assert.equal(status, 503);
  // The same advice as in the header.
  assert.match(body, /cannot read or write its accounts at the moment\. Try again; /);
  assert.ok(headers.some(([name, value]) => name === "retry-after" && value === "1"));
  assert.doesNotMatch(body, /control\.sqlite/);
});
