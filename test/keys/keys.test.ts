import assert from "node:assert/strict";
import { createAccount, suspendAccount } from "#accounts/accounts.ts";
import { leaveAccount } from "#accounts/members.ts";
import {
  createdADayMax,
  createOwnKey,
  listKeys,
  liveKeysMax,
  overlaps,
  revokeKey,
  revokeOwnKey,
  rotateKey,
  rotateOwnKey,
} from "#keys/keys.ts";
import { makeToken } from "#store/random-text.ts";
import { controlWithAccount, day, hour, noon } from "../support/control.ts";
import { forEachStore as test } from "../support/for-each-store.ts";
import { faultOf, openPeople } from "../support/people.ts";

test("a list shows the state of every key, of one account or of all", async (t) => {
  const { control, account, issue } = await controlWithAccount(t);
  const other = await createAccount(control, { name: "Beta", quotas: {}, now: noon });
  await issue({ name: "active" });
  await issue({ name: "expiring", expiresAt: noon + 14 * day });
  await issue({ name: "expired", expiresAt: noon });
  const { id } = await issue({ name: "revoked" });
  await revokeKey(control, id, noon);
  await issue({ account: other, name: "suspended" });
  await suspendAccount(control, "Beta", noon);
  const all = await listKeys(control, { now: noon });
  assert.deepEqual(all.map((key) => key.state).toSorted(), all.map((key) => key.name).toSorted());
  for (const key of all) assert.equal(key.state, key.name);
  const some = await listKeys(control, { accountNumber: account.number, now: noon });
  assert.deepEqual(some.map(({ name }) => name).toSorted(), [
    "active",
    "expired",
    "expiring",
    "revoked",
  ]);
});

test("a revoked key keeps its row and the time of its first revocation", async (t) => {
  const { control, issue } = await controlWithAccount(t);
  const { id } = await issue();
  const first = await revokeKey(control, id, noon);
  assert.equal(first, "2026-11-21T12:00:00.000Z");
  assert.equal(await revokeKey(control, id, noon + day), first);
  const [listed] = await listKeys(control, { now: noon });
  assert.equal(listed?.revokedAt, first);
});

const at = (time: number) => new Date(time).toISOString();

test("the new key is given as long a life as the old one was, whose own is never lengthened, and is a demo's like it", async (t) => {
  const { control, issue } = await controlWithAccount(t);
  const { id } = await issue({ isDemo: true, expiresAt: noon + 90 * day });
  const order = { id, overlapMilliseconds: day, now: noon + 89.5 * day };
  const { issued, oldExpiresAt } = await rotateKey(control, order);
  assert.equal(issued.expiresAt, at(noon + 179.5 * day));
  assert.equal(oldExpiresAt, at(noon + 90 * day));
  const keys = await listKeys(control, { now: noon });
  assert.deepEqual([keys[0]?.isDemo, keys[1]?.isDemo], [true, true]);
});

test("a rotation ends the old key after the overlap, however far away its own end is", async (t) => {
  const { control, issue } = await controlWithAccount(t);
  const { id } = await issue({ expiresAt: Date.parse("+010000-01-01T00:00:00Z") });
  const { oldExpiresAt } = await rotateKey(control, { id, overlapMilliseconds: day, now: noon });
  assert.equal(oldExpiresAt, at(noon + day));
});

test("a key that is revoked, expired or rotated already is not rotated, and the error says what to do", async (t) => {
  const { control, issue } = await controlWithAccount(t);
  const rotate = (id: string) => rotateKey(control, { id, overlapMilliseconds: day, now: noon });
  const revoked = await issue();
  await revokeKey(control, revoked.id, noon);
  await assert.rejects(
    rotate(revoked.id),
    /was revoked at 2026-11-21 12:00:00 UTC.*Create a new key instead/,
  );
  const expired = await issue({ expiresAt: noon });
  await assert.rejects(
    rotate(expired.id),
    /expired at 2026-11-21 12:00:00 UTC.*Create a new key instead/,
  );
  const rotated = await issue();
  const { issued } = await rotate(rotated.id);
  await assert.rejects(rotate(rotated.id), new RegExp(`Rotate '${issued.id}'`));
  await assert.rejects(rotate("key_nothing"), /No key has the id 'key_nothing'.*keys list/);
  assert.equal((await listKeys(control, { now: noon })).length, 4);
});

async function openOwn(t: Parameters<typeof openPeople>[0]) {
  const people = await openPeople(t);
  const { control } = people;
  const { account, person } = await people.signUp("ada@example.com");
  const own = { account, person: person.id, now: noon };
  const order = (name: string, now: number, form: string) =>
    createOwnKey(control, { ...own, name, expiresAt: null, form, now });
  const create = async (name = "web", now = noon) => {
    const made = await order(name, now, makeToken());
    assert.ok("key" in made);
    return made;
  };
  const rotate = async (id: string, overlapMilliseconds: number, now = noon) => {
    const made = await rotateOwnKey(control, {
      ...own,
      id,
      overlapMilliseconds,
      form: makeToken(),
      now,
    });
    assert.ok("issued" in made);
    return made;
  };
  const keys = () => listKeys(control, { accountNumber: account.number, now: noon });
  return { ...people, account, person: person.id, own, order, create, rotate, keys };
}

test("a form that is sent again makes no second key, whoever resends it and whenever", async (t) => {
  const { control, own, order, keys } = await openOwn(t);
  const form = makeToken();
  const outcomes = await Promise.all(Array.from({ length: 5 }, () => order("web", noon, form)));
  const [made, ...others] = outcomes.toSorted((one) => ("key" in one ? -1 : 1));
  assert.ok(made !== undefined && "key" in made);
  for (const other of others) assert.deepEqual(other, { repeatedId: made.id });
  assert.equal((await keys()).length, 1);
  const rotation = { ...own, id: made.id, overlapMilliseconds: 0, form: makeToken() };
  const first = await rotateOwnKey(control, rotation);
  assert.ok("issued" in first);
  const repeated = await rotateOwnKey(control, rotation);
  assert.deepEqual(repeated, { repeatedId: first.issued.id });
  assert.equal((await keys()).length, 2);
});

test("an account has ten keys that work at most; one that is revoked makes room", async (t) => {
  const { control, own, create, keys } = await openOwn(t);
  for (let i = 0; i < liveKeysMax; i++) await create(`key ${i}`);
  await assert.rejects(create(), faultOf("conflict", /10 working keys, and the limit is 10/));
  const [first] = await keys();
  await revokeOwnKey(control, { ...own, id: first!.id });
  await create();
  await assert.rejects(create(), faultOf("conflict"));
});

test("ten keys can all be rotated, though old and new work side by side", async (t) => {
  const { create, rotate } = await openOwn(t);
  const made = [];
  for (let i = 0; i < liveKeysMax; i++) made.push(await create(`key ${i}`));
  for (const { id } of made) await rotate(id, 24 * hour);
});

test("an account makes twenty keys in 24 hours at most, rotations among them", async (t) => {
  const { control, own, create, rotate } = await openOwn(t);
  let { id } = await create();
  for (let i = 1; i < createdADayMax; i++) ({ id } = (await rotate(id, 0)).issued);
  const refused = faultOf(
    "conflict",
    / 20 keys in the last 24 hours, and the limit is 20\. .* after 2026-\S+ \S+ UTC\.$/,
  );
  await assert.rejects(rotate(id, 0), refused);
  await revokeOwnKey(control, { ...own, id });
  await assert.rejects(create(), refused);
  await assert.rejects(create("web", noon + day - 1), refused);
  await create("web", noon + day);
});

test("a rotation ends the old key at once or after one of the stated times, by anyone of the account", async (t) => {
  const { control, account, create, rotate, signUp, add, keys } = await openOwn(t);
  const bob = await signUp("bob@example.com");
  await add(account.number, bob.person.id);
  const choices = overlaps.map(({ milliseconds }) => milliseconds);
  assert.deepEqual(choices, [0, hour, 24 * hour, 7 * day]);
  for (const overlap of choices) {
    const { id } = await create(`over ${overlap}`);
    const { oldExpiresAt } = await rotate(id, overlap);
    assert.equal(oldExpiresAt, new Date(noon + overlap).toISOString());
    const old = (await keys()).find((key) => key.id === id);
    assert.equal(old?.state, overlap === 0 ? "expired" : "expiring");
  }
  const { id } = await create("of Ada");
  const order = { account, person: bob.person.id, id, form: makeToken(), now: noon };
  await assert.rejects(
    rotateOwnKey(control, { ...order, overlapMilliseconds: 2 * hour }),
    faultOf("invalid", /at once, in 1 hour, in 24 hours or in 7 days/),
  );
  const made = await rotateOwnKey(control, { ...order, overlapMilliseconds: hour });
  assert.ok("issued" in made);
  const fresh = (await keys()).find((key) => key.id === made.issued.id);
  assert.equal(fresh?.madeBy, bob.person.id);
});

test("whoever left an account has no say over its keys any more", async (t) => {
  const { control, account, create, signUp, add } = await openOwn(t);
  const { id } = await create();
  const bob = await signUp("bob@example.com");
  const person = bob.person.id;
  await add(account.number, person);
  await leaveAccount(control, { account: account.number, person, now: noon });
  const order = { account, person, now: noon };
  const refused = faultOf("refused", /no longer a member/);
  await assert.rejects(revokeOwnKey(control, { ...order, id }), refused);
  await assert.rejects(
    createOwnKey(control, { ...order, name: "late", expiresAt: null, form: makeToken() }),
    refused,
  );
});
