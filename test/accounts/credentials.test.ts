import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { closeAccount, createAccount, findAccount, setQuotas } from "#accounts/accounts.ts";
import {
  changePassword,
  completeAddressChange,
  completeReset,
  requestAddressChange,
  requestLink,
} from "#accounts/credentials.ts";
import { deletePerson, exportPerson } from "#accounts/personal-data.ts";
import { findFollowedView, followView } from "#accounts/followed-views.ts";
import { listAudit } from "#store/audit.ts";
import { listMembers } from "#accounts/members.ts";
import { LinkFault } from "#accounts/one-time-links.ts";
import { findSession } from "#accounts/sessions.ts";
import { createOwnKey, issueKey, listKeys } from "#keys/keys.ts";
import { noon } from "../support/control.ts";
import { forEachStore as test } from "../support/for-each-store.ts";
import { faultOf, goodPassword, openPeople } from "../support/people.ts";

const nextPassword = "another good password";

/** Follows a link for a new password. */
const resetIn =
  ({ control, passwords, client }: Awaited<ReturnType<typeof openPeople>>) =>
  (token: string) => {
    const order = { token, password: nextPassword, client: client(), now: noon };
    return completeReset(control, passwords, order);
  };

test("another password ends every session, this one too, and every known browser", async (t) => {
  const { control, passwords, signUp, tryIn, client } = await openPeople(t);
  const ada = await signUp("ada@example.com");
  const second = await tryIn("ada@example.com", goodPassword);
  const order = { person: ada.person.id, password: goodPassword, next: nextPassword, now: noon };
  const from = { client: client(ada.browserToken) };
  const fresh = await changePassword(control, passwords, { ...order, ...from });
  for (const { sessionToken } of [ada, second])
    assert.equal(await findSession(control, sessionToken, noon), undefined);
  assert.ok(await findSession(control, fresh.sessionToken, noon));
  assert.notEqual(fresh.browserToken, ada.browserToken);
  await assert.rejects(tryIn("ada@example.com", goodPassword), faultOf("refused"));
  await tryIn("ada@example.com", nextPassword);
});

test("a link for a new password works once, ends all sessions and other links, and forgives wrong guesses", async (t) => {
  const people = await openPeople(t);
  const { control, passwords, signUp, tryIn, client } = people;
  const ada = await signUp("ada@example.com");
  // Asked for by somebody who knew the former password.
  const theirs = { person: ada.person.id, password: goodPassword, address: "eve@example.com" };
  const move = await requestAddressChange(control, passwords, { ...theirs, now: noon });
  for (let i = 0; i < 6; i++) await assert.rejects(tryIn("ada@example.com", "wrong"));
  const ask = () =>
    requestLink(control, "reset", { address: "ADA@example.com", client: client(), now: noon });
  const [one, other] = [await ask(), await ask()];
  const reset = resetIn(people);
  const signedIn = await reset(one!.token);
  assert.equal(await findSession(control, ada.sessionToken, noon), undefined);
  assert.ok(await findSession(control, signedIn.sessionToken, noon));
  for (const link of [one, other]) await assert.rejects(reset(link!.token), LinkFault);
  await assert.rejects(completeAddressChange(control, { token: move.token, now: noon }), LinkFault);
  await tryIn("ada@example.com", nextPassword);
});

test("asking for a new password of an address of nobody's stores nothing of it", async (t) => {
  const { control, client } = await openPeople(t);
  const ask = { address: "eve@example.com", client: client(), now: noon };
  const { isKnown, email } = await requestLink(control, "reset", ask);
  assert.deepEqual([isKnown, email], [false, ""]);
  const rows = await control.database.selectFrom("link").selectAll().execute();
  assert.equal(rows.length, 1);
  assert.ok(!JSON.stringify(rows).includes("eve@"));
});

test("an address that somebody has, or takes meanwhile, is not given to another; one's own may be written another way", async (t) => {
  const { control, passwords, signUp } = await openPeople(t);
  const ada = await signUp("ada@example.com");
  await signUp("bob@example.com");
  const order = { person: ada.person.id, now: noon };
  const ask = (address: string, password = goodPassword) =>
    requestAddressChange(control, passwords, { ...order, password, address });
  const known = await ask("BOB@example.com");
  assert.equal(known.isKnown, true);
  assert.deepEqual([known.token, known.email], ["", "bob@example.com"]);
  await assert.rejects(ask("new@example.com", "wrong"), faultOf("refused"));
  const { token } = await ask("new@example.com");
  await signUp("new@example.com");
  await assert.rejects(completeAddressChange(control, { token, now: noon }), faultOf("conflict"));
  const own = await ask("Ada@Example.com");
  assert.equal(own.isKnown, false);
  const changed = await completeAddressChange(control, { token: own.token, now: noon });
  assert.equal(changed.person.email, "Ada@Example.com");
});

async function withKey(t: Parameters<typeof openPeople>[0]) {
  const people = await openPeople(t);
  const { control } = people;
  const ada = await people.signUp("ada@example.com");
  const order = { account: ada.account, person: ada.person.id, name: "web", expiresAt: null };
  const made = await createOwnKey(control, { ...order, form: "one", now: noon });
  assert.ok("key" in made);
  const change = { account: ada.account.number, actor: ada.person.id, now: noon };
  return { ...people, ada, key: made, change };
}

test("a closed account has no key that works, no member and no name, keeps its number and is never changed again", async (t) => {
  const { control, ada, change } = await withKey(t);
  await closeAccount(control, change);
  const closed = await findAccount(control.database, ada.accountId);
  assert.equal(closed?.number, ada.account.number);
  assert.equal(closed?.closedAt, new Date(noon).toISOString());
  assert.equal(closed?.name, ada.accountId);
  const keys = await listKeys(control, { now: noon });
  const states = keys.map(({ state }) => state);
  assert.deepEqual(states, ["revoked"]);
  assert.deepEqual(await listMembers(control.database, ada.account.number), []);
  const next = await createAccount(control, { name: "ADA", quotas: {}, now: noon });
  assert.notEqual(next.number, ada.account.number);
  const refused = faultOf("conflict", /was closed on/);
  await assert.rejects(setQuotas(control, ada.accountId, { day: 5 }, noon), refused);
  await assert.rejects(closeAccount(control, { ...change, actor: "operator" }), refused);
  const order = { account: ada.account, name: "late", expiresAt: null, now: noon };
  await assert.rejects(issueKey(control, order), refused);
});

test("of a deleted person nothing is left in the store but ids in the audit log", async (t) => {
  const { dataDir, control, ada, tryIn, askFor } = await withKey(t);
  await assert.rejects(tryIn("ada@example.com", "wrong"));
  await askFor("ADA@example.com");
  await deletePerson(control, { person: ada.person.id, actor: ada.person.id, now: noon });
  assert.equal(await findSession(control, ada.sessionToken, noon), undefined);
  for (const table of ["person", "member", "session", "known_browser", "link"] as const)
    assert.deepEqual(await control.database.selectFrom(table).selectAll().execute(), [], table);
  const audit = await listAudit(control.database, { limit: 100 });
  assert.equal(audit[0]?.action, "person.deleted");
  assert.equal(audit[0]?.subject, ada.person.id);
  assert.doesNotMatch(JSON.stringify(audit), /@|"ada"/);
  const account = await findAccount(control.database, ada.accountId);
  assert.ok(account?.closedAt !== null, "an account with nobody else is closed");
  await control.close();
  for (const file of readdirSync(dataDir))
    assert.ok(!/ada@/i.test(readFileSync(join(dataDir, file), "latin1")), file);
});

test("a deleted person's feeds end, in an account of others too, and those of the others go on", async (t) => {
  const { control, ada, signUp, add } = await withKey(t);
  const bob = await signUp("bob@example.com");
  await add(ada.account.number, bob.person.id, noon + 1);
  const follow = (actor: string) => {
    const order = { kind: "gp", query: "", account: ada.account.number, actor, now: noon };
    return followView(control, order);
  };
  const [ofAda, ofBob] = [await follow(ada.person.id), await follow(bob.person.id)];
  await deletePerson(control, { person: bob.person.id, actor: bob.person.id, now: noon });
  assert.equal(await findFollowedView(control.database, ofBob.secret), null);
  assert.equal((await findFollowedView(control.database, ofAda.secret))?.id, ofAda.id);
  await deletePerson(control, { person: ada.person.id, actor: ada.person.id, now: noon });
  const left = await control.database.selectFrom("followed_view").selectAll().execute();
  assert.deepEqual(left, []);
});

test("the last owner of an account with others in it is not deleted, nor anything of them", async (t) => {
  const { control, ada, signUp, add } = await withKey(t);
  const bob = await signUp("bob@example.com");
  await add(ada.account.number, bob.person.id, noon + 1);
  const gone = (person: string) => deletePerson(control, { person, actor: person, now: noon });
  await assert.rejects(gone(ada.person.id), faultOf("conflict", /only owner/));
  assert.ok(await findSession(control, ada.sessionToken, noon));
  await gone(bob.person.id);
  assert.equal((await listMembers(control.database, ada.account.number)).length, 1);
  await gone(ada.person.id);
  await assert.rejects(gone(ada.person.id), faultOf("not_found"));
});

test("an export has all that is stored of a person and their accounts, and no secret", async (t) => {
  const { control, ada, key, add, signUp } = await withKey(t);
  const bob = await signUp("bob@example.com");
  await add(ada.account.number, bob.person.id, noon + 1);
  const notice = { account: ada.account.number, kind: "key.expiring", subject: key.id, at: "now" };
  await control.database.insertInto("notice").values(notice).execute();
  const acting = { account: ada.account.number, actor: ada.person.id, now: noon };
  const followed = await followView(control, { kind: "gp", query: "hq_state=TX", ...acting });
  const all: any = await exportPerson(control, ada.person.id, noon);
  assert.equal(all.person.email, "ada@example.com");
  assert.equal(all.sessions.length, 1);
  assert.equal(all.known_browsers.length, 1);
  const kinds = all.links.map(({ kind }: any) => kind);
  assert.deepEqual(kinds, ["sign-up"]);
  assert.equal(all.accounts[0].keys[0].id, key.id);
  assert.equal(all.accounts[0].notices[0].subject, key.id);
  const [view] = all.accounts[0].followed_views;
  assert.deepEqual([view.id, view.kind, view.query], [followed.id, "gp", "hq_state=TX"]);
  const people = all.accounts[0].members.map(({ person }: any) => person);
  assert.deepEqual(people, [ada.person.id, bob.person.id]);
  assert.ok(all.audit.some(({ action }: any) => action === "key.created"));
  const text = JSON.stringify(all);
  const { sessionToken, browserToken } = ada;
  const secrets = [sessionToken, browserToken, key.key, followed.secret];
  for (const secret of ["bob@", "argon2", "digest", ...secrets])
    assert.ok(!text.includes(secret), secret);
  // A guest of an account reads what they did there themselves, and no more.
  const guest: any = await exportPerson(control, bob.person.id, noon);
  assert.ok(guest.accounts.length === 2);
  assert.ok(!guest.audit.some(({ actor }: any) => actor === ada.person.id));
});
