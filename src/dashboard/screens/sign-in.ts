/** The sign-in form, and `/account`, which redirects to it or to the keys. */
import { signIn } from "#accounts/sign-in.ts";
import {
  emailField,
  headedPage,
  hidden,
  passwordField,
  postForm,
  signedOut,
} from "#dashboard/components/page.ts";
import { begin } from "#dashboard/cookies.ts";
import type { AccountWorkerSettings } from "#dashboard/messages.ts";
import {
  type AccountRequest,
  homePath,
  refusal,
  type Reply,
  type Route,
  route,
  seeOther,
  unauthorized,
  wordsFor,
} from "#dashboard/screen.ts";
import { html, type Html } from "#pages/html.ts";
import { DomainError } from "#store/domain-error.ts";

export const signInRoutes: readonly Route[] = [
  route("/account", "anyone", {
    GET: ({ signedIn }) => seeOther(signedIn === null ? "/account/sign-in" : "/account/keys"),
  }),
  route("/account/sign-in", "anyone", { GET: show, POST: take }),
];

/** Maximum length of an e-mail address, in characters (RFC 5321 §4.5.3.1). Longer input is cut when shown again. */
const addressLengthMax = 254;

/** Returns the address as typed. Returns undefined if no form was sent. */
export const typedAddress = ({ form }: AccountRequest): string | undefined =>
  form.get("email")?.slice(0, addressLengthMax);

function show(request: AccountRequest): string {
  return signInPage(request, ownPath(request.query.get("next")));
}

async function take(request: AccountRequest): Promise<Reply> {
  const { form, client, now } = request;
  const { control, passwords } = request.services;
  const next = ownPath(form.get("next"));
  const address = form.get("email") ?? "";
  const password = form.get("password") ?? "";
  try {
    const signedIn = await signIn(control, passwords, { address, password, client, now });
    return await begin(request, signedIn, next);
  } catch (fault) {
    if (!(fault instanceof DomainError)) throw fault;
    const markup = signInPage(request, next, wordsFor(fault));
    return fault.kind === "refused" ? unauthorized(markup) : refusal(fault, markup);
  }
}

/** Returns the page with the sign-in form. @param next path of the account page to show afterwards. */
export const signInPage = (request: AccountRequest, next: string, fault?: string): string =>
  headedPage(signedOut(request), {
    title: "Sign in",
    done: {
      address: "Your address is changed. Sign in with the new address from now on.",
      deleted: "Your login is deleted. You can no longer sign in.",
      everywhere: "You are signed out everywhere.",
      joined: "You have joined the account. Sign in to see it.",
      out: "You are signed out.",
    },
    fault,
    main: html`${postForm(
        "/account/sign-in",
        "Sign in",
        html`${hidden("next", next)} ${emailField(typedAddress(request))}
        ${passwordField("Password")}`,
      )}
      <p><a href="/account/forgot">Forgot your password?</a></p>
      ${signUpNote(request.services.settings.signUp)}`,
  });

type SignUp = AccountWorkerSettings["signUp"];

const signUpNote = (signUp: SignUp): Html =>
  signUp === "open"
    ? html`<p>No account yet? <a href="/account/sign-up">Sign up</a></p>`
    : html`<p class="muted">No account yet? Ask ${whomToAsk(signUp)} for an invitation.</p>`;

/** Returns words for the people to ask for an invitation. */
export const whomToAsk = (signUp: Exclude<SignUp, "open">): string =>
  signUp === "closed"
    ? "the operator of this service"
    : "an owner of an account or the operator of this service";

// The path has no `//`, `..` or backslash, so that every browser stays on this origin.
const ownShape = /^\/(?:account|browse|search)(?:\/[\w-]+)*(?:\?[\w\-.~%=&+:*]*)?$/;

/** Returns the page to show after signing in: Browse, unless the text has the form of a path of these pages. */
export const ownPath = (text: string | null): string =>
  text !== null && ownShape.test(text) ? text : homePath;
