/** The page of who is in the account, and who is invited to it. */
import { html, type Html, type Part } from "#pages/html.ts";
import { table } from "#pages/table.ts";
import { doneNote } from "./done.ts";
import { choice, faultNote, field, hidden } from "./fields.ts";
import { accountPage, type Frame } from "./frame.ts";
import { demoNote, noMailNote } from "./mailed.ts";
import { relativeTime } from "./relative.ts";
import { whomToAsk } from "./sign-in.ts";

export interface MemberView {
  person: string;
  email: string;
  role: "owner" | "member";
  joinedAt: string;
}

interface InvitationView {
  id: string;
  email: string;
  role: "owner" | "member";
  createdAt: string;
  expiresAt: string;
}

export interface MembersView {
  frame: Frame;
  /** Id of whoever looks. */
  own: string;
  /** In the order of joining. */
  members: readonly MemberView[];
  /** Oldest first; empty for whoever is no owner. */
  invitations: readonly InvitationView[];
  /** What keeps an owner from inviting, if anything. */
  obstacle: "closed" | "no mail" | null;
  typed?: { email: string; role: string };
  fault?: string | undefined;
  demoLink?: string | null;
  done: string | null;
  /** Milliseconds since 1970. */
  now: number;
}

const sentences = {
  invited: "The invitation is on its way.",
  withdrawn: "The invitation is withdrawn: its link does nothing any more.",
  role: "The role is changed.",
  removed: "The member is removed.",
  passed: "The account has its new owner, and you are a member.",
};

export const roles = [
  { value: "member", label: "member: keys and usage" },
  { value: "owner", label: "owner: members and account, too" },
] as const;

export function membersPage(view: MembersView): string {
  const { frame, members } = view;
  const isOwner = frame.account?.role === "owner";
  return accountPage({
    title: "Members",
    frame,
    main: html`<h1>
        ${members.length === 1 ? "You are the only member" : `${members.length} members`}
      </h1>
      ${doneNote(sentences, view.done)} ${memberTable(view, isOwner)}
      ${isOwner ? [invitationPart(view), inviting(view)] : html`<p>Owners invite and remove members.</p>`}`,
  });
}

const memberTable = ({ members, own, now }: MembersView, isOwner: boolean): Html =>
  table({
    label: "Members",
    columns: [
      "Address",
      "Role",
      "Joined",
      ...(isOwner ? [{ label: "Action", isPlain: true }] : []),
    ],
    rows: members.map(({ person, email, role, joinedAt }) => [
      html`<span class="name">${email}</span>${person === own && " (you)"}`,
      role,
      relativeTime(joinedAt, now),
      ...(isOwner ? [html`<a href="/account/members/${person}">Change</a>`] : []),
    ]),
  });

const invitationPart = ({ invitations, now }: MembersView): Part =>
  invitations.length > 0 &&
  html`<h2>Invited</h2>
    ${table({
      label: "Invitations that nobody has followed yet",
      columns: ["Address", "Role", "Invited", "Ends", { label: "Action", isPlain: true }],
      rows: invitations.map(({ id, email, role, createdAt, expiresAt }) => [
        html`<span class="name">${email}</span>`,
        role,
        relativeTime(createdAt, now),
        relativeTime(expiresAt, now),
        html`<form method="post" action="/account/members/withdraw">
          ${hidden("invitation", id)}<button class="quiet">Withdraw</button>
        </form>`,
      ]),
    })}`;

const inviting = ({ obstacle, typed, fault, demoLink = null }: MembersView): Html =>
  html`<h2>Invite somebody</h2>
    ${demoNote(demoLink)} ${faultNote(fault)}
    ${obstacle === null ? inviteForm(typed) : obstacleNote(obstacle)}`;

const inviteForm = (typed: MembersView["typed"]): Html =>
  html`<form class="form" method="post" action="/account/members/invite">
    ${field({ name: "email", label: "E-mail address", type: "email", value: typed?.email, hint: "gets a link that works for 7 days" })}
    ${choice("role", "Role", roles, typed?.role ?? "member")}
    <button>Invite</button>
  </form>`;

const obstacleNote = (obstacle: "closed" | "no mail"): Html =>
  obstacle === "closed"
    ? html`<p>Invitations are closed here. Ask ${whomToAsk("closed")} for one.</p>`
    : noMailNote;
