import assert from "node:assert/strict";
import { test } from "node:test";
import {
  openPersonLimiter,
  type PersonLimiter,
  type PersonRequest,
} from "#dashboard/person-limits.ts";
import { insertMember } from "#accounts/members.ts";
import { requirePerson } from "#accounts/people.ts";
import { seededRandom } from "../support/awkward/random.ts";
import { day, minute, second } from "../support/limits-world.ts";
import { accountOf, withControl } from "../support/own-account.ts";
import { headingOf, openPages, textOf } from "../support/record-pages.ts";
import { startService, type TestService } from "../support/service.ts";
import { openUser, type Page, signedIn } from "../support/user.ts";

test("no minute, whenever it begins, admits more than 120 page views of a person, and no day more than 2,000", () => {
  const random = seededRandom(13);
  const limiter = openPersonLimiter();
  const admitted: number[] = [];
  /** Is the last but so many as a window admits no longer in it? */
  const isBelow = (quota: number, window: number, now: number) =>
    now - (admitted.at(-quota) ?? Number.NEGATIVE_INFINITY) >= window;
  let refusals = 0;
  const pause = () => random.between(0, random.chance(0.995) ? 0.2 * second : 1000 * second);
  for (let now = 0; now < 1.2 * day; now += pause()) {
    const isFree = isBelow(120, minute, now) && isBelow(2000, day, now);
    const refusal = limiter.take("pe_1", "view", now);
    assert.equal(refusal === null, isFree, `at ${now}`);
    if (isFree) admitted.push(now);
    else refusals++;
  }
  assert.ok(admitted.length > 2000 && refusals > 100, `${admitted.length}, ${refusals}`);
});

/** Takes until it is refused. */
function fill(take: () => ReturnType<PersonLimiter["take"]>) {
  for (let count = 0; ; count++) {
    const refusal = take();
    if (refusal !== null) return { count, ...refusal };
  }
}

/** As the audit log may keep an entry of each form for good, forms have a limit for the day, too. */
for (const kind of ["view", "form"] as const)
  test(`a refusal names the window with the longest wait and its end, after which a ${kind} is admitted`, () => {
    const limiter = openPersonLimiter();
    const fillAt = (now: number) => fill(() => limiter.take("pe_1", kind, now));
    const full = { count: 120, name: "minute", quota: 120, retryAfterSeconds: 60 };
    assert.deepEqual(fillAt(0), full);
    assert.notEqual(limiter.take("pe_1", kind, minute - 1), null);
    for (let i = 1; i < 16; i++) assert.deepEqual(fillAt(i * minute), full);
    const last = { count: 80, name: "day", quota: 2000, retryAfterSeconds: 86_400 - 16 * 60 };
    assert.deepEqual(fillAt(16 * minute), last);
    assert.notEqual(limiter.take("pe_1", kind, day - 1), null);
    assert.equal(fillAt(day).count, 120);
  });

test("pages, forms and requests of scripts are counted separately, for each person", () => {
  const limiter = openPersonLimiter();
  const kinds: readonly PersonRequest[] = ["view", "form", "background"];
  for (const kind of kinds)
    assert.equal(fill(() => limiter.take("pe_1", kind, 0)).count, 120, kind);
  assert.equal(limiter.take("pe_2", "view", 0), null);
});

test("requests that are counted out of order count at the latest time so far", () => {
  const limiter = openPersonLimiter();
  assert.equal(fill(() => limiter.take("pe_1", "view", minute)).count, 120);
  assert.notEqual(limiter.take("pe_1", "view", 0), null);
  assert.equal(limiter.take("pe_1", "view", 2 * minute), null);
});

test("of 20,000 people the 5,000 who asked last are remembered", () => {
  const limiter = openPersonLimiter();
  const askAs = (count: number, name: string) => {
    for (let i = 0; i < count; i++) limiter.take(`pe_${name}_${i}`, "view", 0);
  };
  fill(() => limiter.take("pe_1", "view", 0));
  for (let i = 0; i < 20; i++) {
    askAs(1000, String(i));
    assert.notEqual(limiter.take("pe_1", "view", 0), null, String(i));
  }
  askAs(4999, "further");
  assert.notEqual(limiter.take("pe_1", "view", 0), null);
  askAs(5000, "last");
  assert.equal(limiter.take("pe_1", "view", 0), null);
});

test("a network has 60 views a minute and 600 a day without signing in, downloads included", () => {
  for (const address of ["192.0.2.1", "2001:db8::1"]) {
    const limiter = openPersonLimiter();
    const full = { count: 60, name: "minute", quota: 60, retryAfterSeconds: 60 };
    assert.deepEqual(
      fill(() => limiter.takeAnonymous(address, "view", 0)),
      full,
      address,
    );
    assert.notEqual(limiter.takeAnonymous(address, "form", minute - 1), null);
    for (let i = 1; i < 10; i++)
      assert.equal(fill(() => limiter.takeAnonymous(address, "view", i * minute)).count, 60);
    const last = { count: 0, name: "day", quota: 600, retryAfterSeconds: 86_400 - 10 * 60 };
    assert.deepEqual(
      fill(() => limiter.takeAnonymous(address, "view", 10 * minute)),
      last,
    );
    assert.equal(limiter.takeAnonymous(address, "background", 10 * minute), null);
    assert.equal(fill(() => limiter.takeAnonymous(address, "view", day)).count, 60);
  }
});

test("networks are counted separately, and those of one IPv6 site have four times as much together", () => {
  const limiter = openPersonLimiter();
  const counts = (addresses: readonly string[]) =>
    addresses.map((address) => fill(() => limiter.takeAnonymous(address, "view", 0)).count);
  assert.deepEqual(counts(["192.0.2.1", "192.0.2.2", "::ffff:192.0.2.1"]), [60, 60, 0]);
  assert.deepEqual(counts(["2001:db8::1", "2001:db8::2"]), [60, 0]);
  const others = [1, 2, 3, 4].map((i) => `2001:db8:0:${i}::1`);
  assert.deepEqual(counts(others), [60, 60, 60, 0]);
  assert.equal(fill(() => limiter.take("pe_1", "view", 0)).count, 120);
});

test("what only the site of a network refuses uses up nothing of the network", () => {
  const limiter = openPersonLimiter();
  for (const i of [1, 2, 3, 4]) fill(() => limiter.takeAnonymous(`2001:db8:0:${i}::1`, "view", 0));
  for (let i = 0; i < 60; i++)
    assert.notEqual(limiter.takeAnonymous("2001:db8::1", "view", minute / 2), null);
  assert.equal(fill(() => limiter.takeAnonymous("2001:db8::1", "view", minute)).count, 60);
});

/** Makes somebody a member of an account of somebody else, and lets them look at that account. */
const joinAccount = (service: TestService, email: string, owner: string) =>
  withControl(service, async (control) => {
    const { number: account } = await accountOf(service, owner);
    const { id: person } = await requirePerson(control.database, email);
    const now = service.clock.now();
    await control.write(async (transaction) => {
      await transaction.deleteFrom("member").where("person", "=", person).execute();
      await insertMember(transaction, { account, person, role: "member", now });
    });
  });

/** A page 20 seconds into a minute of which no view is left says so, and shows nothing of what was asked for. */
function assertNoViewLeft(refused: Page, words: string): void {
  assert.equal(refused.status, 429);
  assert.equal(refused.headers.get("retry-after"), "40");
  assert.equal(refused.headers.get("ratelimit"), null);
  assert.equal(headingOf(refused), "Too many pages");
  const said = textOf(refused.text).replaceAll(/\s+/g, " ");
  assert.ok(said.includes(`${words} pages a minute, and all of these are used up.`), said);
  assert.ok(said.includes("You can try again at 2026-11-21 09:01:00 UTC."), said);
  assert.doesNotMatch(refused.text, /Northwind/);
}

test("after 120 page views in a minute a person gets a page that says so, and other members do not", async (t) => {
  const service = await startService(t, { settings: { SIGN_UP: "open" } });
  const ada = await signedIn(service, { email: "ada@example.org" });
  const bob = await signedIn(service, { email: "bob@example.org" });
  await joinAccount(service, "bob@example.org", "ada@example.org");
  for (let i = 0; i < 120; i++)
    assert.equal((await ada.get(i % 2 === 0 ? "/browse/gps" : "/account/keys")).status, 200);
  service.clock.advance(20);
  for (const path of ["/account/keys?order=name&all=1", "/browse/gps"])
    assertNoViewLeft(await ada.get(path), "You get 120");
  // What is not a view goes on: other people, public pages, forms, and what scripts look up.
  assert.match((await bob.get("/account/members")).text, /2 members/);
  assert.equal((await ada.get("/account/sign-in")).status, 200);
  assert.match((await ada.get("/search/suggest?q=kkr")).text, />KKR</);
  const form = { name: "Acme" };
  assert.equal((await ada.post("/account/settings/name", form)).status, 303);
  service.clock.advance(40);
  assert.equal((await ada.get("/account/keys")).status, 200);
});

test("a network that looks at too many pages without signing in is told when to come back", async (t) => {
  const settings = { BROWSE: "everyone", CONTACT: "records@example.org" };
  const { service, user: member } = await openPages(t, {
    settings: { ...settings, TRUSTED_PROXIES: "127.0.0.1,::1" },
  });
  const stranger = openUser(service);
  const from = (address: string) => ({ "x-forwarded-for": address });
  for (let i = 0; i < 60; i++)
    assert.equal((await stranger.get("/browse/signals", from("192.0.2.1"))).status, 200);
  service.clock.advance(20);
  const refused = await stranger.get("/browse/gps?market=Dallas", from("192.0.2.1"));
  assertNoViewLeft(refused, "who are not signed in get 60");
  assert.match(refused.text, /href="\/browse\/gps\?market=Dallas"/);
  // Others see no difference, nor does a member in the same network.
  assert.equal((await stranger.get("/browse/gps", from("192.0.2.2"))).status, 200);
  assert.equal((await stranger.get("/account/sign-in", from("192.0.2.1"))).status, 200);
  assert.equal((await member.get("/browse/gps", from("192.0.2.1"))).status, 200);
  service.clock.advance(40);
  assert.equal((await stranger.get("/browse/gps", from("192.0.2.1"))).status, 200);
});

test("after 120 forms in a minute nothing is changed, but signing out stays possible, and the requests of a page's script are limited too", async (t) => {
  const { service, user: ada } = await openPages(t);
  const lookUp = () => ada.get("/search/suggest?q=kkr");
  const rename = (name: string) => ada.post("/account/settings/name", { name });
  for (let i = 0; i < 120; i++) {
    assert.equal((await lookUp()).status, 200);
    assert.equal((await rename(`Name ${i}`)).status, 303);
  }
  const late = await lookUp();
  assert.equal(late.status, 429);
  assert.equal(late.headers.get("retry-after"), "60");
  assert.equal((await ada.get("/account/usage")).status, 200);
  const refused = await rename("One too many");
  assert.equal(refused.status, 429);
  assert.equal(headingOf(refused), "Too many forms");
  assert.match(textOf(refused.text), /Nothing was changed\./);
  assert.equal((await accountOf(service, "ada@example.org")).name, "Name 119");
  assert.equal((await ada.post("/account/sign-out", {})).status, 303);
});
