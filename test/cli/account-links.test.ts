import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { openPasswords } from "#accounts/passwords.ts";
import { completeReset, completeSignUp } from "#accounts/credentials.ts";
import { acceptInvitation } from "#accounts/invitations.ts";
import { exitCodes } from "#cli/command-fault.ts";
import type { ControlStore } from "#store/stores.ts";
import { commandsOnStore } from "../support/all-commands.ts";
import { day, hour, noon } from "../support/control.ts";
import { forEachStore as test } from "../support/for-each-store.ts";
import { withControl } from "../support/own-account.ts";
import { cheap, clientAt, goodPassword } from "../support/people.ts";

async function openCommands(t: TestContext, settings: Record<string, string> = {}) {
  const commands = await commandsOnStore(t, settings);
  const use = <R>(work: (control: ControlStore) => Promise<R>) => withControl(commands, work);
  return { ...commands, withControl: use };
}

const tokenOf = (link: string) => new URL(link).searchParams.get("token")!;
const completion = (token: string) => ({
  token,
  password: goodPassword,
  accountName: null,
  client: clientAt("10.0.0.1"),
  now: noon,
});
const passwords = openPasswords(cheap);
const at = (time: number) => new Date(time).toISOString();

test("an operator without mail lets somebody sign up, choose a new password and join, by links that they print", async (t) => {
  const { json, withControl } = await openCommands(t);
  const address = "ada@example.com";
  const signUp = await json("accounts invite", address);
  assert.deepEqual(signUp, { address, link: signUp.link, expires_at: at(noon + 7 * day) });
  assert.match(signUp.link, /^http:\/\/127\.0\.0\.1:8080\/account\/link\?token=[\w-]{43}$/);
  await withControl((control) =>
    completeSignUp(control, passwords, completion(tokenOf(signUp.link))),
  );

  const reset = await json("accounts reset-link ADA@example.com");
  assert.equal(reset.expires_at, at(noon + hour));
  await withControl((control) =>
    completeReset(control, passwords, completion(tokenOf(reset.link))),
  );

  await json("accounts create --name Analysts");
  const invited = await json("accounts invite ada@example.com --account analysts");
  assert.equal(invited.expires_at, at(noon + 7 * day));
  const second = await json("accounts invite bob@example.com --account analysts");
  await withControl((control) =>
    acceptInvitation(control, passwords, completion(tokenOf(invited.link))),
  );
  const members = await json("accounts members Analysts");
  assert.deepEqual(
    members.map(({ address, role, invited_until }: any) => [address, role, invited_until]),
    [
      ["ada@example.com", "owner", null],
      ["bob@example.com", "owner", at(noon + 7 * day)],
    ],
  );
  assert.equal(second.address, "bob@example.com");
});

test("who is invited to an account without an owner becomes one, the others members, unless it is said; without one an invitation gives an account of their own", async (t) => {
  const { json, text, withControl } = await openCommands(t);
  await json("accounts create --name Analysts");
  const accept = (link: string) =>
    withControl((control) => acceptInvitation(control, passwords, completion(tokenOf(link))));
  for (const whom of ["ada@example.com", "bob@example.com", "eve@example.com --role owner"])
    await accept((await json(`accounts invite --account Analysts ${whom}`)).link);
  const members = await json("accounts members Analysts");
  const roles = members.map(({ role }: any) => role);
  assert.deepEqual(roles, ["owner", "member", "owner"]);
  const [link, words] = (await text("accounts invite zoe@example.com")).split("\n");
  assert.match(link!, /^http:\S+$/);
  assert.match(words!, /for zoe@example\.com works once, until 2026-11-28T12:00:00Z/);
  await withControl((control) => completeSignUp(control, passwords, completion(tokenOf(link!))));
  assert.equal((await json("accounts list")).at(-1).name, "zoe");
});

test("links lead to PUBLIC_URL, else to where the server listens, and nowhere if nobody can tell where", async (t) => {
  const linkWith = async (settings: Record<string, string>) =>
    (await (await openCommands(t, settings)).json("accounts invite ada@example.com")).link;
  assert.match(
    await linkWith({ PUBLIC_URL: "https://records.example/gp/" }),
    /^https:\/\/records\.example\/gp\/account\/link\?token=/,
  );
  assert.match(await linkWith({ HOST: "::1", PORT: "9" }), /^http:\/\/\[::1\]:9\/account\/link/);
  const ofThisMachine = /^http:\/\/(127\.0\.0\.1|\[::1\]):9\/account/;
  for (const HOST of ["0.0.0.0", "::"])
    assert.match(await linkWith({ HOST, PORT: "9" }), ofThisMachine);
  for (const [settings, words] of [
    [{ PORT: "0" }, /PORT is 0.*Set PUBLIC_URL/],
    [{ HOST: "10.0.0.5" }, /HOST is '10\.0\.0\.5'.*Set PUBLIC_URL/],
    [{ PUBLIC_URL: "http://records.example" }, /PUBLIC_URL is 'http:.*Set PUBLIC_URL to the https/],
  ] as [Record<string, string>, RegExp][]) {
    const { refusal } = await openCommands(t, settings);
    assert.match(await refusal(exitCodes.usage, "accounts invite ada@example.com"), words);
  }
});

test("what cannot be done is refused with what to do", async (t) => {
  const { refusal } = await openCommands(t);
  for (const [code, words, line] of [
    [exitCodes.usage, /not an e-mail address/, "invite ada"],
    [exitCodes.usage, /Allowed choices are owner, member/, "invite a@b.com --role king"],
    [exitCodes.usage, /Add --account, or leave out --role/, "invite a@b.com --role owner"],
    [exitCodes.conflict, /no account 'x'/, "invite a@b.com --account x"],
    [exitCodes.conflict, /Nobody has signed up with the address/, "reset-link eve@example.com"],
  ] as const)
    assert.match(await refusal(code, `accounts ${line}`), words, line);
});
