/** The layout of every account page: who is signed in, the account, and the navigation. */
import type { AccountRequest } from "#account/request.ts";
import type { AssetName } from "#pages/assets.ts";
import { html, type Html, type Part } from "#pages/html.ts";
import { current, layout } from "#pages/layout.ts";

/** Who looks at which page of which account. */
export interface Frame {
  /** Path of the page. */
  path: string;
  email: string;
  /** The current one; null for a person in none. */
  account: { id: string; name: string; role: "owner" | "member" } | null;
  /** All accounts of the person. */
  accounts: readonly { id: string; name: string }[];
}

interface AccountPage {
  title: string;
  /** Null for somebody who is not signed in. */
  frame: Frame | null;
  scripts?: readonly AssetName[];
  /** Holds the one `h1`. */
  main: Part;
}

const links = [
  { path: "/account/keys", label: "Keys" },
  { path: "/account/usage", label: "Usage" },
  { path: "/account/requests", label: "Requests" },
  { path: "/account/browse", label: "Browse" },
  { path: "/account/explorer", label: "Explorer" },
  { path: "/account/notices", label: "Notices" },
  { path: "/account/members", label: "Members" },
  { path: "/account/settings", label: "Settings" },
] as const;

export function accountPage({ title, frame, scripts = [], main }: AccountPage): string {
  return layout({
    title,
    description: "Keys, usage and records of your account.",
    path: frame?.path ?? "/account",
    styles: ["account.css"],
    scripts,
    main: html`${frame !== null && navigation(frame)} ${main}`,
  });
}

const navigation = (frame: Frame): Html =>
  html`<div class="account-bar">
    <p class="muted">${frame.email}${frame.account !== null && html` · ${frame.account.name}`}</p>
    ${switcher(frame)}
    <form method="post" action="/account/sign-out">
      <button class="quiet">Sign out</button>
    </form>
    <nav aria-label="Account">
      ${links.map((link) => html`<a href="${link.path}" ${current(link.path, frame.path)}>${link.label}</a> `)}
    </nav>
  </div>`;

/** For a person with several accounts. */
const switcher = ({ accounts, account }: Frame): Part =>
  accounts.length > 1 &&
  html`<form method="post" action="/account/switch">
    <label class="unseen" for="switch">Account</label>
    <select id="switch" name="account">
      ${accounts.map(
        ({ id, name }) =>
          html`<option value="${id}" ${id === account?.id && html`selected`}>${name}</option>`,
      )}
    </select>
    <button class="quiet">Switch</button>
  </form>`;

/** Null for somebody who is not signed in. */
export function framed({ signedIn, path }: AccountRequest): Frame | null {
  if (signedIn === null) return null;
  const { person, account, accounts } = signedIn;
  return {
    path,
    email: person.email,
    account: account === null ? null : { id: account.id, name: account.name, role: account.role },
    accounts: accounts.map(({ id, name }) => ({ id, name })),
  };
}
