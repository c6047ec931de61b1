/** The layout of every account page with its navigation, and the parts of its forms. */
import type { SignedIn } from "#accounts/sessions.ts";
import { siteOf } from "#dashboard/messages.ts";
import { type AccountRequest, page, type Reply } from "#dashboard/screen.ts";
import type { AssetName } from "#pages/assets.ts";
import { html, type Html, type Part } from "#pages/html.ts";
import { current, layout, type Side } from "#pages/layout.ts";

interface AccountPage {
  title: string;
  /** Style sheets in addition to those of every such page. */
  styles?: readonly AssetName[];
  /** Content with the page's only `h1`. */
  main: Part;
}

/** A request, or its services alone for a page that shows nothing about the signed-in person. */
export type Shown = AccountRequest | Pick<AccountRequest, "services">;

/** Returns a request without the person who sent it. */
export const signedOut = ({ services }: AccountRequest): Shown => ({ services });

/** Returns a whole page. */
export function accountPage(
  shown: Shown,
  { title, styles = [], main }: AccountPage,
): string {
  const request = "path" in shown ? shown : null;
  const signedIn = request?.signedIn ?? null;
  const { settings: config, browse } = shown.services;
  const path = request?.path ?? "/account";
  return layout({
    site: siteOf({ config, browse }, true),
    title,
    description: "Your account's keys and usage, and the records to browse.",
    path,
    styles: ["plot.css", "records.css", ...styles],
    isNarrow: signedIn === null && path.startsWith("/account"),
    account:
      signedIn === null
        ? html`<a class="button quiet" href="/account/sign-in">Sign in</a>`
        : accountMenu(signedIn),
    ...(signedIn !== null && path.startsWith("/account") && { side: sideOf(request!, title) }),
    main,
  });
}

/** Returns the navigation of account pages. @param title title to show if the navigation does not list the page. */
function sideOf({ routes, path }: AccountRequest, title: string): Side {
  const listed = routes.flatMap((one) => (one.link ? [{ path: one.path, ...one.link }] : []));
  const groups = Map.groupBy(listed, (link) => link.group);
  return {
    name: "Account",
    label: listed.find((link) => current(link.path, path))?.label ?? title,
    links: Array.from(groups, ([name, links]) => group(name, links, path)),
  };
}

/** Returns the menu of a signed-in person: the account, a choice of another, and signing out. */
const accountMenu = (signedIn: SignedIn): Html => {
  const { person, account } = signedIn;
  return html`<details class="person">
    <summary aria-label="Account of ${person.email}">
      ${person.email.charAt(0).toUpperCase()}
    </summary>
    <div>
      <p class="name">
        ${account !== null && html`<strong>${account.name}</strong><br />`}${person.email.split("@").map((part, i) => [i > 0 && html`<wbr />@`, part])}
      </p>
      <a href="/account/settings">Settings</a>
      ${switcher(signedIn)}
      <form method="post" action="/account/sign-out">
        <button class="quiet">Sign out</button>
      </form>
    </div>
  </details>`;
};

const group = (
  name: string,
  links: readonly { path: string; label: string }[],
  shown: string,
): Part =>
  html`<p class="muted">${name}</p>
    <ul>
      ${links.map(
        ({ path, label }) => html`<li><a href="${path}" ${current(path, shown)}>${label}</a></li> `,
      )}
    </ul>`;

/** Returns the form that switches accounts. Returns false if the person has fewer than two. */
const switcher = ({ accounts, account }: SignedIn): Part =>
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

/** Returns a page with a single message, such as a reason for a refusal. @param next link below the message. */
export const wordPage = (
  request: Shown,
  title: string,
  text: Part,
  next: { href: string; label: string } = { href: "/account", label: "To your account" },
): string =>
  accountPage(request, {
    title,
    main: html`<h1>${title}</h1>
      <p>${text}</p>
      <p><a class="button" href="${next.href}">${next.label}</a></p>`,
  });

/** Returns a reply with a single message. */
export const wordReply = (
  request: Shown,
  status: number,
  ...words: [title: string, text: Part, next?: { href: string; label: string }]
): Reply => page(wordPage(request, ...words), status);

interface Field {
  name: string;
  label: string;
  type?: "text" | "email" | "password" | "search" | "date" | "datetime-local";
  value?: string | undefined;
  /** Value of the HTML attribute `autocomplete`, which tells browsers what to fill in. */
  autocomplete?: string;
  hint?: Part;
  isOptional?: boolean;
  lengthMax?: number;
}

export const field = (given: Field): Html => {
  const { name, label, type = "text", value, autocomplete = "off", hint, lengthMax } = given;
  return html`<label
    >${label} ${hint !== undefined && html`<span class="muted">${hint}</span>`}
    <input
      name="${name}"
      type="${type}"
      autocomplete="${autocomplete}"
      ${value !== undefined && html`value="${value}"`}
      ${given.isOptional !== true && html`required`}
      ${lengthMax !== undefined && html`maxlength="${lengthMax}"`}
  /></label>`;
};

/** Returns the field for the address that a person signs in with. */
export const emailField = (value: string | undefined): Html =>
  field({
    name: "email",
    label: "E-mail address",
    type: "email",
    autocomplete: "username",
    value,
  });

/** Returns the field for the current password. */
export const passwordField = (label: string, name = "password"): Html =>
  field({ name, label, type: "password", autocomplete: "current-password" });

export const hidden = (name: string, value: string): Html =>
  html`<input type="hidden" name="${name}" value="${value}" />`;

export interface Choice {
  value: string;
  label: string;
}

export const choice = (
  name: string,
  label: string,
  choices: readonly Choice[],
  chosen: string,
): Html =>
  html`<label
    >${label}
    <select name="${name}">
      ${choices.map(
        (one) =>
          html`<option value="${one.value}" ${one.value === chosen && html`selected`}>
            ${one.label}
          </option>`,
      )}
    </select></label
  >`;

/** Returns the error to show above a form; false if there is none. */
export const faultNote = (fault: string | undefined): Part =>
  fault !== undefined && html`<p class="fault" role="alert">${fault}</p>`;

/** Returns a sentence that says what was done. @param done value of `?done=`; unknown values show nothing. */
export const doneNote = (sentences: Readonly<Record<string, string>>, done: string | null): Part =>
  done !== null &&
  Object.hasOwn(sentences, done) &&
  html`<p class="done" role="status">${sentences[done]}</p>`;
