import assert from "node:assert/strict";
import { listKeys, revokeKey, rotateKey } from "#keys/keys.ts";
import { controlWithAccount, day, hour, noon } from "../support/control.ts";
import { forEachStore as test } from "../support/for-each-store.ts";

const at = (time: number) => new Date(time).toISOString();

test("a rotation makes a second key on the same account and ends the old one after the overlap", async (t) => {
  const { control, account, issue } = await controlWithAccount(t);
  const { id } = await issue({ name: "web" });
  const rotation = await rotateKey(control, {
    id,
    overlapMilliseconds: 24 * hour,
    now: noon + hour,
  });
  assert.equal(rotation.oldExpiresAt, at(noon + 25 * hour));
  assert.equal(rotation.issued.account, account.id);
  assert.equal(rotation.issued.name, "web");
  assert.equal(rotation.issued.expiresAt, null);
  const [old] = (await listKeys(control, { now: noon })).filter((key) => key.id === id);
  assert.equal(old?.expiresAt, rotation.oldExpiresAt);
  assert.equal(old?.replacedBy, rotation.issued.id);
});

test("a rotation never lengthens the life of the old key", async (t) => {
  const { control, issue } = await controlWithAccount(t);
  const { id } = await issue({ expiresAt: noon + 2 * hour });
  const { oldExpiresAt } = await rotateKey(control, {
    id,
    overlapMilliseconds: day,
    now: noon + hour,
  });
  assert.equal(oldExpiresAt, at(noon + 2 * hour));
});

test("the new key is given as long a life as the old one was", async (t) => {
  const { control, issue } = await controlWithAccount(t);
  const { id } = await issue({ expiresAt: noon + 90 * day });
  const { issued } = await rotateKey(control, {
    id,
    overlapMilliseconds: day,
    now: noon + 80 * day,
  });
  assert.equal(issued.expiresAt, at(noon + 170 * day));
});

test("a key that is revoked, expired or rotated already is not rotated, and the error says what to do", async (t) => {
  const { control, issue } = await controlWithAccount(t);
  const rotate = (id: string) => rotateKey(control, { id, overlapMilliseconds: day, now: noon });
  const revoked = await issue();
  await revokeKey(control, revoked.id, noon);
  await assert.rejects(rotate(revoked.id), /was revoked at 2026-11-21T12:00:00.000Z.*keys create/);
  const expired = await issue({ expiresAt: noon });
  await assert.rejects(rotate(expired.id), /expired at 2026-11-21T12:00:00.000Z.*keys create/);
  const rotated = await issue();
  const { issued } = await rotate(rotated.id);
  await assert.rejects(rotate(rotated.id), new RegExp(`Rotate '${issued.id}'`));
  await assert.rejects(rotate("key_nothing"), /No key has the id 'key_nothing'/);
  assert.equal((await listKeys(control, { now: noon })).length, 4);
});

test("what a demo's key is rotated into is a demo's key", async (t) => {
  const { control, issue } = await controlWithAccount(t);
  const { id } = await issue({ isDemo: true });
  await rotateKey(control, { id, overlapMilliseconds: day, now: noon });
  assert.deepEqual(
    (await listKeys(control, { now: noon })).map((key) => key.isDemo),
    [true, true],
  );
});
