import assert from "node:assert/strict";
import { type Hasher, openPasswords, type Passwords } from "#accounts/passwords.ts";
import { findSession } from "#accounts/sessions.ts";
import { confirmPassword, signIn } from "#accounts/credentials.ts";
import { admit, type Client, networksOf, type Subject, TooOften } from "#accounts/throttle.ts";
import { DomainError } from "#store/store-fault.ts";
import { openControl } from "#store/stores.ts";
import { day, minute, noon } from "../support/control.ts";
import { forEachStore as test } from "../support/for-each-store.ts";
import { cheap, clientAt, faultOf, goodPassword, openPeople } from "../support/people.ts";

test("whoever knows the password is signed in with new tokens each time, which are stored only as digests", async (t) => {
  const { control, signUp, tryIn } = await openPeople(t);
  const first = await signUp("ada@example.com");
  const second = await tryIn(" ADA@example.com", goodPassword);
  for (const token of ["sessionToken", "browserToken"] as const) {
    assert.match(second[token], /^[\w-]{43}$/);
    assert.notEqual(second[token], first[token]);
  }
  const stored = {
    sessions: await control.database.selectFrom("session").selectAll().execute(),
    browsers: await control.database.selectFrom("known_browser").selectAll().execute(),
  };
  assert.equal(stored.sessions.length, 2);
  for (const token of [second.sessionToken, second.browserToken])
    assert.ok(!JSON.stringify(stored).includes(token));
  assert.equal(
    (await findSession(control, second.sessionToken, noon))?.person.id,
    second.person.id,
  );
});

test("a browser keeps its token as long as the same person signs in with it, and takes none from elsewhere", async (t) => {
  const { signUp, tryIn, client } = await openPeople(t);
  const ada = await signUp("ada@example.com");
  const bob = await signUp("bob@example.com");
  const again = await tryIn("ada@example.com", goodPassword, noon, client(ada.browserToken));
  assert.equal(again.browserToken, ada.browserToken);
  for (const foreign of [bob.browserToken, "x".repeat(43)]) {
    const signedIn = await tryIn("ada@example.com", goodPassword, noon, client(foreign));
    assert.notEqual(signedIn.browserToken, foreign);
  }
});

type Check = Hasher["isPassword"];

/** Passwords that are checked otherwise. */
const checkedBy = (passwords: Passwords, checkOf: (hasher: Hasher) => Check): Passwords => ({
  inTurn: (work, trust) =>
    passwords.inTurn((hasher) => work({ ...hasher, isPassword: checkOf(hasher) }), trust),
});

/** Passwords whose checks end only once `gate` is resolved. */
function heldPasswords(passwords: Passwords) {
  const held = { gate: Promise.withResolvers<void>() };
  const checkOf =
    (hasher: Hasher): Check =>
    async (password, stored) => {
      await held.gate.promise;
      return hasher.isPassword(password, stored);
    };
  return Object.assign(held, checkedBy(passwords, checkOf));
}

/** Resolves once so many of the attempts are refused because too many wait. */
const busyOf = (attempts: readonly Promise<unknown>[], count: number) =>
  new Promise<void>((resolve) => {
    let busy = 0;
    for (const attempt of attempts)
      attempt.catch((fault: unknown) => {
        if (faultOf("busy")(fault) && ++busy === count) resolve();
      });
  });

test("a flood of sign-ins is refused at once beyond ten, and counts nothing against those refused", async (t) => {
  const { control, signUp, tryIn, passwords } = await openPeople(t);
  await signUp("ada@example.com");
  const client = clientAt("10.3.3.3");
  await assert.rejects(tryIn("ada@example.com", "wrong", noon, client), faultOf("refused"));
  const attempt = { address: "ada@example.com", password: goodPassword, client, now: noon };
  const held = heldPasswords(passwords);
  const attempts = Array.from({ length: 100 }, () => signIn(control, held, attempt));
  await busyOf(attempts, 90);
  held.gate.resolve();
  const outcomes = await Promise.allSettled(attempts);
  const kinds = outcomes.map((one) => (one.status === "rejected" ? one.reason.kind : "in"));
  assert.equal(kinds.filter((kind) => kind === "busy").length, 90);
  await signIn(control, passwords, attempt);
});

test("wrong passwords from hundreds of networks keep out no known browser and no clean address", async (t) => {
  const { control, signUp, tryIn, passwords } = await openPeople(t);
  const { browserToken } = await signUp("ada@example.com");
  const attacker = (i: number) => clientAt(`2001:db8:${i.toString(16)}::1`);
  const guess = tryIn("eve@example.com", "wrong", noon, attacker(0));
  await assert.rejects(guess, faultOf("refused"));
  await control.write(async (transaction) => {
    for (let i = 1; i < 300; i++)
      await admit(transaction, networksOf(attacker(i)).slice(0, 1), noon);
  });
  const held = heldPasswords(passwords);
  const kinds: Record<string, number> = {};
  const note = async (who: string, attempt: Promise<unknown>) => {
    const kind = await attempt.then(
      () => "in",
      (fault: DomainError) => fault.kind,
    );
    kinds[`${who}: ${kind}`] = (kinds[`${who}: ${kind}`] ?? 0) + 1;
  };
  for (let round = 0; round < 20; round++) {
    held.gate = Promise.withResolvers();
    const guesses = Array.from({ length: 15 }, (_, i) => round * 15 + i).map((i) =>
      signIn(control, held, {
        address: `${i}@example.net`,
        password: "wrong",
        client: attacker(i),
        now: noon,
      }),
    );
    await busyOf(guesses, 5);
    const own = { address: "ada@example.com", password: goodPassword, now: noon };
    const ada = (client: Client) => signIn(control, held, { ...own, client });
    const rightful = [
      note("known browser", ada({ ...attacker(round), browserToken })),
      note("clean address", ada(clientAt(`2001:db8:ffff:${round}::1`))),
    ];
    await note(
      "another network of an attacker's site",
      ada(clientAt(`2001:db8:0:${round + 1}::1`)),
    );
    held.gate.resolve();
    await Promise.all([...rightful, ...guesses.map((guess) => note("attacker", guess))]);
  }
  assert.deepEqual(kinds, {
    "known browser: in": 20,
    "clean address: in": 20,
    "another network of an attacker's site: busy": 20,
    "attacker: busy": 100,
    "attacker: refused": 200,
  });
});

test("a password changed while it was being checked lets nobody in with the old one", async (t) => {
  const { control, signUp } = await openPeople(t);
  const { person } = await signUp("ada@example.com");
  const late = checkedBy(openPasswords(cheap), (hasher) => async (password, stored) => {
    const isRight = await hasher.isPassword(password, stored);
    await control.database
      .updateTable("person")
      .set({ password: await hasher.hash("another good one") })
      .where("id", "=", person.id)
      .execute();
    return isRight;
  });
  const order = { address: "ada@example.com", client: clientAt("10.4.4.4"), now: noon };
  await assert.rejects(
    signIn(control, late, { ...order, password: goodPassword }),
    faultOf("refused"),
  );
});

test("whoever has a session but not the password may not guess it either", async (t) => {
  const { control, passwords, signUp } = await openPeople(t);
  const { person } = await signUp("ada@example.com");
  const confirm = (password: string) =>
    confirmPassword(control, passwords, { person: person.id, password, now: noon });
  await confirm(goodPassword);
  for (let i = 0; i < 5; i++) await assert.rejects(confirm(`wrong ${i}`), faultOf("refused"));
  await assert.rejects(confirm(goodPassword), faultOf("too_often"));
});

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
  const own = { address: "ada@example.com", password: goodPassword, now: noon };
  const again = signIn(restarted, openPasswords(cheap), { ...own, client: clientAt("10.9.9.9") });
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
