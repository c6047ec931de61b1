import assert from "node:assert/strict";
import { test } from "node:test";
import { startMailServer } from "../../support/mail-server.ts";
import { startService, type TestService } from "../../support/service.ts";
import { openUser, signedIn, testPassword, type TestUser } from "../../support/user.ts";

const email = "ada@example.org";

/** The same person in another browser. */
async function otherBrowser(service: TestService, password = testPassword): Promise<TestUser> {
  const user = openUser(service);
  assert.equal((await user.post("/account/sign-in", { email, password })).status, 303);
  return user;
}

const isIn = async (user: TestUser): Promise<boolean> => {
  const { status } = await user.get("/account/settings");
  assert.ok(status === 200 || status === 401, String(status));
  return status === 200;
};

/** The same cookies in a browser that does not hear of their end. */
function stolenFrom(service: TestService, { cookies }: TestUser): TestUser {
  const thief = openUser(service);
  for (const [name, value] of cookies) thief.cookies.set(name, value);
  return thief;
}

test("C86 · the cookies are bound to the host, sent only over https and by our own pages, hidden from scripts, and random", async (t) => {
  const service = await startService(t, {
    records: null,
    settings: { PUBLIC_URL: "https://records.example" },
  });
  await signedIn(service);
  const values = new Set<string>();
  for (let i = 0; i < 2; i++) {
    const { headers } = await openUser(service).post("/account/sign-in", {
      email,
      password: testPassword,
    });
    const [session = "", browser = "", ...others] = headers.getSetCookie();
    assert.deepEqual(others, []);
    const shape =
      /^__Host-gp_(session|browser)=([\w-]{43}); Path=\/; HttpOnly; SameSite=Lax; Secure(; Max-Age=15552000)?$/;
    assert.deepEqual(shape.exec(session)?.slice(1).with(1, ""), ["session", "", undefined]);
    assert.deepEqual(shape.exec(browser)?.slice(1).with(1, ""), [
      "browser",
      "",
      "; Max-Age=15552000",
    ]);
    for (const cookie of [session, browser]) values.add(shape.exec(cookie)![2]!);
  }
  assert.equal(values.size, 4);
});

test("sessions", async (t) => {
  const mail = await startMailServer(t);
  const settings = { SMTP_URL: mail.url };
  const service = await startService(t, { records: null, settings });
  const ada = await signedIn(service, { email });

  await t.test(
    "C87 · a cookie from before the sign-in is not taken over, and a session from before it ends",
    async () => {
      const planted = "p".repeat(43);
      const victim = openUser(service);
      for (const name of ["gp_session", "gp_browser"]) victim.cookies.set(name, planted);
      const { status } = await victim.post("/account/sign-in", { email, password: testPassword });
      assert.equal(status, 303);
      assert.ok(await isIn(victim));
      for (const value of victim.cookies.values()) assert.notEqual(value, planted);
      const attacker = openUser(service);
      attacker.cookies.set("gp_session", planted);
      assert.equal(await isIn(attacker), false);

      const former = stolenFrom(service, victim);
      await victim.post("/account/sign-in", { email, password: testPassword });
      assert.notEqual(victim.cookies.get("gp_session"), former.cookies.get("gp_session"));
      assert.deepEqual([await isIn(victim), await isIn(former)], [true, false]);
    },
  );

  await t.test(
    "C88 · signing out ends the session at once, for a second tab and for a copied cookie too",
    async () => {
      const browser = await otherBrowser(service);
      const copy = stolenFrom(service, browser);
      const { location } = await browser.post("/account/sign-out", {});
      assert.equal(location, "/account/sign-in?done=out");
      assert.equal(browser.cookies.has("gp_session"), false);
      assert.deepEqual([await isIn(browser), await isIn(copy)], [false, false]);
      const late = await copy.post("/account/settings/name", { name: "Renamed after all" });
      assert.equal(late.status, 401);
      assert.match(late.headers.get("www-authenticate") ?? "", /^Form /);
      assert.match(late.text, /action="\/account\/sign-in"/);
      assert.equal((await copy.post("/account/sign-out", {})).status, 303);
      assert.ok(await isIn(ada));
    },
  );
});
