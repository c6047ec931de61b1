import assert from "node:assert/strict";
import { type Client, networkOf } from "#accounts/client.ts";
import { openPasswords, type Passwords } from "#accounts/passwords.ts";
import { findSession } from "#accounts/sessions.ts";
import { confirmPassword, signIn } from "#accounts/sign-in.ts";
import { admit } from "#accounts/throttle.ts";
import { DomainError } from "#store/domain-error.ts";
import { noon } from "../support/control.ts";
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

test("a password hashed with old parameters is hashed anew by the next sign-in", async (t) => {
  const { control, signUp } = await openPeople(t);
  await signUp("ada@example.com");
  const dearer = openPasswords({ ...cheap, passes: 2 });
  const order = { address: "ada@example.com", client: clientAt("10.2.2.2"), now: noon };
  await signIn(control, dearer, { ...order, password: goodPassword });
  const { password } = await control.database
    .selectFrom("person")
    .select("password")
    .executeTakeFirstOrThrow();
  assert.match(password, /,t=2,/);
  await signIn(control, dearer, { ...order, password: goodPassword });
});

/** Passwords whose checks end only once `gate` is resolved. */
function heldPasswords(passwords: Passwords) {
  const held = { gate: Promise.withResolvers<void>() };
  const inTurn: Passwords["inTurn"] = (work, trust) =>
    passwords.inTurn(
      (hasher) =>
        work({
          ...hasher,
          async isPassword(password: string, stored: string | null) {
            await held.gate.promise;
            return hasher.isPassword(password, stored);
          },
        }),
      trust,
    );
  return Object.assign(held, { inTurn });
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
      await admit(transaction, [{ kind: "network", of: networkOf(attacker(i)) }], noon);
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
    const ada = (client: Client) =>
      signIn(control, held, {
        address: "ada@example.com",
        password: goodPassword,
        client,
        now: noon,
      });
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

test("an unknown address costs what the password of its neighbour does, which lets nobody in", async (t) => {
  const { control, signUp } = await openPeople(t);
  for (const name of ["bob", "eve"]) await signUp(`${name}@example.com`);
  const dearer = openPasswords({ ...cheap, passes: 2 });
  let cost: string | undefined;
  const watched: Passwords = {
    inTurn: (work) =>
      dearer.inTurn((hasher) =>
        work({
          ...hasher,
          isPassword(password: string, stored: string | null) {
            cost = stored?.split("$")[3];
            return hasher.isPassword(password, stored);
          },
        }),
      ),
  };
  const tryIn = (name: string) =>
    signIn(control, watched, {
      address: `${name}@example.com`,
      password: goodPassword,
      client: clientAt(`10.5.5.${name.length}`),
      now: noon,
    });
  const costOf = async (name: string) => {
    await assert.rejects(tryIn(name), faultOf("refused"));
    return cost;
  };
  for (const name of ["ada", "carol", "zoe"]) assert.equal(await costOf(name), "m=8,t=1,p=1");
  // Hashes Bob's password anew.
  await tryIn("bob");
  for (const name of ["ada", "ada", "zoe"]) assert.equal(await costOf(name), "m=8,t=2,p=1");
  assert.equal(await costOf("carol"), "m=8,t=1,p=1");
});

test("a password changed while it was being checked lets nobody in with the old one", async (t) => {
  const { control, signUp } = await openPeople(t);
  const { person } = await signUp("ada@example.com");
  const late: Passwords = {
    inTurn: (work) =>
      openPasswords(cheap).inTurn((hasher) =>
        work({
          ...hasher,
          async isPassword(password: string, stored: string | null) {
            const isRight = await hasher.isPassword(password, stored);
            await control.database
              .updateTable("person")
              .set({ password: await hasher.hash("another good one") })
              .where("id", "=", person.id)
              .execute();
            return isRight;
          },
        }),
      ),
  };
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
