/** One member, for owners: another role, removal, or the whole account. */
import { choice, faultNote, field, hidden } from "#account/components/fields.ts";
import { accountPage, type Frame, framed } from "#account/components/frame.ts";
import { isLive } from "#account/components/key-views.ts";
import { relativeTime } from "#account/components/relative.ts";
import { orAgain } from "#account/refusal.ts";
import { page, type Reply, seeOther } from "#account/reply.ts";
import type { AccountVisit } from "#account/request.ts";
import { type Route, route } from "#account/route.ts";
import {
  changeRole,
  listMembers,
  type Member,
  passOwnership,
  removeMember,
} from "#accounts/members.ts";
import { confirmPassword } from "#accounts/sign-in.ts";
import { listKeys } from "#keys/keys.ts";
import { html, type Html, type Part } from "#pages/html.ts";
import { StoreFault } from "#store/domain-error.ts";
import { type MemberView, roleOf, roles } from "./members.ts";

async function requireMember({ rooms, account }: AccountVisit, person: string): Promise<Member> {
  const members = await listMembers(rooms.control.database, account.number);
  const member = members.find((one) => one.person === person);
  if (member !== undefined) return member;
  throw new StoreFault("not_found", "The account has no such member.");
}

async function markupOf(visit: AccountVisit, person: string): Promise<(fault?: string) => string> {
  const { rooms, account, visitor, now } = visit;
  const member = await requireMember(visit, person);
  const keys = await listKeys(rooms.control, { accountNumber: account.number, now });
  const own = keys.filter((key) => key.madeBy === person && isLive(key));
  const isOwn = person === visitor.person.id;
  return (fault) =>
    memberPage({ frame: framed(visit)!, member, isOwn, keys: own.length, fault, now });
}

const show = async (visit: AccountVisit): Promise<Reply> =>
  page((await markupOf(visit, visit.names["person"]!))());

/** Who is changed, in which account, by whom. */
const changeOf = ({ account, visitor, form, now }: AccountVisit) => ({
  account: account.number,
  person: form.get("person") ?? "",
  actor: visitor.person.id,
  now,
});

/** Does it, or shows the page of the member again. */
const changing =
  (done: string, act: (visit: AccountVisit) => Promise<void>) =>
  async (visit: AccountVisit): Promise<Reply> =>
    orAgain(
      async () => {
        await act(visit);
        return seeOther(`/account/members?done=${done}`);
      },
      await markupOf(visit, changeOf(visit).person),
    );

async function pass(visit: AccountVisit): Promise<void> {
  const { control, passwords } = visit.rooms;
  const { account, person: to, actor: from, now } = changeOf(visit);
  const password = visit.form.get("password") ?? "";
  await confirmPassword(control, passwords, { person: from, password, now });
  await passOwnership(control, { account, from, to, now });
}

export const oneMemberRoutes: readonly Route[] = [
  route("/account/members/role", "owner", {
    POST: changing("role", (visit) =>
      changeRole(visit.rooms.control, { ...changeOf(visit), role: roleOf(visit) }),
    ),
  }),
  route("/account/members/remove", "owner", {
    POST: changing("removed", (visit) => removeMember(visit.rooms.control, changeOf(visit))),
  }),
  route("/account/members/pass", "owner", { POST: changing("passed", pass) }),
  route("/account/members/{person}", "owner", { GET: show }),
];

/** The page of one member, for owners: another role, removal, or the whole account. */
interface OneMemberView {
  frame: Frame;
  member: MemberView;
  isOwn: boolean;
  /** How many keys that work they made. */
  keys: number;
  fault?: string | undefined;
  /** Milliseconds since 1970. */
  now: number;
}

function memberPage(view: OneMemberView): string {
  const { frame, member, isOwn, fault, now } = view;
  return accountPage({
    title: member.email,
    frame,
    main: html`<h1 class="name">${member.email}</h1>
      <p>
        ${member.role === "owner" ? "Owner" : "Member"} of the account, joined
        ${relativeTime(member.joinedAt, now)}${isOwn && ". This is you"}.
        <a href="/account/members">All members</a>
      </p>
      ${faultNote(fault)} ${roleForm(member)}
      ${isOwn ? leaveNote : [removeForm(view), passForm(member)]}`,
  });
}

const formOf = (action: string, { person }: MemberView, content: Part): Html =>
  html`<form class="form" method="post" action="/account/members/${action}">
    ${hidden("person", person)} ${content}
  </form>`;

const roleForm = (member: MemberView): Html =>
  html`<h2>Change role</h2>
    ${formOf(
      "role",
      member,
      html`${choice("role", "Role", roles, member.role)}<button class="quiet">Change role</button>`,
    )}`;

const leaveNote: Html = html`<h2>Leave</h2>
  <p><a href="/account/settings/leave">Leave the account</a></p>`;

const removeForm = ({ member, keys }: OneMemberView): Html =>
  html`<h2>Remove</h2>
    <details>
      <summary>Take this member out of the account</summary>
      <p>They no longer see its keys and its usage, from their next click on. ${keysNote(keys)}</p>
      ${formOf("remove", member, html`<button class="danger">Remove member</button>`)}
    </details>`;

const keysNote = (keys: number): string =>
  keys === 0
    ? "No key that works was made by them."
    : `${keys === 1 ? "One key" : `${keys} keys`} that they made and may still know would go on working: rotate what they should not use.`;

const passForm = (member: MemberView): Html =>
  html`<h2>Pass the account on</h2>
    <details>
      <summary>Make them the owner in your place</summary>
      <p>
        They become an owner and you a member: you could not invite, remove or close any more, and
        only they could undo it.
      </p>
      ${formOf(
        "pass",
        member,
        html`${field({ name: "password", label: "Your password", type: "password", autocomplete: "current-password" })}
          <button class="danger">Pass account on</button>`,
      )}
    </details>`;
