/** The ways out: leave the account, close it, delete oneself; each asks for the password. */
import { faultNote, field } from "#account/components/fields.ts";
import { accountPage, type Frame, framed } from "#account/components/frame.ts";
import { isLive, type KeyView, lastUseWords, readLiveKeys } from "#account/components/key-views.ts";
import { signedOut } from "#account/cookies.ts";
import { orAgain } from "#account/refusal.ts";
import { page, type Reply, seeOther } from "#account/reply.ts";
import type { AccountVisit, SignedInVisit } from "#account/request.ts";
import { type Route, route } from "#account/route.ts";
import { closeAccount } from "#accounts/close-account.ts";
import { deletePerson } from "#accounts/delete-person.ts";
import { leaveAccount, listMembers } from "#accounts/members.ts";
import type { Membership } from "#accounts/membership.ts";
import { confirmPassword } from "#accounts/sign-in.ts";
import { listKeys } from "#keys/keys.ts";
import { html, type Html, type Part } from "#pages/html.ts";

/** Asks for the password, then does it; else shows the page again with what is wrong. */
function confirmed(
  visit: SignedInVisit,
  act: () => Promise<Reply>,
  again: (fault: string) => string,
): Promise<Reply> {
  const { rooms, visitor, form, now } = visit;
  const order = { person: visitor.person.id, password: form.get("password") ?? "", now };
  return orAgain(async () => {
    await confirmPassword(rooms.control, rooms.passwords, order);
    return act();
  }, again);
}

const leaving = (visit: AccountVisit, fault?: string): string =>
  leavePage({ frame: framed(visit)!, fault });

const leave = (visit: AccountVisit): Promise<Reply> => {
  const { rooms, account, visitor, now } = visit;
  return confirmed(
    visit,
    async () => {
      const order = { account: account.number, person: visitor.person.id, now };
      await leaveAccount(rooms.control, order);
      return seeOther("/account/settings?done=left");
    },
    (fault) => leaving(visit, fault),
  );
};

async function closing(visit: AccountVisit): Promise<(fault?: string) => string> {
  const { rooms, account, now } = visit;
  const keys = await readLiveKeys(visit);
  const members = await listMembers(rooms.control.database, account.number);
  const view = { frame: framed(visit)!, keys, otherMembers: members.length - 1, now };
  return (fault) => closePage({ ...view, fault });
}

const close = async (visit: AccountVisit): Promise<Reply> => {
  const { rooms, account, visitor, now } = visit;
  return confirmed(
    visit,
    async () => {
      await closeAccount(rooms.control, {
        account: account.number,
        actor: visitor.person.id,
        now,
      });
      return seeOther("/account/settings?done=closed");
    },
    await closing(visit),
  );
};

async function deletion(visit: SignedInVisit): Promise<(fault?: string) => string> {
  const { accounts } = visit.visitor;
  const doomed = await Promise.all(accounts.map((account) => doomedAccount(visit, account)));
  return (fault) => deletePage({ frame: framed(visit)!, accounts: doomed, fault });
}

async function doomedAccount(
  { rooms, visitor, now }: SignedInVisit,
  { number, name }: Membership,
): Promise<DoomedAccount> {
  const members = await listMembers(rooms.control.database, number);
  const others = members.filter(({ person }) => person !== visitor.person.id);
  const keys = await listKeys(rooms.control, { accountNumber: number, now });
  const hasOtherOwner = others.some(({ role }) => role === "owner");
  const fate = others.length === 0 ? "closed" : hasOtherOwner ? "left" : "blocked";
  return { name, fate, keys: keys.filter(isLive).length };
}

const deleteOneself = async (visit: SignedInVisit): Promise<Reply> => {
  const { rooms, visitor, now } = visit;
  const { id: person } = visitor.person;
  return confirmed(
    visit,
    async () => {
      await deletePerson(rooms.control, { person, actor: person, now });
      return signedOut(visit, "/account/sign-in?done=deleted");
    },
    await deletion(visit),
  );
};

export const farewellRoutes: readonly Route[] = [
  route("/account/settings/leave", "member", {
    GET: (visit) => page(leaving(visit)),
    POST: leave,
  }),
  route("/account/settings/close", "owner", {
    GET: async (visit) => page((await closing(visit))()),
    POST: close,
  }),
  route("/account/settings/delete", "person", {
    GET: async (visit) => page((await deletion(visit))()),
    POST: deleteOneself,
  }),
];

/** The pages of what cannot be undone: what will break stands first, then the password is asked for. */
interface Farewell {
  frame: Frame;
  fault?: string | undefined;
}

const leavePage = ({ frame, fault }: Farewell): string =>
  farewell({
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

interface Closing extends Farewell {
  /** Those that still work. */
  keys: readonly KeyView[];
  otherMembers: number;
  /** Milliseconds since 1970. */
  now: number;
}

const closePage = ({ frame, keys, otherMembers, now, fault }: Closing): string =>
  farewell({
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

interface Deletion extends Farewell {
  accounts: readonly DoomedAccount[];
}

interface DoomedAccount {
  name: string;
  /** `blocked`: its only owner goes, and others stay. */
  fate: "closed" | "left" | "blocked";
  /** That work. */
  keys: number;
}

function deletePage({ frame, accounts, fault }: Deletion): string {
  const title = "Delete yourself?";
  const blocked = accounts.filter(({ fate }) => fate === "blocked");
  if (blocked.length > 0) return blockedPage(frame, title, blocked);
  return farewell({
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

interface Question extends Farewell {
  title: string;
  effects: readonly Part[];
  action: string;
  button: string;
}

const farewell = ({ frame, fault, title, effects, action, button }: Question): string =>
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
    ${field({ name: "password", label: "Your password", type: "password", autocomplete: "current-password" })}
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

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? "" : "s"}`;
