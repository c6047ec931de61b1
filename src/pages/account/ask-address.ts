/** The two pages that ask for an address alone, to mail a link to it: sign up, and choose a new password. */
import { html, type Html, type Part } from "#pages/html.ts";
import { faultNote, field } from "./fields.ts";
import { accountPage } from "./frame.ts";

interface AskAddress {
  email?: string;
  fault?: string;
}

export const signUpPage = (view: AskAddress = {}): string =>
  asking({
    ...view,
    title: "Sign up",
    action: "/account/sign-up",
    explained: html`We mail you a link. It leads to a page on which you choose a password, and then
    your account is there.`,
    after: html`<p>Signed up already? <a href="/account/sign-in">Sign in</a></p>`,
  });

export const forgotPage = (view: AskAddress = {}): string =>
  asking({
    ...view,
    title: "Choose a new password",
    action: "/account/forgot",
    explained: html`We mail a link to the address you sign in with. The new password signs you out
    in every other browser.`,
    after: html`<p><a href="/account/sign-in">Back to signing in</a></p>`,
  });

interface Asking extends AskAddress {
  title: string;
  action: string;
  explained: Html;
  after: Part;
}

const asking = ({ title, action, explained, after, email, fault }: Asking): string =>
  accountPage({
    title,
    frame: null,
    main: html`<h1>${title}</h1>
      <p>${explained}</p>
      ${faultNote(fault)}
      <form class="form" method="post" action="${action}">
        ${field({ name: "email", label: "E-mail address", type: "email", autocomplete: "username", value: email })}
        <button>Mail me a link</button>
      </form>
      ${after}`,
  });
