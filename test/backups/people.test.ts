import assert from "node:assert/strict";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { closeAccount } from "#accounts/accounts.ts";
import { findFollowedView, followView, unfollowView } from "#accounts/followed-views.ts";
import { changePassword, completeSignUp, requestLink, signIn } from "#accounts/credentials.ts";
import { acceptInvitation, invite } from "#accounts/invitations.ts";
import { deletePerson } from "#accounts/personal-data.ts";
import { changeRole, listMembers, removeMember } from "#accounts/members.ts";
import { openPasswords } from "#accounts/passwords.ts";
import { findPerson } from "#accounts/people.ts";
import { findSession } from "#accounts/sessions.ts";
import { restoredText } from "#cli/backup.ts";
import { listAudit } from "#store/audit.ts";
import type { ControlStore } from "#store/stores.ts";
import { noon } from "../support/control.ts";
import { cheap, clientAt, faultOf, goodPassword } from "../support/people.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { backup, restore, withControl } from "./backed-up.ts";

const passwords = openPasswords(cheap);
const nextPassword = "another good password";
const client = clientAt("10.0.0.1");

async function signUp(control: ControlStore, address: string) {
  const { token } = await requestLink(control, "sign-up", { address, client, now: noon });
  return completeSignUp(control, passwords, {
    token,
    password: goodPassword,
    accountName: null,
    client,
    now: noon,
  });
}

/** Ada owns an account with Bob and Eve in it as owners; a backup was made of that. */
async function backedUpPeople(t: TestContext) {
  const dataDir = join(temporaryFolder(t), "data");
  const file = join(temporaryFolder(t), "backup.tar");
  const change = <R>(work: (control: ControlStore) => Promise<R>) => withControl(dataDir, work);
  const people = await change(async (control) => {
    const ada = await signUp(control, "ada@example.com");
    const others = [];
    for (const address of ["bob@example.com", "eve@example.com"]) {
      const order = { account: 1, address, role: "owner", actor: ada.person.id } as const;
      const { token } = await invite(control, { ...order, now: noon });
      const completion = { token, password: goodPassword, accountName: null, client, now: noon };
      others.push((await acceptInvitation(control, passwords, completion)).person);
    }
    return { ada, bob: others[0]!, eve: others[1]! };
  });
  await backup(dataDir, file);
  const byAda = { account: 1, actor: people.ada.person.id, now: noon };
  const roles = () =>
    change(async ({ database }) =>
      (await listMembers(database, 1)).map(({ email, role }) => `${email} ${role}`),
    );
  return { dataDir, file, change, byAda, roles, ...people };
}

test("people are in a backup, but nobody is signed in after it and no link works, and the audit log says that it was restored", async (t) => {
  const { file, ada } = await backedUpPeople(t);
  const dataDir = join(temporaryFolder(t), "new");
  await restore(dataDir, file);
  await withControl(dataDir, async (control) => {
    assert.equal(await findSession(control, ada.sessionToken, noon), undefined);
    assert.deepEqual(await control.database.selectFrom("link").selectAll().execute(), []);
    const order = { address: "ada@example.com", password: goodPassword, client, now: noon };
    await signIn(control, passwords, order);
    const action = "backup.restored";
    const [restored] = await listAudit(control.database, { action, limit: 1 });
    assert.equal(restored?.subject, new Date(noon).toISOString());
  });
});

test("whoever was deleted, removed or demoted after the backup stays so, and a changed password stays changed", async (t) => {
  const { dataDir, file, change, byAda, roles, ada, bob, eve } = await backedUpPeople(t);
  const late = await change(async (control) => {
    await changeRole(control, { ...byAda, person: bob.id, role: "member" });
    await removeMember(control, { ...byAda, person: eve.id });
    const order = { person: ada.person.id, password: goodPassword, next: nextPassword };
    await changePassword(control, passwords, { ...order, client, now: noon });
    return signUp(control, "late@example.com");
  });
  const { kept, lostPeople } = await restore(dataDir, file, { mayReplace: true });
  assert.deepEqual(
    kept.map(({ what, name }) => `${what} ${name}`),
    ["password ada@example.com", "demoted bob@example.com", "removed eve@example.com"],
  );
  const ids = lostPeople.map(({ id }) => id);
  assert.deepEqual(ids, [late.person.id]);
  assert.deepEqual(await roles(), ["ada@example.com owner", "bob@example.com member"]);
  await change(async (control) => {
    const order = { address: "ada@example.com", client, now: noon };
    const old = signIn(control, passwords, { ...order, password: goodPassword });
    await assert.rejects(old, faultOf("refused"));
    await signIn(control, passwords, { ...order, password: nextPassword });
  });
});

test("a deleted person stays deleted, also when an earlier backup is restored after a later one", async (t) => {
  const { dataDir, file, change, roles, eve } = await backedUpPeople(t);
  await change((control) => deletePerson(control, { person: eve.id, actor: eve.id, now: noon }));
  for (let i = 0; i < 2; i++) {
    const { kept } = await restore(dataDir, file, { mayReplace: true });
    const found = kept.map(({ what, id, at }) => ({ what, id, at }));
    assert.deepEqual(found, [{ what: "deleted", id: eve.id, at: new Date(noon).toISOString() }]);
    assert.deepEqual(await roles(), ["ada@example.com owner", "bob@example.com owner"]);
  }
});

/** The same, and a view that was followed at the time of the backup and is no more. */
async function backedUpFollower(t: TestContext) {
  const { dataDir, change, byAda } = await backedUpPeople(t);
  const view = { kind: "gp", query: "market=dallas" };
  const { id, secret } = await change((control) => followView(control, { ...view, ...byAda }));
  const file = join(temporaryFolder(t), "later.tar");
  await backup(dataDir, file);
  await change((control) => unfollowView(control, { id, ...byAda }));
  return { dataDir, file, change, byAda, id, secret };
}

test("a feed that was stopped stays stopped, also when the same backup is restored again", async (t) => {
  const { dataDir, file, change, id, secret } = await backedUpFollower(t);
  for (let i = 0; i < 2; i++) {
    const { kept } = await restore(dataDir, file, { mayReplace: true });
    assert.deepEqual(
      kept.map(({ what, id: ended }) => ({ what, id: ended })),
      [{ what: "unfollowed", id }],
    );
    await change(async ({ database }) =>
      assert.equal(await findFollowedView(database, secret), null),
    );
  }
});

test("a feed that was stopped before its account was closed stays stopped", async (t) => {
  const { dataDir, file, change, byAda } = await backedUpFollower(t);
  await change((control) => closeAccount(control, byAda));
  const { kept } = await restore(dataDir, file, { mayReplace: true });
  assert.deepEqual(
    kept.map(({ what, account }) => `${what} ${account}`),
    ["closed ada", "unfollowed ada"],
  );
});

test("a closed account stays closed, its keys revoked and its members out", async (t) => {
  const { dataDir, file, change, byAda, roles } = await backedUpPeople(t);
  await change((control) => closeAccount(control, byAda));
  const { kept } = await restore(dataDir, file, { mayReplace: true });
  const found = kept.map(({ what, name }) => `${what} ${name}`);
  assert.deepEqual(found, ["closed ada"]);
  assert.deepEqual(await roles(), []);
  await change(async ({ database }) => {
    const account = await database.selectFrom("account").selectAll().executeTakeFirstOrThrow();
    assert.equal(account.closed_at, new Date(noon).toISOString());
    assert.equal(account.name, account.id);
  });
});

test("all of it comes back only if that is said, and every ending is named for the operator", async (t) => {
  const { dataDir, file, change, byAda, roles, eve, bob } = await backedUpPeople(t);
  await change(async (control) => {
    await deletePerson(control, { person: eve.id, actor: eve.id, now: noon });
    await removeMember(control, { ...byAda, person: bob.id });
  });
  const options = { mayReplace: true, undoesEndings: true };
  const restored = await restore(dataDir, file, options);
  assert.deepEqual(restored.kept, []);
  const text = restoredText(restored, file, false);
  assert.match(
    text,
    /makes these WORK AGAIN:\n {2}person pe_\S+ eve@example\.com, deleted at 2026-11-21T12/,
  );
  assert.match(text, /membership of the person pe_\S+ bob@example\.com in the account 'ada'/);
  assert.equal((await roles()).length, 3);
  await change(async ({ database }) => assert.ok(await findPerson(database, "eve@example.com")));
});

test("a backup of another folder takes nobody for deleted", async (t) => {
  const { file } = await backedUpPeople(t);
  const dataDir = join(temporaryFolder(t), "other");
  await withControl(dataDir, (control) => signUp(control, "somebody@example.com"));
  const { kept, lostPeople } = await restore(dataDir, file, { mayReplace: true });
  assert.deepEqual(kept, []);
  assert.equal(lostPeople.length, 1);
  await withControl(dataDir, async ({ database }) => {
    assert.equal((await database.selectFrom("person").selectAll().execute()).length, 3);
  });
});
