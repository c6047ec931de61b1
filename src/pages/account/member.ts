/** The page of one member, for owners: another role, removal, or the whole account. */
import { html, type Html, type Part } from "#pages/html.ts";
import { choice, faultNote, field, hidden } from "./fields.ts";
import { accountPage, type Frame } from "./frame.ts";
import { type MemberView, roles } from "./members.ts";
import { relativeTime } from "./relative.ts";

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

export function memberPage(view: OneMemberView): string {
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
