/** The page on which somebody signs in. */
import { html, type Html } from "#pages/html.ts";
import { doneNote } from "./done.ts";
import { accountPage } from "./frame.ts";
import { faultNote, field, hidden } from "./fields.ts";

interface SignIn {
  /** Where to go afterwards: a path of ours. */
  next: string;
  signUp: "closed" | "invite" | "open";
  email?: string;
  fault?: string;
  done?: string | null;
}

const sentences = {
  out: "You are signed out.",
  everywhere: "You are signed out everywhere.",
  joined: "You have joined the account. Sign in to see it.",
  address: "Your address is changed. Sign in with the new one from now on.",
  deleted: "Everything we kept of you is deleted.",
};

export const signInPage = ({ next, signUp, email, fault, done = null }: SignIn): string =>
  accountPage({
    title: "Sign in",
    frame: null,
    main: html`<h1>Sign in</h1>
      ${doneNote(sentences, done)} ${faultNote(fault)}
      <form class="form" method="post" action="/account/sign-in">
        ${hidden("next", next)}
        ${field({ name: "email", label: "E-mail address", type: "email", autocomplete: "username", value: email })}
        ${field({ name: "password", label: "Password", type: "password", autocomplete: "current-password" })}
        <button>Sign in</button>
      </form>
      <p><a href="/account/forgot">Choose a new password</a></p>
      ${signUpNote(signUp)}`,
  });

const signUpNote = (signUp: SignIn["signUp"]): Html =>
  signUp === "open"
    ? html`<p>No account yet? <a href="/account/sign-up">Sign up</a></p>`
    : html`<p class="muted">No account yet? Ask ${whomToAsk(signUp)} for an invitation.</p>`;

/** Whoever lets people in where they cannot sign up by themselves. */
export const whomToAsk = (signUp: "closed" | "invite"): string =>
  signUp === "closed"
    ? "the operator of this service"
    : "an owner of an account or the operator of this service";
