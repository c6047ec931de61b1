/** Signing up: asks for an address and mails a link to it. */
import { emailField, faultNote } from "#account/components/form-fields.ts";
import { accountPage } from "#account/components/frame.ts";
import { canMail, linkOf, mail, mailedPage, noMailPage } from "#account/components/mailed.ts";
import { wordPage } from "#account/components/word.ts";
import { knownMail, signUpMail } from "#account/mail-templates.ts";
import { orAgain } from "#account/refusal-reply.ts";
import { page, type Reply } from "#account/reply.ts";
import type { AccountRequest } from "#account/request.ts";
import { type Route, route } from "#account/route.ts";
import { requestSignUp } from "#accounts/sign-up.ts";
import { html, type Html, type Part } from "#pages/html.ts";
import { typedAddress, whomToAsk } from "./sign-in.ts";

export const signUpRoutes: readonly Route[] = [
  route("/account/sign-up", "anyone", { GET: show, POST: take }),
];

/** Why nobody can sign up by themselves here, as a page. */
function obstacle(request: AccountRequest): Reply | null {
  const { signUp } = request.services.settings;
  if (signUp !== "open") {
    const text = `Nobody signs up here without an invitation. Ask ${whomToAsk(signUp)} for one.`;
    const next = { href: "/account/sign-in", label: "Sign in" };
    return page(wordPage("Sign up by invitation", text, null, next), 403);
  }
  return canMail(request) ? null : page(noMailPage("Sign up"), 403);
}

function show(request: AccountRequest): Reply {
  return obstacle(request) ?? page(signUpPage());
}

function take(request: AccountRequest): Reply | Promise<Reply> {
  const inTheWay = obstacle(request);
  if (inTheWay !== null) return inTheWay;
  const email = typedAddress(request);
  return orAgain(
    () => ask(request),
    (fault) => signUpPage({ email, fault }),
  );
}

/** The page is the same for everybody: only the mail tells whether the address is known. */
async function ask(request: AccountRequest): Promise<Reply> {
  const { services, form, client, now } = request;
  const address = form.get("email") ?? "";
  const made = await requestSignUp(services.control, { address, client, now });
  const link = linkOf(request, made);
  const message = made.isKnown ? knownMail(link) : signUpMail(link);
  const demoLink = mail(request, message, link.url);
  return page(mailedPage({ email: made.email, demoLink, frame: null }));
}

interface AskAddress {
  email?: string;
  fault?: string;
}

const signUpPage = (view: AskAddress = {}): string =>
  asking({
    ...view,
    title: "Sign up",
    action: "/account/sign-up",
    explained: html`We mail you a link. Open it, choose a password, and your account is ready.`,
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
        ${emailField(email)}
        <button>Mail me a link</button>
      </form>
      ${after}`,
  });
