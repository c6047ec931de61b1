import assert from "node:assert/strict";
import { closeAccount } from "#accounts/accounts.ts";
import {
  endAllSessions,
  endSession,
  findSession,
  forgetOld,
  listSessions,
  switchAccount,
} from "#accounts/sessions.ts";
import { insertMember } from "#accounts/members.ts";
import { openControl } from "#store/stores.ts";
import { day, hour, minute, noon } from "../support/control.ts";
import { forEachStore as test } from "../support/for-each-store.ts";
import { faultOf, goodPassword, openPeople } from "../support/people.ts";

test("a session ends after 12 hours without a request", async (t) => {
  const { control, signUp } = await openPeople(t);
  const { sessionToken } = await signUp("ada@example.com");
  assert.ok(await findSession(control, sessionToken, noon + 11 * hour));
  assert.ok(await findSession(control, sessionToken, noon + 22 * hour));
  assert.equal(await findSession(control, sessionToken, noon + 34 * hour), undefined);
});

test("a session ends after seven days, however busy it is", async (t) => {
  const { control, signUp } = await openPeople(t);
  const { sessionToken, endsAt } = await signUp("ada@example.com");
  assert.equal(endsAt, new Date(noon + 7 * day).toISOString());
  for (let at = noon; at < noon + 7 * day; at += 11 * hour)
    assert.ok(await findSession(control, sessionToken, at));
  assert.ok(await findSession(control, sessionToken, noon + 7 * day - 1));
  assert.equal(await findSession(control, sessionToken, noon + 7 * day), undefined);
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

test("a list shows where somebody is signed in, and no token", async (t) => {
  const { control, signUp, tryIn } = await openPeople(t);
  const { person, session, sessionToken } = await signUp("ada@example.com");
  await tryIn("ada@example.com", goodPassword, noon + hour);
  const listed = await listSessions(control.database, person.id, noon + hour);
  assert.equal(listed.length, 2);
  assert.deepEqual(listed[1], {
    id: session,
    createdAt: new Date(noon).toISOString(),
    seenAt: new Date(noon).toISOString(),
    network: listed[1]?.network,
    browser: "Firefox on Linux",
  });
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
  await endSession(control, {
    person: ada.person.id,
    id: second.session,
    own: ada.session,
    now: noon,
  });
  assert.equal((await actions())[0], "person.session_ended");
  await endSession(control, { person: ada.person.id, id: ada.session, now: noon });
  assert.equal((await actions())[0], "person.signed_out");
  for (const { sessionToken } of [ada, second])
    assert.equal(await findSession(control, sessionToken, noon), undefined);
  assert.ok(await findSession(control, bob.sessionToken, noon));
});

test("all sessions of a person end together", async (t) => {
  const { control, signUp, tryIn } = await openPeople(t);
  const ada = await signUp("ada@example.com");
  await tryIn("ada@example.com", goodPassword);
  await tryIn("ada@example.com", goodPassword);
  assert.equal(await endAllSessions(control, { person: ada.person.id, now: noon }), 3);
  assert.equal(await findSession(control, ada.sessionToken, noon), undefined);
});

test("a user looks at an account of theirs: the chosen one, else the oldest, never a closed one", async (t) => {
  const { control, signUp } = await openPeople(t);
  const ada = await signUp("ada@example.com");
  const bob = await signUp("bob@example.com");
  const person = ada.person.id;
  await control.write((transaction) =>
    insertMember(transaction, {
      account: bob.account.number,
      person,
      role: "member",
      now: noon + 1,
    }),
  );
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
