/** One member, for owners: change the role, remove, or pass the account on. */
import { choice, faultNote, hidden, passwordField } from "#account/components/form-fields.ts";
import { accountPage, type Frame, framed } from "#account/components/frame.ts";
import { relativeTime } from "#account/components/relative.ts";
import { orAgain } from "#account/refusal-reply.ts";
import { page, type Reply, seeOther } from "#account/reply.ts";
import type { MemberRequest } from "#account/request.ts";
import { type Route, route } from "#account/route.ts";
import {
  changeRole,
  listMembers,
  type Member,
  passOwnership,
  removeMember,
} from "#accounts/members.ts";
import { confirmPassword } from "#accounts/sign-in.ts";
import { isLive, listKeys } from "#keys/keys.ts";
import { html, type Html, type Part } from "#pages/html.ts";
import { DomainError } from "#store/domain-error.ts";
import { type MemberView, roleOf, roles } from "./members.ts";

export const oneMemberRoutes: readonly Route[] = [
  route("/account/members/role", "owner", {
    POST: changing("role", (request) =>
      changeRole(request.services.control, { ...changeOf(request), role: roleOf(request) }),
    ),
  }),
  route("/account/members/remove", "owner", {
    POST: changing("removed", (request) =>
      removeMember(request.services.control, changeOf(request)),
    ),
  }),
  route("/account/members/pass", "owner", { POST: changing("passed", pass) }),
  route("/account/members/{person}", "owner", { GET: show }),
];

async function show(request: MemberRequest): Promise<Reply> {
  return page((await markupOf(request, request.names["person"]!))());
}

async function requireMember(
  { services, account }: MemberRequest,
  person: string,
): Promise<Member> {
  const members = await listMembers(services.control.database, account.number);
  const member = members.find((one) => one.person === person);
  if (member !== undefined) return member;
  throw new DomainError("not_found", "The account has no such member.");
}

async function markupOf(
  request: MemberRequest,
  person: string,
): Promise<(fault?: string) => string> {
  const { services, account, signedIn, now } = request;
  const member = await requireMember(request, person);
  const keys = await listKeys(services.control, { accountNumber: account.number, now });
  const own = keys.filter((key) => key.madeBy === person && isLive(key));
  const isOwn = person === signedIn.person.id;
  return (fault) =>
    memberPage({ frame: framed(request)!, member, isOwn, keys: own.length, fault, now });
}

/** Who is to be changed, in which account, by whom. */
const changeOf = ({ account, signedIn, form, now }: MemberRequest) => ({
  account: account.number,
  person: form.get("person") ?? "",
  actor: signedIn.person.id,
  now,
});

/** Makes the change, or shows the page of the member again with the error. */
function changing(done: string, act: (request: MemberRequest) => Promise<void>) {
  return async (request: MemberRequest): Promise<Reply> =>
    orAgain(
      async () => {
        await act(request);
        return seeOther(`/account/members?done=${done}`);
      },
      await markupOf(request, changeOf(request).person),
    );
}

async function pass(request: MemberRequest): Promise<void> {
  const { control, passwords } = request.services;
  const { account, person: to, actor: from, now } = changeOf(request);
  const password = request.form.get("password") ?? "";
  await confirmPassword(control, passwords, { person: from, password, now });
  await passOwnership(control, { account, from, to, now });
}

interface OneMemberView {
  frame: Frame;
  member: MemberView;
  isOwn: boolean;
  /** How many of the keys they made still work. */
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
        html`${passwordField("Your password")} <button class="danger">Pass account on</button>`,
      )}
    </details>`;
