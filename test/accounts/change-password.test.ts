import assert from "node:assert/strict";
import { completeAddressChange, requestAddressChange } from "#accounts/change-address.ts";
import {
  changePassword,
  completeReset,
  makeResetLink,
  requestReset,
} from "#accounts/change-password.ts";
import { LinkFault } from "#accounts/one-time-links.ts";
import { findSession } from "#accounts/sessions.ts";
import { noon } from "../support/control.ts";
import { forEachStore as test } from "../support/for-each-store.ts";
import { faultOf, goodPassword, openPeople } from "../support/people.ts";

const nextPassword = "another good password";

test("another password ends every session, this one too, and every known browser", async (t) => {
  const { control, passwords, signUp, tryIn, client } = await openPeople(t);
  const ada = await signUp("ada@example.com");
  const second = await tryIn("ada@example.com", goodPassword);
  const fresh = await changePassword(control, passwords, {
    person: ada.person.id,
    present: goodPassword,
    next: nextPassword,
    client: client(ada.browserToken),
    now: noon,
  });
  for (const { sessionToken } of [ada, second])
    assert.equal(await findSession(control, sessionToken, noon), undefined);
  assert.ok(await findSession(control, fresh.sessionToken, noon));
  assert.notEqual(fresh.browserToken, ada.browserToken);
  await assert.rejects(tryIn("ada@example.com", goodPassword), faultOf("refused"));
  await tryIn("ada@example.com", nextPassword);
});

test("a wrong present password, or a next one that will not do, changes nothing", async (t) => {
  const { control, passwords, signUp, client } = await openPeople(t);
  const { person, sessionToken } = await signUp("ada@example.com");
  const change = (present: string, next: string) =>
    changePassword(control, passwords, {
      person: person.id,
      present,
      next,
      client: client(),
      now: noon,
    });
  await assert.rejects(change("wrong", nextPassword), faultOf("refused"));
  await assert.rejects(change(goodPassword, "short"), faultOf("invalid"));
  await assert.rejects(change(goodPassword, "ADA@example.com"), faultOf("invalid"));
  assert.ok(await findSession(control, sessionToken, noon));
});

test("a link for a new password works once, ends all sessions and other links, and forgives wrong guesses", async (t) => {
  const { control, passwords, signUp, tryIn, client } = await openPeople(t);
  const ada = await signUp("ada@example.com");
  for (let i = 0; i < 6; i++) await assert.rejects(tryIn("ada@example.com", "wrong"));
  const ask = () =>
    requestReset(control, { address: "ADA@example.com", client: client(), now: noon });
  const [one, other] = [await ask(), await ask()];
  const reset = (token: string) =>
    completeReset(control, passwords, {
      token,
      password: nextPassword,
      client: client(),
      now: noon,
    });
  const signedIn = await reset(one!.token);
  assert.equal(await findSession(control, ada.sessionToken, noon), undefined);
  assert.ok(await findSession(control, signedIn.sessionToken, noon));
  for (const link of [one, other]) await assert.rejects(reset(link!.token), LinkFault);
  await tryIn("ada@example.com", nextPassword);
});

test("asking for a new password of an address of nobody's stores nothing of it", async (t) => {
  const { control, client } = await openPeople(t);
  const ask = { address: "eve@example.com", client: client(), now: noon };
  assert.equal(await requestReset(control, ask), null);
  const rows = await control.database.selectFrom("link").selectAll().execute();
  assert.equal(rows.length, 1);
  assert.ok(!JSON.stringify(rows).includes("eve@"));
});

test("an operator's link for a new password is for somebody who is there", async (t) => {
  const { control, passwords, signUp, client, tryIn } = await openPeople(t);
  await signUp("ada@example.com");
  const make = (address: string) => makeResetLink(control, { address, now: noon });
  await assert.rejects(make("eve@example.com"), faultOf("not_found", /eve@example\.com/));
  const { token } = await make("ada@EXAMPLE.com");
  await completeReset(control, passwords, {
    token,
    password: nextPassword,
    client: client(),
    now: noon,
  });
  await tryIn("ada@example.com", nextPassword);
});

test("an address is changed by the link to the new one, and links to the old one end", async (t) => {
  const { control, passwords, signUp, client, tryIn } = await openPeople(t);
  const { person } = await signUp("ada@example.com");
  const old = await requestReset(control, {
    address: "ada@example.com",
    client: client(),
    now: noon,
  });
  const order = { person: person.id, password: goodPassword, now: noon };
  const { token, isKnown } = await requestAddressChange(control, passwords, {
    ...order,
    address: "Countess@example.com",
  });
  assert.equal(isKnown, false);
  await tryIn("ada@example.com", goodPassword);
  const changed = await completeAddressChange(control, { token, now: noon });
  assert.equal(changed.person.email, "Countess@example.com");
  assert.equal(changed.formerEmail, "ada@example.com");
  await tryIn("countess@example.com", goodPassword);
  await assert.rejects(tryIn("ada@example.com", goodPassword), faultOf("refused"));
  await assert.rejects(
    completeReset(control, passwords, {
      token: old!.token,
      password: nextPassword,
      client: client(),
      now: noon,
    }),
    LinkFault,
  );
});

test("an address that somebody has, or takes meanwhile, is not given to another", async (t) => {
  const { control, passwords, signUp } = await openPeople(t);
  const ada = await signUp("ada@example.com");
  await signUp("bob@example.com");
  const ask = (address: string, password = goodPassword) =>
    requestAddressChange(control, passwords, {
      person: ada.person.id,
      password,
      address,
      now: noon,
    });
  const known = await ask("BOB@example.com");
  assert.equal(known.isKnown, true);
  assert.equal(known.token, "");
  await assert.rejects(ask("new@example.com", "wrong"), faultOf("refused"));
  const { token } = await ask("new@example.com");
  await signUp("new@example.com");
  await assert.rejects(completeAddressChange(control, { token, now: noon }), faultOf("conflict"));
});

test("one's own address may be written another way", async (t) => {
  const { control, passwords, signUp } = await openPeople(t);
  const { person } = await signUp("ada@example.com");
  const { token, isKnown } = await requestAddressChange(control, passwords, {
    person: person.id,
    password: goodPassword,
    address: "Ada@Example.com",
    now: noon,
  });
  assert.equal(isKnown, false);
  const changed = await completeAddressChange(control, { token, now: noon });
  assert.equal(changed.person.email, "Ada@Example.com");
});
