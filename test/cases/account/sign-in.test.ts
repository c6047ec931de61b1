import assert from "node:assert/strict";
import { test } from "node:test";
import { fetches } from "#operations/fetches.ts";
import { hour, noon } from "../../support/control.ts";
import { openInsideWorker, tokenFor } from "../../support/inside-worker.ts";
import { startMailServer } from "../../support/mail-server.ts";
import { goodPassword } from "../../support/people.ts";
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
  const it = (name: string, run: () => Promise<void>) => t.test(name, run);

  await it("C87 · a cookie from before the sign-in is not taken over, and a session from before it ends", async () => {
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
  });

  await it("C88 · signing out ends the session at once, for a second tab and for a copied cookie too", async () => {
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
  });
});

const tries = 200;
// Of one length, so that a page that echoes them has one, too.
const known = "ada@example.org";
const unknown = "eve@example.org";

test("C89 · sign-in, sign-up and a forgotten password look and cost the same for an address that is known and one that is not", async (t) => {
  const worker = await openInsideWorker(t);
  await worker.signUp(known);
  const { hashes, queries } = worker;

  const told = async (path: string, email: string, now: number) => {
    const before = { hashes: hashes.count, queries: queries.length };
    // An address of its own each time, so that neither is counted with the other.
    const address = email === known ? "10.0.0.1" : "10.0.0.2";
    const answer = await worker.post(path, { email, password: "wrong" }, { now, address });
    return {
      ...answer,
      body: answer.body.replaceAll(email, "ADDRESS"),
      hashes: hashes.count - before.hashes,
      queries: queries.slice(before.queries),
    };
  };
  let now = noon;
  for (const [path, status, hashed] of [
    ["/account/sign-in", 401, 1],
    ["/account/sign-up", 200, 0],
    ["/account/forgot", 200, 0],
  ] as const)
    for (let i = 0; i < tries; i++) {
      // No try waits longer for the one before.
      now += hour;
      const outcome = await told(path, known, now);
      assert.deepEqual(await told(path, unknown, now), outcome);
      assert.deepEqual([outcome.status, outcome.hashes], [status, hashed], `${path} ${i}`);
    }
});

test("C89 · they are slowed down after the same number of tries and in the same words", async (t) => {
  const worker = await openInsideWorker(t);
  await worker.signUp(known);
  const now = noon + hour;
  for (const [path, longestWaitSeconds] of [
    ["/account/sign-in", 900],
    ["/account/sign-up", 3600],
    ["/account/forgot", 3600],
  ] as const) {
    const statuses = async (email: string, network: string) => {
      const answers = [];
      for (let i = 0; i < 12; i++)
        answers.push(
          await worker.post(
            path,
            { email, password: "wrong" },
            { now, address: `${network}.${i}` },
          ),
        );
      return answers.map(({ status, headers, body }) => ({
        status,
        headers,
        body: body.replaceAll(email, "ADDRESS"),
      }));
    };
    const outcome = await statuses(known, `10.${path.length}.1`);
    assert.deepEqual(await statuses(unknown, `10.${path.length}.2`), outcome, path);
    const { status, headers } = outcome.at(-1)!;
    assert.equal(status, 429, path);
    const wait = Number(new Headers(headers as [string, string][]).get("retry-after"));
    assert.ok(wait > 0 && wait <= longestWaitSeconds, `${path}: ${wait} s`);
  }
});

const crowd = Array.from({ length: 500 }, (_, i) => ({
  email: `person${i}@example.org`,
  password: "wrong password",
  address: `10.1.${i >> 8}.${i & 255}`,
}));

test("C96 · of 500 sign-ins at once two are hashed at a time, sixteen wait, and all others are told to come back", async (t) => {
  const worker = await openInsideWorker(t);
  const { promise, resolve: open } = Promise.withResolvers<void>();
  worker.hashes.gate = promise;
  let refusedCount = 0;
  const answers = await Promise.all(
    crowd.map(async ({ address, ...fields }) => {
      const answer = await worker.post("/account/sign-in", fields, { address });
      if (answer.status === 503 && ++refusedCount === 482) open();
      return answer;
    }),
  );
  const refused = answers.filter(({ status }) => status === 503);
  assert.equal(worker.hashes.most, 2);
  assert.equal(worker.hashes.count, 18);
  assert.equal(refused.length, 482);
  assert.equal(answers.filter(({ status }) => status === 401).length, 18);
  for (const { headers, body } of refused) {
    assert.equal(new Headers(headers as [string, string][]).get("retry-after"), "1");
    assert.match(body, /checking too many passwords/);
  }
});

test("C96 · while 500 sign in at once, the four operations go on answering", async (t) => {
  const service = await startService(t, { settings: { TRUSTED_PROXIES: "127.0.0.1" } });
  const user = openUser(service);
  await user.get("/account/sign-in");
  let isOver = false;
  const signIns = Promise.all(
    crowd.map(({ address, ...fields }) =>
      user.post("/account/sign-in", fields, { "x-forwarded-for": address }),
    ),
  ).finally(() => (isOver = true));
  let rounds = 0;
  do {
    for (const { path } of Object.values(fetches))
      assert.equal((await service.get(`${path}?gp_name=kkr`)).status, 200);
    rounds += 1;
  } while (!isOver && rounds < 10);
  const statuses = new Set((await signIns).map(({ status }) => status));
  assert.deepEqual(statuses, new Set([401, 503]));
});

test("C97 · a sign-up takes no role, limits or proof from the form, and an address in other letter case is the same person", async (t) => {
  const worker = await openInsideWorker(t);
  const { database } = worker.control;
  const limits = { limits: "999999", per_day: "999999" };
  const extras = { role: "admin", ...limits, verified: "true", plan: "x" };
  const asked = await worker.post("/account/sign-up", { email, ...extras });
  assert.equal(asked.status, 200);
  assert.deepEqual(await database.selectFrom("person").selectAll().execute(), []);
  const token = tokenFor(worker.messages, email);
  const given = { token, password: goodPassword, account: "Ada" };
  const fields = { ...given, ...extras, email: "eve@evil.example" };
  assert.equal((await worker.post("/account/link", fields)).status, 303);
  const [person, ...others] = await database.selectFrom("person").selectAll().execute();
  assert.deepEqual([person!.email, others], [email, []]);
  const account = await database.selectFrom("account").selectAll().executeTakeFirstOrThrow();
  const { per_minute, per_hour, per_day, plan } = account;
  assert.deepEqual([per_minute, per_hour, per_day, plan], [null, null, null, null]);
  const members = await database.selectFrom("member").select(["person", "role"]).execute();
  const found = members.map(({ person: id, role }) => [id, role]);
  assert.deepEqual(found, [[person!.id, "owner"]]);

  for (const written of ["ADA@EXAMPLE.ORG", " Ada@Example.org "]) {
    const again = await worker.post("/account/sign-up", { email: written });
    assert.equal(again.status, 200);
    assert.equal(worker.messages.at(-1)!.subject, "You have already signed up");
  }
  const signedIn = await worker.post("/account/sign-in", {
    email: "aDa@example.ORG",
    password: goodPassword,
  });
  assert.equal(signedIn.status, 303);
});
