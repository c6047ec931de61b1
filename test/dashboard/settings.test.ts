import assert from "node:assert/strict";
import { forEachStore as test } from "../support/for-each-store.ts";
import { cookiesOf, openInsideWorker } from "../support/inside-worker.ts";
import { createKey } from "../support/key-forms.ts";
import { startMailServer } from "../support/mail-server.ts";
import { startService } from "../support/service.ts";
import { openUser, signedIn, testPassword } from "../support/user.ts";

const email = "ada@example.org";
const password = testPassword;

test("settings", async (t) => {
  const mail = await startMailServer(t);
  const service = await startService(t, { records: null, settings: { SMTP_URL: mail.url } });
  const ada = await signedIn(service, { email, accountName: "Ada Ltd" });

  await t.test("an owner renames the account, to a name that may be used and is free", async () => {
    await service.newKey();
    const rename = (name: string) =>
      ada.submit("/account/settings", "/account/settings/name", { name });
    for (const name of ["ADA LTD", "Ada & <Co>"])
      assert.equal((await rename(name)).location, "/account/settings?done=name");
    const { text } = await ada.get("/account/settings?done=name");
    assert.match(text, /The account Ada &amp; &lt;Co&gt;/);
    assert.match(text, /role="status"[^>]*>The account has been renamed/);
    // A sentence of another page says nothing here.
    for (const done of ["revoked", "invited", "toString"])
      assert.doesNotMatch((await ada.get(`/account/settings?done=${done}`)).text, /role="status"/);
    await signedIn(service, { email: "bob@example.org", accountName: "Taken" });
    const taken = await rename("taken");
    assert.equal(taken.status, 409);
    assert.match(taken.text, /value="taken"/);
    assert.equal((await rename(" ")).status, 400);
  });

  await t.test(
    "the address changes once the link to the new one is followed, and the former one is told",
    async () => {
      const path = "/account/settings/address";
      const next = "lovelace@example.org";
      await openUser(service).post("/account/forgot", { email });
      const reset = await mail.linkTo(email);
      mail.messages.length = 0;
      const wrong = await ada.submit(path, path, { email: next, password: "wrong" });
      assert.equal(wrong.status, 403);
      assert.match(wrong.text, /value="lovelace@example\.org"/);
      const asked = await ada.submit(path, path, { email: next, password });
      const taken = await ada.submit(path, path, { email: "bob@example.org", password });
      assert.deepEqual([asked.status, taken.status], [200, 200]);
      assert.equal(
        taken.text.replaceAll("bob@example.org", "ADDRESS"),
        asked.text.replaceAll(next, "ADDRESS"),
      );
      const bobs = await mail.messageTo("bob@example.org");
      assert.doesNotMatch(bobs.text, /token=/);
      const link = await mail.linkTo(next);
      assert.match((await ada.get("/account/settings")).text, /ada@example\.org/);
      const { location } = await ada.submit(link, "/account/link");
      assert.equal(location, "/account/settings?done=address");
      assert.equal((await ada.get(reset)).status, 404);
      assert.match((await ada.get("/account/settings")).text, /lovelace@example\.org/);
      const former = await mail.messageTo(email);
      assert.equal(former.headers["subject"], "Your e-mail address was changed");
      assert.doesNotMatch(former.text, /lovelace/);
    },
  );

  await t.test("the download holds all that is kept of a person, and no secret of it", async () => {
    const { headers, text } = await ada.post("/account/settings/export", {});
    assert.match(
      headers.get("content-disposition") ?? "",
      /^attachment; filename="my-data\.json"$/,
    );
    const kept = JSON.parse(text);
    assert.equal(kept.person.email, "lovelace@example.org");
    assert.equal(kept.accounts[0].name, "Ada & <Co>");
    assert.equal(kept.usage[0].account, kept.accounts[0].id);
    assert.deepEqual(kept.usage[0].days, []);
    assert.doesNotMatch(text, /argon2|digest/);
    for (const token of ada.cookies.values()) assert.ok(!text.includes(token));
  });

  await t.test(
    "a password is changed by whoever knows it, who is told, or chosen by a link that is mailed",
    async () => {
      const own = "lovelace@example.org";
      const path = "/account/settings/password";
      const next = "another horse battery staple";
      for (const [fields, status] of [
        [{ present: "wrong", next }, 403],
        [{ present: password, next: "short" }, 400],
        [{ present: password, next: own.toUpperCase() }, 400],
      ] as const)
        assert.equal((await ada.submit(path, path, fields)).status, status);
      mail.messages.length = 0;
      const changed = await ada.submit(path, path, { present: password, next });
      assert.equal(changed.location, "/account/settings?done=password");
      assert.equal((await ada.get("/account/settings")).status, 200);
      const { headers } = await mail.messageTo(own);
      assert.equal(headers["subject"], "Your password was changed");
      mail.messages.length = 0;
      const forgetful = openUser(service);
      await forgetful.post("/account/forgot", { email: own });
      const link = await mail.linkTo(own);
      const chosen = await forgetful.submit(link, "/account/link", { password });
      assert.equal(chosen.location, "/account/settings?done=password");
      assert.equal((await ada.get("/account/settings")).status, 401);
    },
  );
});

test("closing and deleting", async (t) => {
  const service = await startService(t, { records: null });

  await t.test("closing the account first shows what breaks, and takes the password", async () => {
    const ada = await signedIn(service, { email, accountName: "Ada Ltd" });
    await createKey(ada, { name: "nightly" });
    const path = "/account/settings/close";
    const page = await ada.get(path);
    assert.match(page.text, /1 key of the account would be refused/);
    assert.match(page.text, /nightly/);
    assert.equal((await ada.submit(path, path, { password: "wrong" })).status, 403);
    assert.equal((await ada.get("/account/keys")).status, 200);
    const { location } = await ada.submit(path, path, { password });
    assert.equal(location, "/account/settings?done=closed");
    assert.equal((await ada.get("/account/settings")).status, 200);
    const keys = await ada.get("/account/keys");
    assert.equal(keys.status, 403);
    assert.match(keys.text, /You are not a member of any account/);
  });

  await t.test(
    "deleting oneself closes the account nobody else is in, and the address is free",
    async () => {
      const eve = await signedIn(service, { email: "eve@example.org", accountName: "Eve" });
      const path = "/account/settings/delete";
      assert.match(
        (await eve.get(path)).text,
        /Eve<\/strong> has no other member, so it is closed/,
      );
      const other = openUser(service);
      await other.post("/account/sign-in", { email: "eve@example.org", password });
      assert.equal((await eve.submit(path, path, { password: "wrong" })).status, 403);
      assert.equal((await other.get("/account/settings")).status, 200);
      const { location } = await eve.submit(path, path, { password });
      assert.equal(location, "/account/sign-in?done=deleted");
      assert.equal((await other.get("/account/settings")).status, 401);
      const again = await signedIn(service, { email: "eve@example.org", accountName: "Eve" });
      assert.match((await again.get("/account/settings")).text, /The account Eve/);
    },
  );
});

test("a member of an account that nobody owns may delete the login", async (t) => {
  const { control, get, signUp } = await openInsideWorker(t);
  const headers = { cookie: cookiesOf(await signUp(email)) };
  await signUp("bob@example.org");
  const members = { role: "member", account: 1 } as const;
  await control.write((all) => all.updateTable("member").set(members).execute());
  assert.match((await get("/account/settings/delete", { headers })).body, /You leave the account/);
});

test("a mailed link leads to the service, whatever Host header the request has", async (t) => {
  const mail = await startMailServer(t);
  const settings = { SMTP_URL: mail.url, SIGN_UP: "open" };
  const service = await startService(t, { records: null, settings });
  await signedIn(service, { email: "ada@example.org", accountName: "Ada" });
  const own = `http://127.0.0.1:${service.port}/account/link?token=`;
  for (const [address, path] of [
    ["ada@example.org", "/account/forgot"],
    ["bob@example.org", "/account/sign-up"],
  ] as const) {
    const fields = { email: address };
    const { status } = await openUser(service).post(path, fields, { host: "localhost:6666" });
    assert.equal(status, 200);
    const { text } = await mail.messageTo(address);
    assert.ok(text.includes(own), text);
    assert.ok(!text.includes("6666"), text);
  }
});

test("the link that a demo shows on its page leads to where its user came from, the one in the mail does not", async (t) => {
  const { get, post, messages } = await openInsideWorker(t, { isDemo: true });
  const headers = { host: "localhost:9000" };
  const answer = await post("/account/sign-up", { email: "ada@example.org" }, { headers });
  const [, href = ""] =
    /href="http:\/\/localhost:9000(\/account\/link\?token=[\w-]{43})"/.exec(answer.body) ?? [];
  assert.match((await get(href)).body, /Choose a password/);
  assert.match(messages[0]!.text, /http:\/\/127\.0\.0\.1:8080\/account\/link\?token=/);
});
