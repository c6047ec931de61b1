/** The page a mailed link leads to: looking changes nothing, its button does. */
import { html, type Html, type Part } from "#pages/html.ts";
import { faultNote, field, hidden } from "./fields.ts";
import { accountPage } from "./frame.ts";

export interface LinkView {
  kind: "sign-up" | "invite" | "reset" | "email";
  token: string;
  email: string;
  /** Of an invitation to an account that is there already. */
  accountName: string | null;
  /** Whoever follows it has no password yet, or a new one to choose. */
  asksPassword: boolean;
  /** An account is made. */
  asksName: boolean;
  /** What was typed for it. */
  typedName?: string;
  fault?: string | undefined;
}

export function linkPage(view: LinkView): string {
  const { title, explained, button } = wordsOf(view);
  return accountPage({
    title,
    frame: null,
    main: html`<h1 class="name">${title}</h1>
      <p>${explained}</p>
      ${faultNote(view.fault)}
      <form class="form" method="post" action="/account/link">
        ${hidden("token", view.token)} ${view.asksPassword && passwordFields(view.email)}
        ${view.asksName && nameField(view.typedName)}
        <button>${button}</button>
      </form>`,
  });
}

interface Words {
  title: string;
  explained: Part;
  button: string;
}

function wordsOf({ kind, email, accountName, asksPassword }: LinkView): Words {
  const who = html`<strong class="name">${email}</strong>`;
  const choosing = html`You sign in with ${who} and the password that you choose here.`;
  if (kind === "sign-up")
    return { title: "Choose a password", explained: choosing, button: "Sign up" };
  if (kind === "reset")
    return {
      title: "Choose a new password",
      explained: html`For ${who}. You are signed out in every other browser.`,
      button: "Change password",
    };
  if (kind === "email")
    return {
      title: "Is this your new address?",
      explained: html`From now on you sign in with ${who}; the former address gets a word of it.`,
      button: "Change address",
    };
  return {
    title: accountName === null ? "Take your account" : `Join ${accountName}`,
    explained: asksPassword
      ? choosing
      : html`You go on signing in with ${who} and see the keys and the usage of this account too.`,
    button: accountName === null ? "Sign up" : "Join",
  };
}

/** The hidden address is for password managers, which keep both together. */
export const passwordFields = (email: string, name = "password"): Html =>
  html`<input type="email" value="${email}" autocomplete="username" readonly hidden />
    ${field({ name, label: "New password", type: "password", autocomplete: "new-password", hint: "8 to 128 characters; four random words make a good one" })}`;

const nameField = (typed: string | undefined): Html =>
  field({
    name: "account",
    label: "Name of the account",
    value: typed,
    hint: "optional; your company or team",
    isOptional: true,
    lengthMax: 100,
  });

/** For a link that was used, has expired or never was: which of them, is told to nobody. */
export const deadLinkPage = (fault: string, maySignUp: boolean): string =>
  accountPage({
    title: "This link does nothing any more",
    frame: null,
    main: html`<h1>This link does nothing any more</h1>
      <p>${fault}</p>
      <ul>
        <li><a href="/account/sign-in">Sign in</a>, if you have chosen a password with it.</li>
        <li><a href="/account/forgot">Choose a new password</a>, if you no longer know yours.</li>
        ${maySignUp && html`<li><a href="/account/sign-up">Sign up</a>, if you have not yet.</li>`}
        <li>An invitation is sent again by whoever sent it.</li>
      </ul>`,
  });
