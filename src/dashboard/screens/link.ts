/** The page a mailed link leads to: a GET changes nothing, the POST of its button does what the link is for. */
import { completeAddressChange, completeReset } from "#accounts/credentials.ts";
import { requireOpenNumber } from "#accounts/accounts.ts";
import { acceptInvitation } from "#accounts/invites.ts";
import { type Link, LinkFault, lookAtLink } from "#accounts/one-time-links.ts";
import { findPerson } from "#accounts/people.ts";
import { switchAccount } from "#accounts/sessions.ts";
import { completeSignUp } from "#accounts/sign-up.ts";
import { accountPage, faultNote, field, hidden } from "#dashboard/components/page.ts";
import { begin } from "#dashboard/cookies.ts";
import { addressChangedMail, passwordChangedMail } from "#dashboard/mail-templates.ts";
import {
  type AccountRequest,
  type Given,
  orAgain,
  page,
  type Reply,
  type Route,
  route,
  seeOther,
} from "#dashboard/screen.ts";
import { html, type Html, type Part } from "#pages/html.ts";

export const linkRoutes: readonly Route[] = [
  route("/account/link", "anyone", { GET: show, POST: follow }),
];

function show(request: AccountRequest): Promise<Given> {
  return unlessDead(request, async () => {
    const token = request.query.get("token") ?? "";
    const link = await lookAtLink(request.services.control.database, token, request.now);
    return linkPage(request, link, token);
  });
}

function follow(request: AccountRequest): Promise<Given> {
  return unlessDead(request, async () => {
    const token = request.form.get("token") ?? "";
    const link = await lookAtLink(request.services.control.database, token, request.now);
    return orAgain(
      () => complete[link.kind](request, token),
      (fault) => linkPage(request, link, token, fault),
    );
  });
}

async function unlessDead(request: AccountRequest, act: () => Promise<Given>): Promise<Given> {
  try {
    return await act();
  } catch (fault) {
    if (!(fault instanceof LinkFault)) throw fault;
    const maySignUp = request.services.settings.signUp === "open";
    return page(deadLinkPage(fault.message, maySignUp), 404);
  }
}

/** Returns the fields of the form, for kinds of links that ask for a password. */
const completion = ({ form, client, now }: AccountRequest, token: string) => ({
  token,
  password: form.get("password") ?? "",
  accountName: form.get("account")?.trim() || null,
  client,
  now,
});

const complete: Record<Link["kind"], (request: AccountRequest, token: string) => Promise<Reply>> = {
  async "sign-up"(request, token) {
    const { control, passwords } = request.services;
    const signedIn = await completeSignUp(control, passwords, completion(request, token));
    return begin(request, signedIn, "/account/keys");
  },
  async invite(request, token) {
    const { control, passwords } = request.services;
    const accepted = await acceptInvitation(control, passwords, completion(request, token));
    const { person, accountId, signedIn } = accepted;
    if (signedIn !== null) return begin(request, signedIn, "/account/keys");
    if (request.signedIn?.person.id !== person.id) return seeOther("/account/sign-in?done=joined");
    const session = request.signedIn.session;
    await switchAccount(control, { person: person.id, session, accountId });
    return seeOther("/account/keys");
  },
  async reset(request, token) {
    const { control, passwords, mailer, settings } = request.services;
    const signedIn = await completeReset(control, passwords, completion(request, token));
    const url = `${settings.linkBase}/account/forgot`;
    mailer.send(passwordChangedMail({ to: signedIn.person.email, url }));
    return begin(request, signedIn, "/account/settings?done=password");
  },
  async email(request, token) {
    const { control, mailer } = request.services;
    const { now } = request;
    const { person, formerEmail } = await completeAddressChange(control, { token, now });
    mailer.send(addressChangedMail({ to: formerEmail }));
    const isOwn = request.signedIn?.person.id === person.id;
    return seeOther(`/account/${isOwn ? "settings" : "sign-in"}?done=address`);
  },
};

async function linkPage(
  { services, form }: AccountRequest,
  link: Link,
  token: string,
  fault?: string,
): Promise<string> {
  const { database } = services.control;
  const { kind, email, folded, account } = link;
  const isUnknown = kind === "invite" && (await findPerson(database, folded)) === undefined;
  const isNew = kind === "sign-up" || isUnknown;
  const asksPassword = isNew || kind === "reset";
  const accountName = account === null ? null : (await requireOpenNumber(database, account)).name;
  const { title, explained, button } = wordsOf(link, accountName, asksPassword);
  return accountPage(null, {
    title,
    main: html`<h1 class="name">${title}</h1>
      <p>${explained}</p>
      ${faultNote(fault)}
      <form class="form" method="post" action="/account/link">
        ${hidden("token", token)} ${asksPassword && passwordFields(email)}
        ${isNew && account === null && nameField(form.get("account"))}
        <button>${button}</button>
      </form>`,
  });
}

/** Returns the words of the page. @param accountName name of the account that an invitation is for; null for a new one. */
function wordsOf(
  { kind, email }: Link,
  accountName: string | null,
  asksPassword: boolean,
): { title: string; explained: Part; button: string } {
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

/** Returns the field for a new password. The hidden address lets password managers save both. */
export const passwordFields = (email: string, name = "password"): Html =>
  html`<input type="email" value="${email}" autocomplete="username" readonly hidden />
    ${field({ name, label: "New password", type: "password", autocomplete: "new-password", hint: "8 to 128 characters; four random words make a good one" })}`;

const nameField = (typed: string | null): Html =>
  field({
    name: "account",
    label: "Name of the account",
    value: typed ?? undefined,
    hint: "optional; your company or team",
    isOptional: true,
    lengthMax: 100,
  });

/** Returns the page of a link that was used, has expired or never existed: it does not say which. */
const deadLinkPage = (fault: string, maySignUp: boolean): string =>
  accountPage(null, {
    title: "This link does nothing any more",
    main: html`<h1>This link does nothing any more</h1>
      <p>${fault}</p>
      <ul>
        <li><a href="/account/sign-in">Sign in</a>, if you have chosen a password with it.</li>
        <li><a href="/account/forgot">Choose a new password</a>, if you no longer know yours.</li>
        ${maySignUp && html`<li><a href="/account/sign-up">Sign up</a>, if you have not yet.</li>`}
        <li>An invitation is sent again by whoever sent it.</li>
      </ul>`,
  });
