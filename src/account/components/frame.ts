/** The layout of every account page: who is signed in, the account, and the navigation. */
import type { AccountRequest } from "#account/request.ts";
import type { AssetName } from "#pages/assets.ts";
import { html, type Part } from "#pages/html.ts";
import { current, layout, type Side } from "#pages/layout.ts";

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

interface Group {
  label: string;
  links: readonly { path: string; label: string }[];
}

const groups: readonly Group[] = [
  { label: "Records", links: [{ path: "/account/browse", label: "Browse" }] },
  {
    label: "API",
    links: [
      { path: "/account/keys", label: "Keys" },
      { path: "/account/usage", label: "Usage" },
      { path: "/account/requests", label: "Requests" },
    ],
  },
  {
    label: "Account",
    links: [
      { path: "/account/notices", label: "Notices" },
      { path: "/account/members", label: "Members" },
      { path: "/account/settings", label: "Settings" },
    ],
  },
];

export function accountPage({ title, frame, scripts = [], main }: AccountPage): string {
  return layout({
    title,
    description: "Keys, usage and records of your account.",
    path: frame?.path ?? "/account",
    styles: ["account.css"],
    scripts,
    isNarrow: frame === null,
    ...(frame !== null && { side: sideOf(frame, title) }),
    main,
  });
}

/** @param title of the page, for one that is in no group. */
function sideOf(frame: Frame, title: string): Side {
  const { path, email, account } = frame;
  const shown = groups.flatMap(({ links }) => links).find((link) => current(link.path, path));
  return {
    name: "Account",
    label: shown?.label ?? title,
    links: html`${groups.map(({ label, links }) => group(label, links, path))}
      <p class="muted name">
        ${account !== null && html`${account.name}<br />`}${email.split("@").map((part, i) => [i > 0 && html`<wbr />@`, part])}
      </p>
      ${switcher(frame)}
      <form method="post" action="/account/sign-out">
        <button class="quiet">Sign out</button>
      </form>`,
  };
}

const group = (name: string, links: Group["links"], shown: string): Part =>
  html`<p class="muted">${name}</p>
    <ul>
      ${links.map(
        ({ path, label }) => html`<li><a href="${path}" ${current(path, shown)}>${label}</a></li> `,
      )}
    </ul>`;

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
