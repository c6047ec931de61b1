/**
 * The sign-in form, the pages that mail a link to sign up or to choose a password, and the page that the link opens. A
 * GET of that page changes nothing. A demo shows the link instead of mailing it.
 */
import { requireOpenNumber } from "#accounts/accounts.ts";
import {
  completeAddressChange,
  completeReset,
  completeSignUp,
  requestLink,
  signIn,
} from "#accounts/credentials.ts";
import { acceptInvitation } from "#accounts/invitations.ts";
import {
  type Link,
  LinkFault,
  linkUrl,
  lookAtLink,
  type MadeLink,
} from "#accounts/one-time-links.ts";
import { findPerson, readAddress } from "#accounts/people.ts";
import { type OpenedSession, switchAccount } from "#accounts/sessions.ts";
import {
  emailField,
  field,
  headedPage,
  hidden,
  passwordField,
  postForm,
  type Shown,
  signedOut,
  wordPage,
  wordReply,
} from "#dashboard/components/page.ts";
import { begin } from "#dashboard/cookies.ts";
import {
  addressChangedMail,
  linkMail,
  type LinkMail,
  type Mail,
  passwordChangedMail,
} from "#dashboard/mail-templates.ts";
import type { AccountWorkerSettings } from "#dashboard/messages.ts";
import {
  type AccountRequest,
  homePath,
  posting,
  refusal,
  type Reply,
  type Route,
  route,
  seeOther,
  type Serve,
  unauthorized,
  wordsFor,
} from "#dashboard/screen.ts";
import { html, type Html } from "#pages/html.ts";
import { DomainError } from "#store/store-fault.ts";

export const signInRoutes = [
  route("/account", "anyone", {
    GET: ({ signedIn }) => seeOther(signedIn === null ? "/account/sign-in" : "/account/keys"),
  }),
  route("/account/sign-in", "anyone", {
    GET: (request) => signInPage(request, ownPath(request.query.get("next"))),
    POST: take,
  }),
  route("/account/sign-up", "anyone", asking("sign-up")),
  route("/account/forgot", "anyone", asking("reset")),
  route("/account/link", "anyone", {
    GET: unlessDead(linkPage),
    POST: unlessDead((request, link) =>
      posting(
        (_, fault) => linkPage(request, link, fault),
        () => complete(link.kind, request),
      )(request),
    ),
  }),
];

/** Maximum length of an e-mail address, in characters (RFC 5321 §4.5.3.1). Longer input is cut when shown again. */
const addressLengthMax = 254;

/** Returns the address as typed, cut to the maximum length; undefined if no form with an address was sent. */
export const typedAddress = ({ form }: AccountRequest): string | undefined =>
  form.get("email")?.slice(0, addressLengthMax);

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

/** Returns the page with the sign-in form. @param next path of the page to show afterwards. */
export function signInPage(request: AccountRequest, next: string, fault?: string): string {
  const { signUp } = request.services.settings;
  return headedPage(signedOut(request), {
    title: "Sign in",
    done: {
      address: "Your address has been changed. Sign in with the new address from now on.",
      deleted: "Your login has been deleted. You can no longer sign in.",
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
      ${
        signUp === "open"
          ? html`<p>No account yet? <a href="/account/sign-up">Sign up</a></p>`
          : html`<p class="muted">No account yet? Ask ${whomToAsk(signUp)} for an invitation.</p>`
      }`,
  });
}

export const whomToAsk = (signUp: Exclude<AccountWorkerSettings["signUp"], "open">): string =>
  signUp === "closed"
    ? "the operator of this service"
    : "an owner of an account or the operator of this service";

// The path has no `//`, `..` or backslash, so that every browser stays on this origin.
const ownShape = /^\/(?:account|browse|search)(?:\/[\w-]+)*(?:\?[\w\-.~%=&+:*]*)?$/;

/** Returns the path to show after signing in: the given text if it has the form of a page's path, otherwise Browse. */
export const ownPath = (text: string | null): string =>
  text !== null && ownShape.test(text) ? text : homePath;

/** Texts of the pages that ask for an address and mail a link to it. */
const askingWords = {
  "sign-up": {
    title: "Sign up",
    explained: "We mail you a link. Open it, choose a password, and your account is ready.",
    after: html`Signed up already? <a href="/account/sign-in">Sign in</a>`,
    withoutMail: "Ask its operator for a link to sign up.",
  },
  reset: {
    title: "Choose a new password",
    explained:
      "We mail a link to the address that you sign in with. When you choose a new password, you are signed out in every other browser.",
    after: html`<a href="/account/sign-in">Back to signing in</a>`,
    withoutMail: "Ask its operator for a link to choose a new password.",
  },
};
type LinkRequest = keyof typeof askingWords;

function asking(kind: LinkRequest): Pick<Route, "GET" | "POST"> {
  const page = (request: AccountRequest, fault?: string) => {
    refuseAsking(kind, request);
    const { title, explained, after } = askingWords[kind];
    return headedPage(signedOut(request), {
      title,
      fault,
      main: html`<p>${explained}</p>
        ${postForm(request.path, "Mail me a link", emailField(typedAddress(request)))}
        <p>${after}</p>`,
    });
  };
  return {
    GET: (request) => page(request),
    POST: posting(page, (request) => mailLink(kind, request)),
  };
}

/** Checks that the settings allow mailing a link of this kind. @throws DomainError `refused`. */
function refuseAsking(kind: LinkRequest, request: AccountRequest): void {
  const { signUp } = request.services.settings;
  if (kind === "sign-up" && signUp !== "open")
    throw new DomainError(
      "refused",
      `To sign up here, you need an invitation. Ask ${whomToAsk(signUp)} to invite you.`,
    );
  requireMail(request, askingWords[kind].withoutMail);
}

/** Checks that a link can reach its recipient. @param next end of the refusal's text. @throws DomainError `refused`. */
export function requireMail(request: AccountRequest, next: string): void {
  if (!canMail(request)) throw new DomainError("refused", `This service sends no mail. ${next}`);
}

/** Reports whether a link can reach its recipient. */
export const canMail = ({ services: { settings, mailer } }: AccountRequest): boolean =>
  settings.isDemo || !mailer.isOff;

/**
 * Mails a link, unless a new password is requested for an unknown address. Outside a demo, the returned page does not
 * reveal whether the address is known.
 */
async function mailLink(kind: LinkRequest, request: AccountRequest): Promise<string> {
  refuseAsking(kind, request);
  const { services, form, client, now } = request;
  const address = form.get("email") ?? "";
  const made = await requestLink(services.control, kind, { address, client, now });
  const ofKnown = kind === "sign-up" ? "known" : "reset";
  const template = made.isKnown ? ofKnown : kind === "sign-up" ? "signUp" : null;
  const demoLink = template && mail(request, made, (link) => linkMail(template, link));
  return mailedPage(signedOut(request), readAddress(address).email, demoLink);
}

/** Mails a link. @returns in a demo, the link for the page to show; otherwise null. */
export function mail(
  { services: { settings, mailer }, own }: AccountRequest,
  { email, token, expiresAt }: MadeLink,
  messageOf: (link: LinkMail) => Mail,
): string | null {
  const url = linkUrl(settings.linkBase, token);
  mailer.send(messageOf({ to: email, url, expiresAt }));
  // The browser may come through a tunnel, so the link on the page must begin with the address that the browser uses.
  return settings.isDemo ? own.base + url.slice(settings.linkBase.length) : null;
}

/** Returns the page to show after a link was requested. @param demoLink link to show in a demo; null if there is none. */
export function mailedPage(request: Shown, email: string, demoLink: string | null): string {
  const address = html`<strong class="name">${email}</strong>`;
  if (demoLink !== null)
    return wordPage(
      request,
      "One more step",
      html`Outside the demo this link would be mailed to ${address}. The demo sends no mail, so open
      the link here. It works once.`,
      { href: demoLink, label: "Open the link" },
    );
  if (request.services.settings.isDemo)
    return wordPage(request, "No link", html`The demo has no link for ${address}.`);
  return headedPage(request, {
    title: "Check your mail",
    main: html`<p>We are mailing a message to ${address}. Its link works once.</p>
      <p class="muted">
        If nothing arrives within a few minutes, check your spam folder and the address. No link for
        a new password is mailed to an address that nobody signs in with.
      </p>`,
  });
}

const tokenOf = ({ query, form }: AccountRequest): string =>
  form.get("token") ?? query.get("token") ?? "";

/**
 * Returns a function that serves a link. A used, expired or unknown link gets a page that does not say which of these
 * it is. A link that another request uses up meanwhile gets the same page.
 */
function unlessDead(serve: (request: AccountRequest, link: Link) => ReturnType<Serve>): Serve {
  return async (request) => {
    const { control, settings } = request.services;
    try {
      const link = await lookAtLink(control.database, tokenOf(request), request.now);
      return await serve(request, link);
    } catch (fault) {
      if (!(fault instanceof LinkFault)) throw fault;
      const maySignUp = settings.signUp === "open";
      const text = html`${fault.message} If you have chosen a password with the link, sign in.
        Otherwise,
        <a href="/account/forgot">choose a new password</a
        >${maySignUp && html` or <a href="/account/sign-up">sign up</a>`}. For another invitation,
        ask the person who invited you.`;
      const next = { href: "/account/sign-in", label: "Sign in" };
      return wordReply(signedOut(request), 404, "This link no longer works", text, next);
    }
  };
}

/** Mails a notice that the password was changed, and signs the person in. */
export function beginWithNewPassword(
  request: AccountRequest,
  signedIn: OpenedSession,
): Promise<Reply> {
  const { mailer, settings } = request.services;
  const url = `${settings.linkBase}/account/forgot`;
  mailer.send(passwordChangedMail(signedIn.person.email, url));
  return begin(request, signedIn, "/account/settings?done=password");
}

/** Does what a link is for, such as completing a sign-up, with the fields of the sent form. */
async function complete(kind: Link["kind"], request: AccountRequest): Promise<Reply> {
  const { services, form, client, now } = request;
  const { control, passwords, mailer } = services;
  const password = form.get("password") ?? "";
  const accountName = form.get("account")?.trim() || null;
  const order = { token: tokenOf(request), password, accountName, client, now };
  switch (kind) {
    case "sign-up":
      return begin(request, await completeSignUp(control, passwords, order), homePath);
    case "reset":
      return beginWithNewPassword(request, await completeReset(control, passwords, order));
    case "email": {
      const { person, formerEmail } = await completeAddressChange(control, order);
      mailer.send(addressChangedMail(formerEmail));
      const isOwn = request.signedIn?.person.id === person.id;
      return seeOther(`/account/${isOwn ? "settings" : "sign-in"}?done=address`);
    }
    case "invite": {
      const { person, accountId, signedIn } = await acceptInvitation(control, passwords, order);
      if (signedIn !== null) return begin(request, signedIn, homePath);
      const isOwn = request.signedIn?.person.id === person.id;
      if (!isOwn) return seeOther("/account/sign-in?done=joined");
      await switchAccount(control, {
        person: person.id,
        session: request.signedIn!.session,
        accountId,
      });
      return seeOther(homePath);
    }
  }
}

async function linkPage(request: AccountRequest, link: Link, fault?: string): Promise<string> {
  const { database } = request.services.control;
  const { kind, email, folded, account } = link;
  const isUnknown = kind === "invite" && (await findPerson(database, folded)) === undefined;
  const asksPassword = kind === "sign-up" || kind === "reset" || isUnknown;
  const accountName = account === null ? null : (await requireOpenNumber(database, account)).name;
  const { title, explained, button } = wordsOf(link, accountName, asksPassword);
  const fields = [
    hidden("token", tokenOf(request)),
    asksPassword && passwordFields(email),
    kind === "sign-up" &&
      field({
        name: "account",
        label: "Name of the account",
        value: request.form.get("account") ?? undefined,
        hint: "optional; your company or team",
        isOptional: true,
        lengthMax: 100,
      }),
  ];
  return headedPage(signedOut(request), {
    title,
    fault,
    main: html`<p>${explained}</p>
      ${postForm("/account/link", button, fields)}`,
  });
}

/** Returns the page's texts. @param accountName name of the account to join; null if the link is not an invitation. */
function wordsOf({ kind, email }: Link, accountName: string | null, asksPassword: boolean) {
  const who = html`<strong class="name">${email}</strong>`;
  const choosing = html`You sign in with ${who} and the password that you choose here.`;
  if (kind === "sign-up")
    return { title: "Choose a password", explained: choosing, button: "Sign up" };
  if (kind === "reset")
    return {
      title: "Choose a new password",
      explained: html`The new password is for ${who}. You are signed out in every other browser.`,
      button: "Change password",
    };
  if (kind === "email")
    return {
      title: "Is this your new address?",
      explained: html`If it is, you sign in with ${who} from now on. We mail a notice to your old
      address.`,
      button: "Change address",
    };
  return {
    title: `Join ${accountName}`,
    explained: asksPassword
      ? choosing
      : html`You go on signing in with ${who}, and also see the keys and usage of this account.`,
    button: "Join",
  };
}

/** Returns the field for a new password, with the address in a hidden field, so that password managers save both. */
export const passwordFields = (email: string, name = "password"): Html =>
  html`<input type="email" value="${email}" autocomplete="username" readonly hidden />
    ${field({ name, label: "New password", type: "password", autocomplete: "new-password", hint: "8 to 128 characters; four random words make a good one" })}`;
