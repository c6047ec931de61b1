/** Leave the account, close it, or delete oneself: each page says what will happen and asks for the password. */
import { faultNote, passwordField } from "#account/components/form-fields.ts";
import { accountPage, type Frame, framed } from "#account/components/frame.ts";
import { type KeyView, lastUseWords, readLiveKeys } from "#account/components/key-views.ts";
import { signedOut } from "#account/cookies.ts";
import { orAgain } from "#account/refusal-reply.ts";
import { page, type Reply, seeOther } from "#account/reply.ts";
import type { MemberRequest, SignedInRequest } from "#account/request.ts";
import { type Route, route } from "#account/route.ts";
import { closeAccount } from "#accounts/close-account.ts";
import { deletePerson } from "#accounts/delete-person.ts";
import { leaveAccount, listMembers } from "#accounts/members.ts";
import type { Membership } from "#accounts/membership.ts";
import { confirmPassword } from "#accounts/sign-in.ts";
import { isLive, listKeys } from "#keys/keys.ts";
import { html, type Html, type Part } from "#pages/html.ts";
import { counted } from "#pages/prose.ts";

export const accountDeletionRoutes: readonly Route[] = [
  route("/account/settings/leave", "member", {
    GET: (request) => page(leaving(request)),
    POST: leave,
  }),
  route("/account/settings/close", "owner", {
    GET: async (request) => page((await closing(request))()),
    POST: close,
  }),
  route("/account/settings/delete", "person", {
    GET: async (request) => page((await deletion(request))()),
    POST: deleteOneself,
  }),
];

function leave(request: MemberRequest): Promise<Reply> {
  const { services, account, signedIn, now } = request;
  return confirmed(
    request,
    async () => {
      const order = { account: account.number, person: signedIn.person.id, now };
      await leaveAccount(services.control, order);
      return seeOther("/account/settings?done=left");
    },
    (fault) => leaving(request, fault),
  );
}

/** Checks the password before it acts; shows the page again with the error. */
function confirmed(
  request: SignedInRequest,
  act: () => Promise<Reply>,
  again: (fault: string) => string,
): Promise<Reply> {
  const { services, signedIn, form, now } = request;
  const order = { person: signedIn.person.id, password: form.get("password") ?? "", now };
  return orAgain(async () => {
    await confirmPassword(services.control, services.passwords, order);
    return act();
  }, again);
}

const leaving = (request: MemberRequest, fault?: string): string =>
  leavePage({ frame: framed(request)!, fault });

async function closing(request: MemberRequest): Promise<(fault?: string) => string> {
  const { services, account, now } = request;
  const keys = await readLiveKeys(request);
  const members = await listMembers(services.control.database, account.number);
  const view = { frame: framed(request)!, keys, otherMembers: members.length - 1, now };
  return (fault) => closePage({ ...view, fault });
}

async function close(request: MemberRequest): Promise<Reply> {
  const { services, account, signedIn, now } = request;
  return confirmed(
    request,
    async () => {
      await closeAccount(services.control, {
        account: account.number,
        actor: signedIn.person.id,
        now,
      });
      return seeOther("/account/settings?done=closed");
    },
    await closing(request),
  );
}

async function deletion(request: SignedInRequest): Promise<(fault?: string) => string> {
  const { accounts } = request.signedIn;
  const doomed = await Promise.all(accounts.map((account) => doomedAccount(request, account)));
  return (fault) => deletePage({ frame: framed(request)!, accounts: doomed, fault });
}

async function doomedAccount(
  { services, signedIn, now }: SignedInRequest,
  { number, name }: Membership,
): Promise<DoomedAccount> {
  const members = await listMembers(services.control.database, number);
  const others = members.filter(({ person }) => person !== signedIn.person.id);
  const keys = await listKeys(services.control, { accountNumber: number, now });
  const hasOtherOwner = others.some(({ role }) => role === "owner");
  const fate = others.length === 0 ? "closed" : hasOtherOwner ? "left" : "blocked";
  return { name, fate, keys: keys.filter(isLive).length };
}

async function deleteOneself(request: SignedInRequest): Promise<Reply> {
  const { services, signedIn, now } = request;
  const { id: person } = signedIn.person;
  return confirmed(
    request,
    async () => {
      await deletePerson(services.control, { person, actor: person, now });
      return signedOut(request, "/account/sign-in?done=deleted");
    },
    await deletion(request),
  );
}

interface Confirmation {
  frame: Frame;
  fault?: string | undefined;
}

const leavePage = ({ frame, fault }: Confirmation): string =>
  deletionPage({
    frame,
    fault,
    title: `Leave ${frame.account!.name}?`,
    effects: [
      "You no longer see its keys, its usage and its members.",
      "Keys that you made stay with the account and go on working.",
      "Only an owner can invite you again.",
    ],
    action: "/account/settings/leave",
    button: "Leave account",
  });

interface Closing extends Confirmation {
  /** Those that still work. */
  keys: readonly KeyView[];
  otherMembers: number;
  /** Milliseconds since 1970. */
  now: number;
}

const closePage = ({ frame, keys, otherMembers, now, fault }: Closing): string =>
  deletionPage({
    frame,
    fault,
    title: `Close ${frame.account!.name}?`,
    effects: [
      keys.length === 0
        ? "It has no key that works."
        : html`${counted(keys.length, "key")} would be refused from the next request on:
          ${keyList(keys, now)}`,
      otherMembers > 0 &&
        `${counted(otherMembers, "other member")} would be in this account no more.`,
      "The name is free for others. The operator keeps what was requested, under the id of the account.",
    ],
    action: "/account/settings/close",
    button: "Close account",
  });

interface Deletion extends Confirmation {
  accounts: readonly DoomedAccount[];
}

interface DoomedAccount {
  name: string;
  /** `blocked`: the person is its only owner, and others are in it. */
  fate: "closed" | "left" | "blocked";
  /** How many work. */
  keys: number;
}

function deletePage({ frame, accounts, fault }: Deletion): string {
  const title = "Delete yourself?";
  const blocked = accounts.filter(({ fate }) => fate === "blocked");
  if (blocked.length > 0) return blockedPage(frame, title, blocked);
  return deletionPage({
    frame,
    fault,
    title,
    effects: [
      "Your address, your password and your sessions are deleted at once; you can sign in no more.",
      ...accounts.map(({ name, fate, keys }) =>
        fate === "closed"
          ? html`${bold(name)} has nobody else, so it is closed with you:
            ${keys === 0 ? "it has no key that works." : `${counted(keys, "key")} would be refused from the next request on.`}`
          : html`You leave ${bold(name)}; keys that you made there go on working.`,
      ),
      "The audit log keeps your id, which then stands for nobody.",
    ],
    action: "/account/settings/delete",
    button: "Delete me",
  });
}

const blockedPage = (frame: Frame, title: string, blocked: readonly DoomedAccount[]): string =>
  accountPage({
    title,
    frame,
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

interface Question extends Confirmation {
  title: string;
  effects: readonly Part[];
  action: string;
  button: string;
}

const deletionPage = ({ frame, fault, title, effects, action, button }: Question): string =>
  accountPage({
    title,
    frame,
    main: html`<h1 class="name">${title}</h1>
      <ul>
        ${effects.map((effect) => effect !== false && html`<li>${effect}</li>`)}
      </ul>
      <p>This cannot be undone.</p>
      ${faultNote(fault)} ${passwordForm(action, button)}
      <p><a href="/account/settings">Back to the settings</a></p>`,
  });

const passwordForm = (action: string, button: string): Html =>
  html`<form class="form" method="post" action="${action}">
    ${passwordField("Your password")}
    <button class="danger">${button}</button>
  </form>`;

const keyList = (keys: readonly KeyView[], now: number): Html =>
  html`<ul>
    ${keys.map(
      (key) =>
        html`<li>
          ${bold(key.name)} (<code>${key.hint}…</code>), last used ${lastUseWords(key, now)}
        </li>`,
    )}
  </ul>`;

const bold = (name: string): Html => html`<strong class="name">${name}</strong>`;
