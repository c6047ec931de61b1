/** The page of settings: what we know of you, what your account is called, and the ways out. */
import { html, type Html, type Part } from "#pages/html.ts";
import { doneNote } from "./done.ts";
import { faultNote, field } from "./fields.ts";
import { accountPage, type Frame } from "./frame.ts";
import { relativeTime } from "./relative.ts";

interface SettingsView {
  frame: Frame;
  /** Of the person. */
  createdAt: string;
  done: string | null;
  /** What was typed for the name of the account, and what is wrong with it. */
  typedName?: string;
  fault?: string | undefined;
  /** Milliseconds since 1970. */
  now: number;
}

const sentences = {
  name: "The account has its new name.",
  password: "Your password is changed, and every other browser is signed out.",
  address: "Your address is changed. Sign in with it from now on.",
  left: "You have left the account.",
  closed: "The account is closed, and its keys are refused.",
};

export function settingsPage(view: SettingsView): string {
  const { frame, createdAt, done, now } = view;
  return accountPage({
    title: "Settings",
    frame,
    main: html`<h1>Settings</h1>
      ${doneNote(sentences, done)}
      <h2>You</h2>
      <dl class="facts">
        ${fact("Address", html`<span class="name">${frame.email}</span>`, "/account/settings/address", "Change address")}
        ${fact("Password", "chosen by you", "/account/settings/password", "Change password")}
        ${fact("Signed up", relativeTime(createdAt, now), "/account/sessions", "Signed-in browsers")}
      </dl>
      ${frame.account !== null && accountPart(view, frame.account)}
      <h2>Your data</h2>
      <p>All that is kept of you and your accounts, as one JSON file. No keys are in it.</p>
      <form method="post" action="/account/settings/export">
        <button class="quiet">Download my data</button>
      </form>
      <h2>Delete yourself</h2>
      <p><a href="/account/settings/delete">What would be deleted</a></p>`,
  });
}

const fact = (name: string, what: Part, path: string, label: string): Html =>
  html`<div>
    <dt>${name}</dt>
    <dd>${what} · <a href="${path}">${label}</a></dd>
  </div>`;

function accountPart(
  { typedName, fault }: SettingsView,
  account: NonNullable<Frame["account"]>,
): Html {
  const { name, id, role } = account;
  const isOwner = role === "owner";
  return html`<h2 class="name">The account ${name}</h2>
    <p>
      You are ${isOwner ? "an owner" : "a member"} of it. Its id is <code>${id}</code>.
      <a href="/account/members">Members</a>
    </p>
    ${isOwner && nameForm(typedName ?? name, fault)}
    <ul>
      <li><a href="/account/settings/leave">Leave the account</a></li>
      ${isOwner && html`<li><a href="/account/settings/close">Close the account</a></li>`}
    </ul>`;
}

const nameForm = (name: string, fault: string | undefined): Html =>
  html`${faultNote(fault)}
    <form class="form" method="post" action="/account/settings/name">
      ${field({ name: "name", label: "Name", value: name, lengthMax: 100 })}
      <button class="quiet">Rename account</button>
    </form>`;
