/**
 * Settings: the person's address, password and signed-in browsers, the account's name, a download of all data, and the
 * ways to leave or close the account and to delete one's login.
 */
import { closeAccount, renameAccount } from "#accounts/accounts.ts";
import { changePassword, confirmPassword, requestAddressChange } from "#accounts/credentials.ts";
import { sessionDays } from "#accounts/kept-days.ts";
import { leaveAccount, listMembers, type Membership } from "#accounts/members.ts";
import { readAddress } from "#accounts/people.ts";
import { deletePerson, exportPerson } from "#accounts/personal-data.ts";
import { endAllSessions, endSession, listSessions, switchAccount } from "#accounts/sessions.ts";
import { field, headedPage, hidden, passwordField, postForm } from "#dashboard/components/page.ts";
import { endFormer, signedOut } from "#dashboard/cookies.ts";
import { addressTakenMail, linkMail } from "#dashboard/mail-templates.ts";
import {
  type AccountRequest,
  acting,
  download,
  type MemberRequest,
  posting,
  type Reply,
  route,
  seeOther,
  type SignedInRequest,
} from "#dashboard/screen.ts";
import { isLive, listKeys } from "#keys/keys.ts";
import { factList, html, type Html, type Part, table } from "#pages/html.ts";
import { counted, relativeTime } from "#pages/prose.ts";
import { hoursKeptDays } from "#usage/retention.ts";
import { readBars } from "#usage/totals.ts";
import { lastUseWords, readLiveKeys } from "./keys.ts";
import {
  beginWithNewPassword,
  mail,
  mailedPage,
  passwordFields,
  requireMail,
  typedAddress,
} from "./sign-in.ts";

export const settingsRoutes = [
  route("/account/settings", "person", {
    GET: settingsPage,
    link: { group: "Account", label: "Settings" },
  }),
  route("/account/settings/name", "owner", { POST: posting(settingsPage, rename) }),
  route("/account/settings/export", "person", { POST: exportAll }),
  route("/account/settings/address", "person", {
    GET: addressPage,
    POST: posting(addressPage, askAddress),
  }),
  route("/account/settings/password", "person", {
    GET: passwordPage,
    POST: posting(passwordPage, setPassword),
  }),
  route("/account/sessions", "person", { GET: sessionsPage, POST: endListed }),
  route("/account/sign-out", "anyone", { POST: signOut }),
  route("/account/sign-out-everywhere", "person", {
    POST: async (request) => {
      const { services, signedIn, now } = request;
      await endAllSessions(services.control, { person: signedIn.person.id, now });
      return signedOut(request, "/account/sign-in?done=everywhere");
    },
  }),
  route("/account/switch", "person", { POST: switchTo }),
  route("/account/settings/leave", "member", irreversible(leaving, leave)),
  route("/account/settings/close", "owner", irreversible(closing, close)),
  route("/account/settings/delete", "person", irreversible(deleting, deleteOneself)),
];

async function rename(request: MemberRequest): Promise<Reply> {
  const name = request.form.get("name") ?? "";
  await renameAccount(request.services.control, { ...acting(request), name });
  return seeOther("/account/settings?done=name");
}

async function exportAll(request: SignedInRequest): Promise<Reply> {
  const { services, signedIn, now } = request;
  const kept = await exportPerson(services.control, signedIn.person.id, now);
  const usage = await Promise.all(signedIn.accounts.map((account) => usageOf(request, account)));
  const json = JSON.stringify({ ...kept, usage }, null, 2);
  return download("my-data.json", "application/json; charset=utf-8", json);
}

async function usageOf({ services, now }: SignedInRequest, { number, id }: Membership) {
  const order = { account: number, unit: "day", count: hoursKeptDays, now } as const;
  const days = (await readBars(services.usage, order))
    .filter(({ requests }) => requests > 0)
    .map(({ at, requests, bytes, byClass, overQuota }) => ({
      day: at.slice(0, 10),
      requests,
      bytes,
      by_status: byClass,
      over_quota: overQuota,
    }));
  return { account: id, days };
}

/** Returns the settings page. @param fault why the submitted account name was refused. */
function settingsPage(request: SignedInRequest, fault?: string): string {
  const { signedIn, now } = request;
  const { person, account } = signedIn;
  const address = html`<span class="name">${person.email}</span>`;
  const signedUp = relativeTime(person.createdAt, now);
  return headedPage(request, {
    title: "Settings",
    done: {
      address: "Your address has been changed. Sign in with the new address from now on.",
      closed: "The account is closed, and its keys are refused.",
      left: "You have left the account.",
      name: "The account has been renamed.",
      password: "Your password has been changed, and every other browser has been signed out.",
    },
    fault,
    main: html`<h2>You</h2>
      ${factList([
        ["Address", linked(address, "/account/settings/address", "Change address")],
        ["Password", linked("chosen by you", "/account/settings/password", "Change password")],
        ["Signed up", linked(signedUp, "/account/sessions", "Signed-in browsers")],
      ])}
      ${account !== null && accountPart(account, request.form.get("name")?.slice(0, 200))}
      <h2>Your data</h2>
      <p>
        A JSON file with what is kept about you and your accounts, except passwords, whole keys and
        single requests.
      </p>
      ${postForm("/account/settings/export", "Download my data", null, "quiet")}
      <h2>Your login</h2>
      <p><a href="/account/settings/delete">Delete your login</a></p>`,
  });
}

const linked = (what: Part, path: string, label: string): Html =>
  html`${what} · <a href="${path}">${label}</a>`;

function accountPart({ name, id, role }: Membership, typedName = name): Html {
  const isOwner = role === "owner";
  const fields = field({ name: "name", label: "Name", value: typedName, lengthMax: 100 });
  return html`<h2 class="name">The account ${name}</h2>
    <p>
      You are ${isOwner ? "an owner" : "a member"} of this account. Its id is <code>${id}</code>.
      <a href="/account/members">Members</a>
    </p>
    ${isOwner && postForm("/account/settings/name", "Rename account", fields, "quiet")}
    <ul>
      <li><a href="/account/settings/leave">Leave the account</a></li>
      ${isOwner && html`<li><a href="/account/settings/close">Close the account</a></li>`}
    </ul>`;
}

/**
 * Mails a link to the new address, or a notice if somebody else already has that address. Outside a demo, the page does
 * not reveal which was sent.
 */
async function askAddress(request: SignedInRequest): Promise<string> {
  const { services, signedIn, form, now } = request;
  requireMail(request, unconfirmed);
  const { id: person } = signedIn.person;
  const order = { person, password: form.get("password") ?? "", address: form.get("email") ?? "" };
  const made = await requestAddressChange(services.control, services.passwords, { ...order, now });
  const { isKnown, email } = made;
  const shown = mail(request, made, (link) =>
    isKnown ? addressTakenMail(email) : linkMail("addressChange", link),
  );
  return mailedPage(request, readAddress(order.address).email, isKnown ? null : shown);
}

async function setPassword(request: SignedInRequest): Promise<Reply> {
  const { services, signedIn, form, client, now } = request;
  const { id: person } = signedIn.person;
  const [present, next] = ["present", "next"].map((name) => form.get(name) ?? "");
  const order = { person, password: present!, next: next!, client, now };
  const changed = await changePassword(services.control, services.passwords, order);
  return beginWithNewPassword(request, changed);
}

const unconfirmed = "Without mail, a new address cannot be confirmed. Yours stays the same.";

function addressPage(request: SignedInRequest, fault?: string): string {
  requireMail(request, unconfirmed);
  return headedPage(request, {
    title: "Change your address",
    fault,
    main: html`<p>
        We mail a link to the new address. You go on signing in with
        ${bold(request.signedIn.person.email)} until you confirm there.
      </p>
      ${postForm(
        "/account/settings/address",
        "Mail me a link",
        html`${field({ name: "email", label: "New e-mail address", type: "email", autocomplete: "email", value: typedAddress(request) })}
        ${passwordField("Password")}`,
      )}`,
  });
}

function passwordPage(request: SignedInRequest, fault?: string): string {
  return headedPage(request, {
    title: "Change your password",
    fault,
    main: html`<p>When you change your password, you are signed out in every other browser.</p>
      ${postForm(
        "/account/settings/password",
        "Change password",
        html`${passwordField("Current password", "present")}
        ${passwordFields(request.signedIn.person.email, "next")}`,
      )}
      <p>Forgot it? <a href="/account/forgot">Ask for a link</a> to choose a new one.</p>`,
  });
}

interface IrreversibleStep {
  title: string;
  effects: readonly Part[];
  button: string;
}

/** Returns a route's functions: GET says what a step will do, and POST takes the step if the password is right. */
function irreversible<R extends SignedInRequest>(
  words: (request: R) => IrreversibleStep | Promise<IrreversibleStep>,
  act: (request: R) => Promise<Reply>,
) {
  const page = async (request: R, fault?: string) => {
    const { title, effects, button } = await words(request);
    return headedPage(request, {
      title,
      fault,
      main: html`<ul>
          ${effects.map((effect) => effect !== false && html`<li>${effect}</li>`)}
        </ul>
        <p>This cannot be undone.</p>
        ${postForm(request.path, button, passwordField("Your password"), "danger")}
        <p><a href="/account/settings">Back to the settings</a></p>`,
    });
  };
  const confirmed = async (request: R) => {
    const { services, signedIn, form, now } = request;
    const order = { person: signedIn.person.id, password: form.get("password") ?? "", now };
    await confirmPassword(services.control, services.passwords, order);
    return act(request);
  };
  return { GET: (request: R) => page(request), POST: posting(page, confirmed) };
}

async function leave(request: MemberRequest): Promise<Reply> {
  const { account, actor: person, now } = acting(request);
  await leaveAccount(request.services.control, { account, person, now });
  return seeOther("/account/settings?done=left");
}

async function close(request: MemberRequest): Promise<Reply> {
  await closeAccount(request.services.control, acting(request));
  return seeOther("/account/settings?done=closed");
}

async function deleteOneself(request: SignedInRequest): Promise<Reply> {
  const { services, signedIn, now } = request;
  const { id: person } = signedIn.person;
  await deletePerson(services.control, { person, actor: person, now });
  return signedOut(request, "/account/sign-in?done=deleted");
}

function leaving({ account }: MemberRequest): IrreversibleStep {
  return {
    title: `Leave ${account.name}?`,
    effects: [
      "You no longer see its keys, usage or members.",
      "Keys that you made stay with the account and go on working.",
      "You can come back only if an owner or the operator invites you again.",
    ],
    button: "Leave account",
  };
}

async function closing(request: MemberRequest): Promise<IrreversibleStep> {
  const { services, account, now } = request;
  const keys = await readLiveKeys(request);
  const members = await listMembers(services.control.database, account.number);
  return {
    title: `Close ${account.name}?`,
    effects: [
      keys.length === 0
        ? refusedKeys(0)
        : html`${refusedKeys(keys.length)}
            <ul>
              ${keys.map(
                (key) =>
                  html`<li>
                    ${bold(key.name)} (<code>${key.hint}…</code>), last used
                    ${lastUseWords(key, now)}
                  </li>`,
              )}
            </ul>`,
      members.length > 1 &&
        `${counted(members.length - 1, "other member")} would lose access to this account.`,
      "Others can use the name of the account. The operator keeps the record of its requests under the account's id.",
    ],
    button: "Close account",
  };
}

async function deleting(request: SignedInRequest): Promise<IrreversibleStep> {
  const { accounts } = request.signedIn;
  return {
    title: "Delete your login?",
    effects: [
      "Your address, your password and your sessions are deleted at once. You can no longer sign in.",
      ...(await Promise.all(accounts.map((account) => fateOf(request, account)))),
      "The feeds of views that you follow stop.",
      "The audit log keeps your id, which no longer identifies anyone.",
    ],
    button: "Delete login",
  };
}

/** Returns what happens to an account if the person's login is deleted, or what must be done first. */
async function fateOf(
  { services, signedIn, now }: SignedInRequest,
  { number, name, role: own }: Membership,
): Promise<Html> {
  const members = await listMembers(services.control.database, number);
  const others = members.filter(({ person }) => person !== signedIn.person.id);
  if (others.length === 0) {
    const keys = await listKeys(services.control, { accountNumber: number, now });
    return html`The account ${bold(name)} has no other member, so it is closed.
    ${refusedKeys(keys.filter(isLive).length)}`;
  }
  return own === "member" || others.some(({ role }) => role === "owner")
    ? html`You leave the account ${bold(name)}; keys that you made there go on working.`
    : html`The account ${bold(name)} has no other owner. Switch to this account, and first
        <a href="/account/members">make somebody else an owner</a> or
        <a href="/account/settings/close">close the account</a>.`;
}

const refusedKeys = (count: number): string =>
  count === 0
    ? "The account has no key that works."
    : `${counted(count, "key")} of the account would be refused from then on.`;

const bold = (name: string): Html => html`<strong class="name">${name}</strong>`;

async function endListed({ services, signedIn, form, now }: SignedInRequest): Promise<Reply> {
  const { session, person } = signedIn;
  const id = form.get("session") ?? "";
  await endSession(services.control, { person: person.id, id, own: session, now });
  return seeOther("/account/sessions?done=ended");
}

/** Signs the browser out. Works even if it is signed out already, for instance in a second tab. */
async function signOut(request: AccountRequest): Promise<Reply> {
  await endFormer(request);
  return signedOut(request, "/account/sign-in?done=out");
}

async function switchTo({ services, signedIn, form }: SignedInRequest): Promise<Reply> {
  const accountId = form.get("account") ?? "";
  const { person, session } = signedIn;
  await switchAccount(services.control, { person: person.id, session, accountId });
  return seeOther("/account/keys");
}

async function sessionsPage(request: SignedInRequest): Promise<string> {
  const { services, signedIn, now } = request;
  const sessions = await listSessions(services.control.database, signedIn.person.id, now);
  const count = sessions.length;
  return headedPage(request, {
    title: "Signed-in browsers",
    heading: `You are signed in with ${count === 1 ? "this browser only" : `${count} browsers`}`,
    done: { ended: "That browser is signed out." },
    main: html`${table({
        label: "Signed-in browsers",
        columns: [
          "Browser",
          "Network",
          "Signed in",
          "Last seen",
          { label: "Action", isPlain: true },
        ],
        rows: sessions.map((session) => [
          session.browser,
          html`<span class="mono">${session.network}</span>`,
          relativeTime(session.createdAt, now),
          relativeTime(session.seenAt, now),
          session.id === signedIn.session
            ? "this browser"
            : postForm("/account/sessions", "Sign out", hidden("session", session.id), "quiet"),
        ]),
      })}
      <p>
        A browser is signed out automatically after 12 hours without a request, or after
        ${counted(sessionDays, "day")}. If you do not recognize one of these browsers, sign it out
        and
        <a href="/account/settings/password">change your password</a>.
      </p>
      ${postForm("/account/sign-out-everywhere", "Sign out everywhere", null, "danger")}`,
  });
}
