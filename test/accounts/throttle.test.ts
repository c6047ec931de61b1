import assert from "node:assert/strict";
import { openPasswords } from "#accounts/passwords.ts";
import { signIn } from "#accounts/sign-in.ts";
import { admit, type Subject, TooOften } from "#accounts/throttle.ts";
import { openControl } from "#store/stores.ts";
import { day, minute, noon } from "../support/control.ts";
import { forEachStore as test } from "../support/for-each-store.ts";
import { cheap, clientAt, faultOf, goodPassword, openPeople } from "../support/people.ts";

const address: Subject = { kind: "address", of: "ada@example.com" };
const network: Subject = { kind: "network", of: "10.0.0.1" };

async function openThrottle(t: Parameters<typeof openPeople>[0]) {
  const { control } = await openPeople(t);
  /** Seconds to wait, 0 where the try was let in. */
  const wait = async (now: number, subjects = [address]) => {
    try {
      await control.write((transaction) => admit(transaction, subjects, now));
      return 0;
    } catch (fault) {
      assert.ok(fault instanceof TooOften);
      return fault.retryAfterSeconds;
    }
  };
  return { control, wait };
}

test("five tries are free, then each wait is twice the one before, up to 15 minutes and never more", async (t) => {
  const { wait } = await openThrottle(t);
  for (let i = 0; i < 5; i++) assert.equal(await wait(noon), 0);
  let now = noon;
  const waits: number[] = [];
  for (let i = 0; i < 13; i++) {
    const seconds = await wait(now);
    waits.push(seconds);
    assert.equal(await wait(now), seconds);
    now += seconds * 1000;
    assert.equal(await wait(now), 0, `let in after ${seconds} s`);
  }
  assert.deepEqual(waits, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900]);
});

test("a network has 20 tries in 15 minutes, whatever addresses it tries", async (t) => {
  const { wait } = await openThrottle(t);
  for (let i = 0; i < 20; i++)
    assert.equal(await wait(noon + i, [{ kind: "address", of: `${i}@x.com` }, network]), 0);
  assert.equal(await wait(noon + minute, [network]), 14 * 60);
  assert.equal(await wait(noon + 15 * minute, [network]), 0);
});

test("the networks of one IPv6 site have 100 tries together in 15 minutes", async (t) => {
  const { tryIn } = await openPeople(t);
  const guess = (i: number, now = noon) =>
    tryIn(`${i}@x.com`, "wrong", now, clientAt(`2001:db8:7:${i.toString(16)}::1`));
  for (let i = 0; i < 100; i++) await assert.rejects(guess(i), faultOf("refused"));
  await assert.rejects(guess(100), faultOf("too_often"));
  await assert.rejects(guess(100, noon + 15 * minute), faultOf("refused"));
});

test("a try that one subject refuses is counted in none", async (t) => {
  const { wait } = await openThrottle(t);
  for (let i = 0; i < 5; i++) await wait(noon);
  for (let i = 0; i < 50; i++) assert.equal(await wait(noon, [network, address]), 1);
  assert.equal(await wait(noon, [network]), 0);
});

test("after a day without a try the first ones are free again", async (t) => {
  const { wait } = await openThrottle(t);
  for (let i = 0; i < 5; i++) await wait(noon);
  assert.equal(await wait(noon), 1);
  for (let i = 0; i < 5; i++) assert.equal(await wait(noon + day + 1000), 0);
});

test("a clock that was ahead and is set right locks nobody out", async (t) => {
  const { wait } = await openThrottle(t);
  for (let i = 0; i < 5; i++) await wait(noon + 30 * day);
  assert.equal(await wait(noon), 0);
});

test("a restart forgives nothing, and what is counted names nobody in the store", async (t) => {
  const { place, control, signUp, tryIn } = await openPeople(t);
  await signUp("ada@example.com");
  for (let i = 0; i < 5; i++)
    await assert.rejects(tryIn("ada@example.com", "wrong password"), faultOf("refused"));
  const rows = await control.database.selectFrom("throttle").selectAll().execute();
  assert.ok(rows.length >= 2);
  assert.doesNotMatch(JSON.stringify(rows), /ada@|10\.0\.0/);
  const restarted = await openControl(place.dataDir, place);
  t.after(() => restarted.close());
  const again = signIn(restarted, openPasswords(cheap), {
    address: "ada@example.com",
    password: goodPassword,
    client: clientAt("10.9.9.9"),
    now: noon,
  });
  await assert.rejects(again, faultOf("too_often", /in 1 second\./));
});

test("a thousand guesses at one moment are a thousand: five reach a password", async (t) => {
  const { control, signUp, client } = await openPeople(t);
  await signUp("ada@example.com");
  const passwords = openPasswords({ ...cheap, waitingMax: 1000 });
  const outcomes = await Promise.allSettled(
    Array.from({ length: 200 }, (_, i) =>
      signIn(control, passwords, {
        address: "ada@example.com",
        password: `wrong password ${i}`,
        client: client(),
        now: noon,
      }),
    ),
  );
  const kinds = outcomes.map((one) => (one.status === "rejected" ? one.reason.kind : "let in"));
  assert.equal(kinds.filter((kind) => kind === "refused").length, 5);
  assert.equal(kinds.filter((kind) => kind === "too_often").length, 195);
});

test("whoever is guessed at signs in from a known browser at once, and from any other within 15 minutes", async (t) => {
  const { signUp, tryIn, client } = await openPeople(t);
  const { browserToken } = await signUp("ada@example.com");
  let now = noon;
  for (let i = 0; i < 30; i++) {
    await assert.rejects(tryIn("ada@example.com", `wrong ${i}`, now));
    now += 20 * minute;
  }
  await assert.rejects(tryIn("ada@example.com", "wrong again", now), faultOf("refused"));
  await assert.rejects(tryIn("ada@example.com", goodPassword, now), faultOf("too_often"));
  await tryIn("ada@example.com", goodPassword, now, client(browserToken));
  await assert.rejects(tryIn("ada@example.com", goodPassword, now + 14 * minute));
  await tryIn("ada@example.com", goodPassword, now + 15 * minute);
});

test("a known browser is known to its own person alone, and its wrong guesses count too", async (t) => {
  const { signUp, tryIn, client } = await openPeople(t);
  const ada = await signUp("ada@example.com");
  const bob = await signUp("bob@example.com");
  for (let i = 0; i < 5; i++) await assert.rejects(tryIn("ada@example.com", "wrong"));
  const theirs = tryIn("ada@example.com", goodPassword, noon, client(bob.browserToken));
  await assert.rejects(theirs, faultOf("too_often"));
  const own = (password: string) =>
    tryIn("ada@example.com", password, noon, client(ada.browserToken));
  for (let i = 0; i < 5; i++) await assert.rejects(own("wrong"), faultOf("refused"));
  await assert.rejects(own(goodPassword), faultOf("too_often"));
});

test("people who sign in well use up nothing of their network", async (t) => {
  const { signUp, tryIn } = await openPeople(t);
  await signUp("ada@example.com");
  const network = clientAt("2001:db8::1");
  for (let i = 0; i < 50; i++) await tryIn("ada@example.com", goodPassword, noon, network);
});
