/** `/account` and the form that signs in. */
import { doneNote, faultNote, field, hidden } from "#account/components/fields.ts";
import { accountPage } from "#account/components/frame.ts";
import { begin } from "#account/cookies.ts";
import { refusal } from "#account/refusal.ts";
import { page, type Reply, seeOther, unauthorized } from "#account/reply.ts";
import type { AccountRequest } from "#account/request.ts";
import { type Route, route } from "#account/route.ts";
import { signIn } from "#accounts/sign-in.ts";
import { html, type Html } from "#pages/html.ts";
import { DomainError } from "#store/domain-error.ts";

/** No address is longer, so more of what was typed need not be shown again (RFC 5321 §4.5.3.1). */
const addressLengthMax = 254;

export const typedAddress = ({ form }: AccountRequest): string =>
  (form.get("email") ?? "").slice(0, addressLengthMax);

const start = ({ signedIn }: AccountRequest): Reply =>
  seeOther(signedIn === null ? "/account/sign-in" : "/account/keys");

const show = ({ query, services }: AccountRequest): Reply =>
  page(
    signInPage({
      next: ownPath(query.get("next")),
      signUp: services.settings.signUp,
      done: query.get("done"),
    }),
  );

async function take(request: AccountRequest): Promise<Reply> {
  const { form, client, now } = request;
  const { control, passwords, settings } = request.services;
  const next = ownPath(form.get("next"));
  const address = form.get("email") ?? "";
  const password = form.get("password") ?? "";
  try {
    const signedIn = await signIn(control, passwords, { address, password, client, now });
    return await begin(request, signedIn, next);
  } catch (fault) {
    if (!(fault instanceof DomainError)) throw fault;
    const email = typedAddress(request);
    const markup = signInPage({ next, signUp: settings.signUp, email, fault: fault.message });
    return fault.kind === "refused" ? unauthorized(markup) : refusal(fault, markup);
  }
}

export const signInRoutes: readonly Route[] = [
  route("/account", "anyone", { GET: start }),
  route("/account/sign-in", "anyone", { GET: show, POST: take }),
];

/** The page on which somebody signs in. */
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

/** Where a form may lead to afterwards: our own account pages and nothing else. */
// No `//`, no `..`, no backslash: whatever a browser makes of the text, it stays below /account here.
const ownShape = /^\/account(?:\/[\w-]+)*(?:\?[\w\-.~%=&+:]*)?$/;

/** @param text from a form or an address, so anyone's. @returns `/account` in place of everything else. */
export const ownPath = (text: string | null): string =>
  text !== null && ownShape.test(text) ? text : "/account";
