import assert from "node:assert/strict";
import { openPasswords, type Passwords } from "#accounts/passwords.ts";
import { findSession } from "#accounts/sessions.ts";
import { confirmPassword, signIn } from "#accounts/sign-in.ts";
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

test("a wrong password and an address of nobody's are refused in the same words, after the same work", async (t) => {
  const { control, signUp, tryIn } = await openPeople(t);
  await signUp("ada@example.com");
  const entries = async () =>
    (await control.database.selectFrom("audit").selectAll().execute()).length;
  const outcomeOf = async (address: string) => {
    const before = await entries();
    const fault: unknown = await tryIn(address, "wrong password").catch((error) => error);
    assert.ok(fault instanceof DomainError);
    return { kind: fault.kind, message: fault.message, written: (await entries()) - before };
  };
  const known = await outcomeOf("ada@example.com");
  assert.equal(known.kind, "refused");
  for (const address of ["eve@example.com", "", "no address", "x".repeat(10_000)])
    assert.deepEqual(await outcomeOf(address), known);
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

test("a flood of sign-ins is refused at once beyond ten, and counts nothing against those refused", async (t) => {
  const { control, signUp, passwords } = await openPeople(t);
  await signUp("ada@example.com");
  const attempt = { address: "ada@example.com", password: goodPassword, now: noon };
  const outcomes = await Promise.allSettled(
    Array.from({ length: 100 }, () =>
      signIn(control, passwords, { ...attempt, client: clientAt("10.3.3.3") }),
    ),
  );
  const kinds = outcomes.map((one) => (one.status === "rejected" ? one.reason.kind : "in"));
  assert.equal(kinds.filter((kind) => kind === "busy").length, 90);
  await signIn(control, passwords, { ...attempt, client: clientAt("10.3.3.3") });
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
