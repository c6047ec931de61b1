/** Pages to leave an account, close it or delete oneself. Each says what will happen and asks for the password. */
import { closeAccount } from "#accounts/accounts.ts";
import { deletePerson } from "#accounts/personal-data.ts";
import { leaveAccount, listMembers, type Membership } from "#accounts/members.ts";
import { confirmPassword } from "#accounts/sign-in.ts";
import { lastUseWords, readLiveKeys } from "./keys.ts";
import { headedPage, passwordField, postForm } from "#dashboard/components/page.ts";
import { signedOut } from "#dashboard/cookies.ts";
import {
  acting,
  type MemberRequest,
  posting,
  type Reply,
  type Route,
  route,
  seeOther,
  type SignedInRequest,
} from "#dashboard/screen.ts";
import { isLive, listKeys } from "#keys/keys.ts";
import { html, type Html, type Part } from "#pages/html.ts";
import { counted } from "#pages/prose.ts";

export const accountDeletionRoutes: readonly Route[] = [
  route("/account/settings/leave", "member", irreversible(leaving, leave)),
  route("/account/settings/close", "owner", irreversible(closing, close)),
  route("/account/settings/delete", "person", irreversible(deleting, deleteOneself)),
];

/** A step that cannot be undone. */
interface IrreversibleStep {
  title: string;
  effects: readonly Part[];
  button: string;
}

/** Serves a form that says what a step will do, asks for the password and only then takes the step. */
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

/** Returns what becomes of an account if the person is deleted, or what must be done before that. */
async function fateOf(
  { services, signedIn, now }: SignedInRequest,
  { number, name }: Membership,
): Promise<Html> {
  const members = await listMembers(services.control.database, number);
  const others = members.filter(({ person }) => person !== signedIn.person.id);
  if (others.length === 0) {
    const keys = await listKeys(services.control, { accountNumber: number, now });
    return html`The account ${bold(name)} has no other member, so it is closed.
    ${refusedKeys(keys.filter(isLive).length)}`;
  }
  return others.some(({ role }) => role === "owner")
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
