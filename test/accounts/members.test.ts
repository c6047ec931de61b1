import assert from "node:assert/strict";
import { closeAccount, renameAccount } from "#accounts/accounts.ts";
import { completeAddressChange, requestAddressChange } from "#accounts/credentials.ts";
import {
  acceptInvitation,
  invite,
  listInvitations,
  withdrawInvitation,
} from "#accounts/invitations.ts";
import { findFollowedView, followView, unfollowView } from "#accounts/followed-views.ts";
import { changeRole, leaveAccount, listMembers, removeMember } from "#accounts/members.ts";
import { LinkFault } from "#accounts/one-time-links.ts";
import {
  endSession,
  findSession,
  forgetOld,
  listSessions,
  switchAccount,
} from "#accounts/sessions.ts";
import type { Role } from "#store/control-tables.ts";
import { openControl } from "#store/stores.ts";
import { day, hour, minute, noon } from "../support/control.ts";
import { forEachStore as test } from "../support/for-each-store.ts";
import { clientAt, faultOf, goodPassword, openPeople } from "../support/people.ts";

/** An account of Ada's, to which others are invited. */
async function openAccount(t: Parameters<typeof openPeople>[0]) {
  const people = await openPeople(t);
  const { control, passwords, client } = people;
  const ada = await people.signUp("ada@example.com");
  const owner = ada.person.id;
  const { number: account } = ada.account;
  const asked = (address: string, role: Role = "member", actor = owner) =>
    invite(control, { account, address, role, actor, now: noon });
  const accept = (token: string, password = "", now = noon) =>
    acceptInvitation(control, passwords, { token, password, client: client(), now });
  /** Signs up elsewhere and joins. */
  const join = async (address: string, role: Role = "member") => {
    const { person } = await people.signUp(address);
    await accept((await asked(address, role)).token);
    return person.id;
  };
  const roles = async () =>
    (await listMembers(control.database, account)).map(({ email, role }) => `${email} ${role}`);
  const change = { account, actor: owner, now: noon };
  return { ...people, ada, owner, account, asked, accept, join, roles, change };
}

test("an invitation makes somebody new a person and a member, signed in and looking at the account", async (t) => {
  const { control, ada, account, asked, accept, roles } = await openAccount(t);
  const { token, accountName } = await asked("bob@example.com");
  assert.equal(accountName, "ada");
  await assert.rejects(accept(token), faultOf("invalid", /at least 8/));
  const { signedIn, accountId } = await accept(token, goodPassword);
  assert.equal(accountId, ada.accountId);
  const user = await findSession(control, signedIn!.sessionToken, noon);
  assert.equal(user?.account?.number, account);
  assert.deepEqual(user?.accounts.length, 1);
  assert.deepEqual(await roles(), ["ada@example.com owner", "bob@example.com member"]);
});

test("an invitation makes somebody known a member, and signs nobody in by a link alone", async (t) => {
  const { signUp, asked, accept, roles } = await openAccount(t);
  await signUp("bob@example.com");
  const { token } = await asked("BOB@example.com", "owner");
  const { signedIn } = await accept(token, "whatever it is");
  assert.equal(signedIn, null);
  assert.deepEqual(await roles(), ["ada@example.com owner", "bob@example.com owner"]);
  await assert.rejects(accept(token), LinkFault);
  await assert.rejects(asked("bob@example.com"), faultOf("conflict", /already a member/));
});

test("whoever became a member meanwhile keeps the role they have", async (t) => {
  const { account, signUp, add, asked, accept, roles } = await openAccount(t);
  const { token } = await asked("bob@example.com", "owner");
  await add(account, (await signUp("bob@example.com")).person.id);
  await accept(token);
  assert.deepEqual(await roles(), ["ada@example.com owner", "bob@example.com member"]);
});

test("invitations are listed until they are followed, withdrawn or over", async (t) => {
  const { control, account, owner, asked, accept } = await openAccount(t);
  const listed = async (now = noon) =>
    (await listInvitations(control.database, account, now)).map(({ email }) => email);
  const bob = await asked("bob@example.com");
  const eve = await asked("eve@example.com", "owner");
  await asked("late@example.com");
  assert.deepEqual((await listed()).toSorted(), [
    "bob@example.com",
    "eve@example.com",
    "late@example.com",
  ]);
  await accept(bob.token, goodPassword);
  const withdrawn = { account, id: eve.id, actor: owner, now: noon };
  await withdrawInvitation(control, withdrawn);
  await assert.rejects(withdrawInvitation(control, withdrawn), faultOf("not_found"));
  await assert.rejects(accept(eve.token, goodPassword), LinkFault);
  assert.deepEqual(await listed(), ["late@example.com"]);
  assert.deepEqual(await listed(noon + 7 * 86_400_000), []);
});

test("an invitation to a closed account leads nowhere", async (t) => {
  const { control, asked, accept, change } = await openAccount(t);
  const { token } = await asked("bob@example.com");
  await closeAccount(control, change);
  await assert.rejects(accept(token, goodPassword), LinkFault);
});

test("the last owner can neither leave nor be demoted nor removed", async (t) => {
  const { control, account, owner, join, change, roles } = await openAccount(t);
  const bob = await join("bob@example.com");
  const refused = faultOf("conflict", /only owner.*else an owner first/);
  const leave = () => leaveAccount(control, { account, person: owner, now: noon });
  await assert.rejects(leave(), refused);
  await assert.rejects(removeMember(control, { ...change, person: owner }), refused);
  await assert.rejects(changeRole(control, { ...change, person: owner, role: "member" }), refused);
  assert.deepEqual(await roles(), ["ada@example.com owner", "bob@example.com member"]);
  await changeRole(control, { ...change, person: bob, role: "owner" });
  await leave();
  assert.deepEqual(await roles(), ["bob@example.com owner"]);
});

test("of two owners who leave or demote each other at one moment one stays", async (t) => {
  const { control, account, owner, join, roles } = await openAccount(t);
  const bob = await join("bob@example.com", "owner");
  await Promise.allSettled([
    leaveAccount(control, { account, person: owner, now: noon }),
    leaveAccount(control, { account, person: bob, now: noon }),
    changeRole(control, { account, person: bob, role: "member", actor: owner, now: noon }),
  ]);
  // If the demotion comes first, the other owner may still leave, as a member.
  assert.match((await roles()).join(), /^[a-z]+@example\.com owner$/);
});

test("a member changes nothing of the account, and whoever was removed is a stranger at once", async (t) => {
  const { control, account, owner, join, asked, change } = await openAccount(t);
  const bob = await join("bob@example.com");
  const byBob = { account, actor: bob, now: noon };
  const refusedAll = async (words: RegExp) => {
    const refused = faultOf("refused", words);
    await assert.rejects(asked("eve@example.com", "member", bob), refused);
    await assert.rejects(removeMember(control, { ...byBob, person: owner }), refused);
    await assert.rejects(changeRole(control, { ...byBob, person: bob, role: "owner" }), refused);
    await assert.rejects(withdrawInvitation(control, { ...byBob, id: "li_x" }), refused);
    await assert.rejects(renameAccount(control, { ...byBob, name: "Bob's" }), refused);
    await assert.rejects(closeAccount(control, byBob), refused);
  };
  await refusedAll(/Only the account's owners/);
  await removeMember(control, { ...change, person: bob });
  await refusedAll(/no longer a member/);
  await assert.rejects(
    removeMember(control, { ...change, person: bob }),
    faultOf("not_found", /no longer a member of the account/),
  );
});

test("whoever is no longer a member follows no view and stops none", async (t) => {
  const { control, account, owner, join, change } = await openAccount(t);
  const bob = await join("bob@example.com");
  const view = { kind: "gp", query: "", account, now: noon };
  const { id, secret } = await followView(control, { ...view, actor: owner });
  const refused = faultOf("refused", /no longer a member/);
  await removeMember(control, { ...change, person: bob });
  await assert.rejects(followView(control, { ...view, actor: bob }), refused);
  await assert.rejects(unfollowView(control, { id, account, actor: bob, now: noon }), refused);
  assert.equal((await findFollowedView(control.database, secret))?.id, id);
  await closeAccount(control, change);
  await assert.rejects(followView(control, { ...view, actor: owner }), refused);
});

test("an older invitation brings nobody back who was removed or left", async (t) => {
  const { control, account, asked, accept, join, change, roles } = await openAccount(t);
  const [ofBob, first] = [await asked("bob@example.com", "owner"), await asked("eve@example.com")];
  const second = await asked("eve@example.com", "owner");
  await removeMember(control, { ...change, person: await join("bob@example.com") });
  await assert.rejects(accept(ofBob.token), LinkFault);
  const { person } = await accept(first.token, goodPassword);
  await leaveAccount(control, { account, person: person.id, now: noon });
  await assert.rejects(accept(second.token), LinkFault);
  await accept((await asked("bob@example.com")).token);
  assert.deepEqual(await roles(), ["ada@example.com owner", "bob@example.com member"]);
});

test("a second invitation opens no account to whoever changed their address since", async (t) => {
  const { control, passwords, asked, accept, change, roles } = await openAccount(t);
  const [first, second] = [await asked("eve@example.com"), await asked("EVE@example.com", "owner")];
  const person = (await accept(first.token, goodPassword)).person.id;
  const order = { person, password: goodPassword, address: "eve@example.org", now: noon };
  const { token } = await requestAddressChange(control, passwords, order);
  await completeAddressChange(control, { token, now: noon });
  await removeMember(control, { ...change, person });
  await assert.rejects(accept(second.token, goodPassword), LinkFault);
  assert.deepEqual(await roles(), ["ada@example.com owner"]);
});

test("a session ends after 12 hours without a request, and after seven days however busy it is", async (t) => {
  const { control, signUp } = await openPeople(t);
  const { sessionToken } = await signUp("ada@example.com");
  for (let at = noon; at < noon + 7 * day; at += 11 * hour)
    assert.ok(await findSession(control, sessionToken, at));
  assert.ok(await findSession(control, sessionToken, noon + 7 * day - 1));
  assert.equal(await findSession(control, sessionToken, noon + 7 * day), undefined);
  const idle = await signUp("eve@example.com");
  assert.equal(await findSession(control, idle.sessionToken, noon + 12 * hour), undefined);
});

test("a token that is nobody's finds nobody", async (t) => {
  const { control, signUp } = await openPeople(t);
  await signUp("ada@example.com");
  for (const token of ["", "x", "x".repeat(43), "x".repeat(10_000)])
    assert.equal(await findSession(control, token, noon), undefined);
});

test("requests write when a session was seen at most once a minute", async (t) => {
  const { place, control, signUp } = await openPeople(t);
  const { sessionToken, person } = await signUp("ada@example.com");
  const seenAt = async () => (await listSessions(control.database, person.id, noon))[0]?.seenAt;
  await findSession(control, sessionToken, noon + minute - 1);
  assert.equal(await seenAt(), new Date(noon).toISOString());
  await findSession(control, sessionToken, noon + minute);
  assert.equal(await seenAt(), new Date(noon + minute).toISOString());
  const other = await openControl(place.dataDir, { ...place, busyMilliseconds: 0 });
  t.after(() => other.close());
  await control.write(async () => {
    assert.ok(await findSession(other, sessionToken, noon + hour), "though it cannot be written");
  });
});

test("a list shows where somebody is signed in, of an IPv6 address only the first 64 bits, and no token", async (t) => {
  const { control, signUp, tryIn } = await openPeople(t);
  const { person, session, sessionToken } = await signUp("ada@example.com");
  const second = clientAt("2001:db8:1:2:3:4:5:6");
  await tryIn("ada@example.com", goodPassword, noon + hour, second);
  const listed = await listSessions(control.database, person.id, noon + hour);
  assert.equal(listed.length, 2);
  assert.equal(listed[0]?.network, "2001:db8:1:2::/64");
  const at = new Date(noon).toISOString();
  const { network: _, ...rest } = listed[1]!;
  const browser = "Firefox on Linux";
  assert.deepEqual(rest, { id: session, createdAt: at, seenAt: at, browser });
  assert.ok(!JSON.stringify(listed).includes(sessionToken));
  assert.equal((await listSessions(control.database, person.id, noon + 12 * hour)).length, 1);
});

test("a session that is ended is over at once, and only its own person ends it", async (t) => {
  const { control, signUp, tryIn, actions } = await openPeople(t);
  const ada = await signUp("ada@example.com");
  const bob = await signUp("bob@example.com");
  const order = { person: bob.person.id, id: ada.session, now: noon };
  await assert.rejects(endSession(control, order), faultOf("not_found"));
  const second = await tryIn("ada@example.com", goodPassword);
  const own = { person: ada.person.id, own: ada.session, now: noon };
  await endSession(control, { ...own, id: second.session });
  assert.equal((await actions())[0], "person.session_ended");
  await endSession(control, { ...own, id: ada.session });
  assert.equal((await actions())[0], "person.signed_out");
  for (const { sessionToken } of [ada, second])
    assert.equal(await findSession(control, sessionToken, noon), undefined);
  assert.ok(await findSession(control, bob.sessionToken, noon));
});

test("a user looks at an account of theirs: the chosen one, else the oldest, never a closed one", async (t) => {
  const { control, signUp, add } = await openPeople(t);
  const ada = await signUp("ada@example.com");
  const bob = await signUp("bob@example.com");
  const person = ada.person.id;
  await add(bob.account.number, person, noon + 1);
  const chosen = async () => (await findSession(control, ada.sessionToken, noon))?.account?.id;
  const choose = (accountId: string) =>
    switchAccount(control, { person, session: ada.session, accountId });
  assert.equal(await chosen(), ada.accountId);
  await choose(bob.accountId);
  assert.equal(await chosen(), bob.accountId);
  await assert.rejects(choose("ac_0123456789abcdef"), faultOf("not_found"));
  await closeAccount(control, { account: bob.account.number, actor: bob.person.id, now: noon });
  assert.equal(await chosen(), ada.accountId);
  await closeAccount(control, { account: ada.account.number, actor: person, now: noon });
  const user = await findSession(control, ada.sessionToken, noon);
  assert.deepEqual(user?.accounts, []);
  assert.equal(user?.account, null);
});

test("what has ended is deleted from the store in time", async (t) => {
  const { control, signUp } = await openPeople(t);
  await signUp("ada@example.com");
  const count = async () => {
    const tables = ["session", "link", "throttle", "known_browser"] as const;
    const rows = tables.map((table) => control.database.selectFrom(table).selectAll().execute());
    return (await Promise.all(rows)).map(({ length }) => length > 0);
  };
  assert.deepEqual(await count(), [true, true, true, true]);
  await forgetOld(control, noon + 9 * day);
  assert.deepEqual(await count(), [false, false, false, true]);
  await forgetOld(control, noon + 181 * day);
  assert.deepEqual(await count(), [false, false, false, false]);
});
