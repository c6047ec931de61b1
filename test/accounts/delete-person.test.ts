import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { closeAccount, createAccount, findAccount, setQuotas } from "#accounts/accounts.ts";
import { deletePerson } from "#accounts/delete-person.ts";
import { exportPerson } from "#accounts/export-person.ts";
import { listAudit } from "#store/audit.ts";
import { insertMember, listMembers } from "#accounts/members.ts";
import { noticeOnce } from "#accounts/notices.ts";
import { findSession } from "#accounts/sessions.ts";
import { issueKey, listKeys } from "#keys/keys.ts";
import { createOwnKey } from "#keys/own-keys.ts";
import { noon } from "../support/control.ts";
import { forEachStore as test } from "../support/for-each-store.ts";
import { faultOf, openPeople } from "../support/people.ts";

async function withKey(t: Parameters<typeof openPeople>[0]) {
  const people = await openPeople(t);
  const { control } = people;
  const ada = await people.signUp("ada@example.com");
  const order = { account: ada.account, person: ada.person.id, name: "web", expiresAt: null };
  const made = await createOwnKey(control, { ...order, form: "one", now: noon });
  assert.ok("issued" in made);
  const add = (person: string) =>
    control.write((transaction) =>
      insertMember(transaction, {
        account: ada.account.number,
        person,
        role: "member",
        now: noon + 1,
      }),
    );
  const change = { account: ada.account.number, actor: ada.person.id, now: noon };
  return { ...people, ada, key: made.issued, add, change };
}

test("a closed account has no key that works, no member and no name, and keeps its number", async (t) => {
  const { control, ada, change } = await withKey(t);
  await closeAccount(control, change);
  const closed = await findAccount(control.database, ada.accountId);
  assert.equal(closed?.number, ada.account.number);
  assert.equal(closed?.closedAt, new Date(noon).toISOString());
  assert.equal(closed?.name, ada.accountId);
  const keys = await listKeys(control, { now: noon });
  assert.deepEqual(
    keys.map(({ state }) => state),
    ["revoked"],
  );
  assert.deepEqual(await listMembers(control.database, ada.account.number), []);
  const next = await createAccount(control, { name: "ADA", quotas: {}, now: noon });
  assert.notEqual(next.number, ada.account.number);
});

test("nothing changes a closed account any more", async (t) => {
  const { control, ada, change } = await withKey(t);
  await closeAccount(control, change);
  const closed = faultOf("conflict", /was closed at/);
  await assert.rejects(setQuotas(control, ada.accountId, { day: 5 }, noon), closed);
  await assert.rejects(closeAccount(control, { ...change, actor: "operator" }), closed);
  const order = { account: ada.account, name: "late", expiresAt: null, now: noon };
  await assert.rejects(issueKey(control, order), closed);
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

test("a deleted address can sign up anew, as somebody else", async (t) => {
  const { control, ada, signUp } = await withKey(t);
  await deletePerson(control, { person: ada.person.id, actor: ada.person.id, now: noon });
  const again = await signUp("ada@example.com");
  assert.notEqual(again.person.id, ada.person.id);
  assert.equal(again.account.name, "ada");
});

test("the last owner of an account with others in it is not deleted, nor anything of them", async (t) => {
  const { control, ada, signUp, add } = await withKey(t);
  const bob = await signUp("bob@example.com");
  await add(bob.person.id);
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
  await add(bob.person.id);
  await control.write((transaction) =>
    noticeOnce(transaction, {
      account: ada.account.number,
      kind: "key.expiring",
      subject: key.id,
      now: noon,
    }),
  );
  const all: any = await exportPerson(control, ada.person.id, noon);
  assert.equal(all.person.email, "ada@example.com");
  assert.equal(all.sessions.length, 1);
  assert.equal(all.known_browsers.length, 1);
  assert.deepEqual(
    all.links.map(({ kind }: any) => kind),
    ["sign-up"],
  );
  assert.equal(all.accounts[0].keys[0].id, key.id);
  assert.equal(all.accounts[0].notices[0].subject, key.id);
  assert.deepEqual(
    all.accounts[0].members.map(({ person }: any) => person),
    [ada.person.id, bob.person.id],
  );
  assert.ok(all.audit.some(({ action }: any) => action === "key.created"));
  const text = JSON.stringify(all);
  for (const secret of ["bob@", "argon2", "digest", ada.sessionToken, ada.browserToken, key.key])
    assert.ok(!text.includes(secret), secret);
  // A guest of an account reads what they did there themselves, and no more.
  const guest: any = await exportPerson(control, bob.person.id, noon);
  assert.ok(guest.accounts.length === 2);
  assert.ok(!guest.audit.some(({ actor }: any) => actor === ada.person.id));
});
