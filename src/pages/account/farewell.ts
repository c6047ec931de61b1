/** The pages of what cannot be undone: what will break stands first, then the password is asked for. */
import { html, type Html, type Part } from "#pages/html.ts";
import { faultNote, field } from "./fields.ts";
import { accountPage, type Frame } from "./frame.ts";
import { type KeyView, lastUseWords } from "./key-state.ts";

interface Farewell {
  frame: Frame;
  fault?: string | undefined;
}

export const leavePage = ({ frame, fault }: Farewell): string =>
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

export const closePage = ({ frame, keys, otherMembers, now, fault }: Closing): string =>
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

export interface DoomedAccount {
  name: string;
  /** `blocked`: its only owner goes, and others stay. */
  fate: "closed" | "left" | "blocked";
  /** That work. */
  keys: number;
}

export function deletePage({ frame, accounts, fault }: Deletion): string {
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
