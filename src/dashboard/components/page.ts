/** The layout of every account page with its navigation, and the parts of its forms. */
import type { SignedIn } from "#accounts/sessions.ts";
import { siteOf } from "#dashboard/messages.ts";
import { type AccountRequest, page, type Reply, withHeader, withQuery } from "#dashboard/screen.ts";
import type { AssetName } from "#pages/assets.ts";
import { html, type Html, type Part } from "#pages/html.ts";
import { current, layout, type Side } from "#pages/layout.ts";

interface AccountPage {
  title: string;
  styles?: readonly AssetName[];
  /** Content with the page's only `h1`. */
  main: Part;
}

/** Parts of a request that a page shows. Only the services are there if reading or answering it failed. */
export type Shown = Pick<AccountRequest, "services"> &
  Partial<Pick<AccountRequest, "path" | "query" | "routes" | "signedIn">>;

/** Returns the parts of a request that a page shows, as if nobody were signed in. */
export const signedOut = ({ services, query }: AccountRequest): Shown => ({ services, query });

/** Field of every form on a page: the id of the account that the page was made for. */
export const accountField = "page-account";

export function accountPage(shown: Shown, { title, styles = [], main }: AccountPage): string {
  const { services, path = "/account", query, routes = [], signedIn = null } = shown;
  const { settings: config, browse } = services;
  // A page of records is shown again after signing in. A download has no page; its kind does.
  const shownPath = /^.(?:browse|search)/.test(path) && path.replace("/download", "");
  const next = shownPath && query ? { next: withQuery(shownPath, query) } : {};
  const signIn = withQuery("/account/sign-in", new URLSearchParams(next));
  const markup = layout({
    site: siteOf({ config, browse }, true),
    title,
    description: "Records of real-estate GPs to browse, and the keys and usage of your account.",
    path,
    styles: ["plot.css", "records.css", ...styles],
    isNarrow: signedIn === null && path.startsWith("/account"),
    account:
      signedIn === null
        ? html`<a class="button quiet" href="${signIn}">Sign in</a>`
        : accountMenu(signedIn),
    ...(signedIn !== null &&
      path.startsWith("/account") && { side: sideOf({ routes, path }, title) }),
    main,
  });
  const id = signedIn?.account?.id;
  const named = id === undefined ? "" : hidden(accountField, id).markup;
  return markup.replaceAll(/<form\b[^>]* method="post"[^>]*>/g, `$&${named}`);
}

interface HeadedPage extends AccountPage {
  heading?: Part;
  /** Sentences that confirm what was just done, by the value of `?done=`. */
  done?: Readonly<Record<string, string>>;
  fault?: Part;
}

/** Returns a page of an account: a heading, what was done or went wrong, and the content. */
export function headedPage(shown: Shown, given: HeadedPage): string {
  const { heading, done = {}, fault, main, ...rest } = given;
  const asked = shown.query?.get("done") ?? "";
  const note = Object.hasOwn(done, asked) && html`<p class="done" role="status">${done[asked]}</p>`;
  return accountPage(shown, {
    ...rest,
    main: html`<h1>${heading ?? rest.title}</h1>
      ${note} ${fault !== undefined && html`<p class="fault" role="alert">${fault}</p>`} ${main}`,
  });
}

/** Returns the navigation of account pages. @param title label of a page that the navigation does not list. */
function sideOf({ routes, path }: Pick<AccountRequest, "routes" | "path">, title: string): Side {
  const listed = routes.flatMap((one) => (one.link ? [{ path: one.path, ...one.link }] : []));
  const groups = Map.groupBy(listed, (link) => link.group);
  return {
    name: "Account",
    label: listed.find((link) => current(link.path, path))?.label ?? title,
    links: Array.from(
      groups,
      ([name, links]) =>
        html`<p class="muted">${name}</p>
          <ul>
            ${links.map((link) => html`<li><a href="${link.path}" ${current(link.path, path)}>${link.label}</a></li> `)}
          </ul>`,
    ),
  };
}

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
      ${switcher(signedIn)} ${postForm("/account/sign-out", "Sign out", null, "quiet")}
    </div>
  </details>`;
};

/** Returns the form that switches accounts. Returns false if the person has fewer than two. */
function switcher({ accounts, account }: SignedIn): Part {
  const choices = accounts.map(({ id, name }) => ({ value: id, label: name }));
  const field = choice("account", "Account", choices, account?.id ?? "");
  return accounts.length > 1 && postForm("/account/switch", "Switch", field, "quiet");
}

type Words = [title: string, text: Part, next?: { href: string; label: string }];

/** Returns a page with a single message, such as a reason for a refusal. */
export const wordPage = (
  request: Shown,
  ...[title, text, next = { href: "/account", label: "To your account" }]: Words
): string =>
  accountPage(request, {
    title,
    main: html`<h1>${title}</h1>
      <p>${text}</p>
      <p><a class="button" href="${next.href}">${next.label}</a></p>`,
  });

export const wordReply = (request: Shown, status: number, ...words: Words): Reply =>
  page(wordPage(request, ...words), status);

/** Returns a page as the reply to a request that may be sent again later. @param seconds time until then. */
export const laterReply = (markup: string, status: 429 | 503, seconds: number): Reply =>
  withHeader(page(markup, status), "retry-after", String(seconds));

/** Returns a form with one button: the page's primary button, unless `look` is given. */
export const postForm = (
  action: string,
  button: string,
  fields: Part = null,
  look?: "quiet" | "danger",
): Html =>
  html`<form class="form" method="post" action="${action}">
    ${fields} <button ${look !== undefined && html`class="${look}"`}>${button}</button>
  </form>`;

interface Field {
  name: string;
  label: string;
  type?: "text" | "email" | "password" | "date";
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

export const emailField = (value: string | undefined): Html =>
  field({
    name: "email",
    label: "E-mail address",
    type: "email",
    autocomplete: "username",
    value,
  });

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
