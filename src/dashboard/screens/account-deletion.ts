/** Pages to leave an account, close it or delete oneself. Each says what will happen and asks for the password. */
import { closeAccount } from "#accounts/accounts.ts";
import { deletePerson } from "#accounts/personal-data.ts";
import { leaveAccount, listMembers, type Membership } from "#accounts/members.ts";
import { confirmPassword } from "#accounts/sign-in.ts";
import { lastUseWords, readLiveKeys } from "./keys.ts";
import { accountPage, faultNote, passwordField } from "#dashboard/components/page.ts";
import { signedOut } from "#dashboard/cookies.ts";
import {
  acting,
  formRoute,
  type MemberRequest,
  type Reply,
  type Route,
  seeOther,
  type SignedInRequest,
} from "#dashboard/screen.ts";
import { isLive, listKeys } from "#keys/keys.ts";
import { html, type Html, type Part } from "#pages/html.ts";
import { counted } from "#pages/prose.ts";

export const accountDeletionRoutes: readonly Route[] = [
  formRoute("/account/settings/leave", "member", { page: leavePage, act: leave }),
  formRoute("/account/settings/close", "owner", { page: closePage, act: close }),
  formRoute("/account/settings/delete", "person", { page: deletePage, act: deleteOneself }),
];

async function leave(request: MemberRequest): Promise<Reply> {
  await confirm(request);
  const { account, actor: person, now } = acting(request);
  await leaveAccount(request.services.control, { account, person, now });
  return seeOther("/account/settings?done=left");
}

async function close(request: MemberRequest): Promise<Reply> {
  await confirm(request);
  await closeAccount(request.services.control, acting(request));
  return seeOther("/account/settings?done=closed");
}

async function deleteOneself(request: SignedInRequest): Promise<Reply> {
  const { services, signedIn, now } = request;
  await confirm(request);
  const { id: person } = signedIn.person;
  await deletePerson(services.control, { person, actor: person, now });
  return signedOut(request, "/account/sign-in?done=deleted");
}

/** Checks the password in the form. Rejects if it is wrong. */
function confirm({ services, signedIn, form, now }: SignedInRequest): Promise<void> {
  const order = { person: signedIn.person.id, password: form.get("password") ?? "", now };
  return confirmPassword(services.control, services.passwords, order);
}

function leavePage(request: MemberRequest, fault?: string): string {
  return question(request, fault, {
    title: `Leave ${request.account.name}?`,
    effects: [
      "You no longer see its keys, usage or members.",
      "Keys that you made stay with the account and go on working.",
      "Only an owner can invite you again.",
    ],
    button: "Leave account",
  });
}

async function closePage(request: MemberRequest, fault?: string): Promise<string> {
  const { services, account, now } = request;
  const keys = await readLiveKeys(request);
  const members = await listMembers(services.control.database, account.number);
  return question(request, fault, {
    title: `Close ${account.name}?`,
    effects: [
      keys.length === 0
        ? "It has no key that works."
        : html`${counted(keys.length, "key")} would be refused from the next request on:
            <ul>
              ${keys.map(
                (key) =>
                  html`<li>
                    ${bold(key.name)} (<code>${key.hint}…</code>), last used
                    ${lastUseWords(key, now)}
                  </li>`,
              )}
            </ul>`,
      members.length > 1 &&
        `${counted(members.length - 1, "other member")} would no longer be in this account.`,
      "The name is free for others. The operator keeps a record of its requests, under the account's id.",
    ],
    button: "Close account",
  });
}

async function deletePage(request: SignedInRequest, fault?: string): Promise<string> {
  const { accounts } = request.signedIn;
  const doomed = await Promise.all(accounts.map((account) => doomedAccount(request, account)));
  const title = "Delete your profile?";
  const blocked = doomed.filter(({ fate }) => fate === "blocked");
  if (blocked.length > 0)
    return accountPage(request, {
      title,
      main: html`<h1>${title}</h1>
        <p>Not yet: you are the only owner of an account that others are in.</p>
        <ul>
          ${blocked.map(({ name }) => html`<li>${bold(name)}</li>`)}
        </ul>
        <p>
          <a href="/account/members">Make somebody else an owner</a>, or
          <a href="/account/settings/close">close the account</a>, then come back.
        </p>`,
    });
  return question(request, fault, {
    title,
    effects: [
      "Your address, your password and your sessions are deleted at once. You can no longer sign in.",
      ...doomed.map(({ name, fate, keys }) =>
        fate === "closed"
          ? html`${bold(name)} has no other member, so it is closed:
            ${keys === 0 ? "it has no key that works." : `${counted(keys, "key")} would be refused from the next request on.`}`
          : html`You leave ${bold(name)}; keys that you made there go on working.`,
      ),
      "The audit log keeps your id, which then identifies nobody.",
    ],
    button: "Delete profile",
  });
}

/** Returns an account's fate if the person is deleted: `blocked` if others are members but none of them is an owner. */
async function doomedAccount(
  { services, signedIn, now }: SignedInRequest,
  { number, name }: Membership,
) {
  const members = await listMembers(services.control.database, number);
  const others = members.filter(({ person }) => person !== signedIn.person.id);
  const keys = await listKeys(services.control, { accountNumber: number, now });
  const hasOtherOwner = others.some(({ role }) => role === "owner");
  const fate = others.length === 0 ? "closed" : hasOtherOwner ? "left" : "blocked";
  return { name, fate, keys: keys.filter(isLive).length };
}

/** Returns a page that asks for the password before a step that cannot be undone. */
const question = (
  request: SignedInRequest,
  fault: string | undefined,
  { title, effects, button }: { title: string; effects: readonly Part[]; button: string },
): string =>
  accountPage(request, {
    title,
    main: html`<h1 class="name">${title}</h1>
      <ul>
        ${effects.map((effect) => effect !== false && html`<li>${effect}</li>`)}
      </ul>
      <p>This cannot be undone.</p>
      ${faultNote(fault)}
      <form class="form" method="post" action="${request.path}">
        ${passwordField("Your password")}
        <button class="danger">${button}</button>
      </form>
      <p><a href="/account/settings">Back to the settings</a></p>`,
  });

const bold = (name: string): Html => html`<strong class="name">${name}</strong>`;
