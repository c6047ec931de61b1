import assert from "node:assert/strict";
import { createAccount, freeName } from "#accounts/accounts.ts";
import { completeReset, completeSignUp, requestLink } from "#accounts/credentials.ts";
import { inviteToSignUp } from "#accounts/invitations.ts";
import { listMembers } from "#accounts/members.ts";
import {
  LinkFault,
  linkLifetimeMilliseconds,
  lookAtLink,
  makeLink,
  useLink,
} from "#accounts/one-time-links.ts";
import { forgetOld } from "#accounts/sessions.ts";
import type { LinkKind } from "#store/control-tables.ts";
import { day, noon } from "../support/control.ts";
import { forEachStore as test } from "../support/for-each-store.ts";
import { faultOf, openPeople } from "../support/people.ts";

test("two sign-ups of one address at the same instant make one person and one account", async (t) => {
  const { control, askFor, complete } = await openPeople(t);
  const links = [await askFor("ada@example.com"), await askFor("ADA@example.com")];
  const outcomes = await Promise.allSettled(
    [...links, ...links].map(({ token }) => complete(token)),
  );
  assert.equal(outcomes.filter(({ status }) => status === "fulfilled").length, 1);
  for (const table of ["person", "account", "member", "session"] as const)
    assert.equal((await control.database.selectFrom(table).selectAll().execute()).length, 1, table);
});

test("a link that somebody asks for goes to the address that is stored, not to one that only looks like it", async (t) => {
  const { control, signUp, client } = await openPeople(t);
  await signUp("Ada@bücher.example");
  // A server may give ADA@ to somebody else than Ada@.
  for (const [kind, typed] of [
    ["sign-up", "ADA@bücher.example"],
    ["reset", " ada@xn--bcher-kva.example"],
  ] as const) {
    const order = { address: typed, client: client(), now: noon };
    const { email, isKnown } = await requestLink(control, kind, order);
    assert.deepEqual([email, isKnown], ["Ada@bücher.example", true], typed);
  }
});

test("the link that a known address is sent chooses a new password and makes no second person", async (t) => {
  const { control, passwords, signUp, askFor, client, tryIn } = await openPeople(t);
  await signUp("ada@example.com");
  const { token, email } = await askFor("ADA@example.com");
  assert.equal(email, "ada@example.com");
  const order = { token, password: "another good one", client: client(), now: noon };
  await assert.rejects(
    completeSignUp(control, passwords, { ...order, accountName: null }),
    faultOf("not_found"),
  );
  await completeReset(control, passwords, order);
  await tryIn("ada@example.com", "another good one");
  assert.equal((await control.database.selectFrom("person").selectAll().execute()).length, 1);
});

test("nobody is mailed more than three times an hour, known or not", async (t) => {
  const { signUp, askFor } = await openPeople(t);
  await signUp("ada@example.com", noon - day);
  for (const address of ["ada@example.com", "new@example.com"]) {
    for (let i = 0; i < 3; i++) await askFor(address);
    await assert.rejects(askFor(address), faultOf("too_often", /60 minutes/));
    await askFor(address, noon + day);
  }
});

test("a password that will not do leaves the link as it was", async (t) => {
  const { control, passwords, askFor, complete, client } = await openPeople(t);
  const { token } = await askFor("ada@example.com");
  const order = { token, accountName: null, client: client(), now: noon };
  for (const password of ["short", "password123", "ada@example.com"])
    await assert.rejects(
      completeSignUp(control, passwords, { ...order, password }),
      faultOf("invalid"),
    );
  await assert.rejects(complete(token, noon, "\u0000"), faultOf("invalid", /name of the account/));
  await complete(token);
});

test("an account is called what the person chooses or what stands before the @, and never what another is called", async (t) => {
  const { control, askFor, complete } = await openPeople(t);
  const nameOf = async (address: string, wanted: string | null) => {
    const { token } = await askFor(address);
    const { accountId } = await complete(token, noon, wanted);
    const query = control.database.selectFrom("account").select("name");
    return (await query.where("id", "=", accountId).executeTakeFirstOrThrow()).name;
  };
  assert.equal(await nameOf("info@a.com", null), "info");
  assert.equal(await nameOf("INFO@b.com", null), "INFO 2");
  assert.equal(await nameOf("c@c.com", "Info"), "Info 3");
  assert.equal(await nameOf("d@d.com", "D".repeat(100)), "D".repeat(100));
  assert.equal(await nameOf("e@e.com", "d".repeat(100)), `${"d".repeat(98)} 2`);
  const spaced = `${"s".repeat(85)}${" ".repeat(14)}s`;
  assert.equal(await nameOf("f@f.com", spaced), spaced);
  assert.equal(await nameOf("g@g.com", spaced), `${"s".repeat(85)} 2`);
  assert.equal(await nameOf("h@h.com", spaced), `${"s".repeat(85)} 3`);
  assert.equal(await nameOf("ac_0123456789abcdef@f.com", null), "ac_0123456789abcdef account");
});

test("a name that a hundred accounts have, with their numbers, costs a sign-up one query", async (t) => {
  const { control } = await openPeople(t);
  for (let number = 1; number <= 100; number++) {
    const name = number === 1 ? "info" : `Info ${number}`;
    await createAccount(control, { name, quotas: {}, now: noon });
  }
  let queries = 0;
  const counted = control.database.withPlugin({
    transformQuery: ({ node }) => (queries++, node),
    transformResult: async ({ result }) => result,
  });
  assert.equal(await freeName(counted, "INFO"), "INFO 101");
  assert.equal(queries, 1);
});

test("an operator's link makes an account too, and none for an address that has one", async (t) => {
  const { control, complete } = await openPeople(t);
  const make = () => inviteToSignUp(control, { address: "ada@example.com", now: noon });
  const first = await make();
  const second = await make();
  const lastMoment = noon + 7 * day - 1;
  const { person, accountId } = await complete(first.token, lastMoment);
  const [owner] = await listMembers(control.database, 1);
  assert.equal(owner?.person, person.id);
  assert.match(accountId, /^ac_/);
  await assert.rejects(complete(second.token, lastMoment), LinkFault);
  await assert.rejects(
    make(),
    faultOf("conflict", /ada@example\.com has already signed up.*gp-records accounts reset-link/),
  );
});

test("an address that nobody has proven is gone from the store a week after its link", async (t) => {
  const { control, askFor, signUp } = await openPeople(t);
  await askFor("ada@example.com");
  await signUp("bob@example.com", noon + 9 * day);
  await forgetOld(control, noon + 9 * day);
  const links = await control.database.selectFrom("link").select("email").execute();
  const emails = links.map(({ email }) => email);
  assert.deepEqual(emails, ["bob@example.com"]);
});

const address = { email: "ada@example.com", folded: "ada@example.com" };

async function openLinks(t: Parameters<typeof openPeople>[0]) {
  const { control } = await openPeople(t);
  const make = (kind: LinkKind = "reset") =>
    control.write((transaction) => makeLink(transaction, { kind, address, now: noon }));
  const follow = (token: string, now = noon, kind: LinkKind = "reset") =>
    control.write((transaction) => useLink(transaction, { token, kind, now }));
  return { control, make, follow };
}

test("a link is used once, looking at it uses nothing up, and the store holds only its digest", async (t) => {
  const { control, make, follow } = await openLinks(t);
  const { token } = await make();
  for (let i = 0; i < 3; i++)
    assert.equal((await lookAtLink(control.database, token, noon)).email, address.email);
  assert.equal((await follow(token)).kind, "reset");
  await assert.rejects(follow(token), LinkFault);
  await assert.rejects(lookAtLink(control.database, token, noon), LinkFault);
  const rows = await control.database.selectFrom("link").selectAll().execute();
  assert.ok(!JSON.stringify(rows).includes(token));
  assert.equal(rows[0]?.digest.length, 32);
});

test("of those who follow a link at the same moment one gets through", async (t) => {
  const { make, follow } = await openLinks(t);
  const { token } = await make();
  const outcomes = await Promise.allSettled([follow(token), follow(token), follow(token)]);
  assert.equal(outcomes.filter(({ status }) => status === "fulfilled").length, 1);
});

test("each kind of link lasts as long as it is said to", async (t) => {
  const { control, make, follow } = await openLinks(t);
  for (const [kind, hours] of [
    ["sign-up", 24],
    ["invite", 7 * 24],
    ["reset", 1],
    ["email", 24],
  ] as const) {
    assert.equal(linkLifetimeMilliseconds[kind], hours * 3_600_000);
    const end = noon + hours * 3_600_000;
    const { token, expiresAt } = await make(kind);
    assert.equal(expiresAt, new Date(end).toISOString());
    await lookAtLink(control.database, token, end - 1);
    await assert.rejects(follow(token, end, kind), LinkFault);
  }
});

test("the person reads the same sentence whatever is wrong with a link", async (t) => {
  const { make, follow } = await openLinks(t);
  const used = await make();
  await follow(used.token);
  const expired = await make();
  const faults = await Promise.all([
    follow(used.token).catch((error) => error),
    follow(expired.token, noon + 3_600_000).catch((error) => error),
    follow("x".repeat(43)).catch((error) => error),
    follow((await make("sign-up")).token).catch((error) => error),
  ]);
  for (const fault of faults) assert.ok(fault instanceof LinkFault);
  assert.equal(new Set(faults.map(({ message }) => message)).size, 1);
});
