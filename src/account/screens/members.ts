/** Members of the account and invitations to it: lists them, invites, withdraws. */
import { choice, doneNote, faultNote, field, hidden } from "#account/components/form-fields.ts";
import { accountPage, type Frame, framed } from "#account/components/frame.ts";
import { canMail, demoNote, linkOf, mail, noMailNote } from "#account/components/mailed.ts";
import { relativeTime } from "#account/components/relative.ts";
import { invitationMail } from "#account/mail-templates.ts";
import { orAgain } from "#account/refusal-reply.ts";
import { page, type Reply, seeOther } from "#account/reply.ts";
import type { MemberRequest } from "#account/request.ts";
import { type Route, route } from "#account/route.ts";
import { invite, listInvitations, withdrawInvitation } from "#accounts/invites.ts";
import { listAudit } from "#accounts/list-audit.ts";
import { listMembers } from "#accounts/members.ts";
import { html, type Html, type Part } from "#pages/html.ts";
import { table } from "#pages/table.ts";
import { DomainError } from "#store/domain-error.ts";
import { dayMilliseconds } from "#store/durations.ts";
import { typedAddress, whomToAsk } from "./sign-in.ts";

export const memberRoutes: readonly Route[] = [
  route("/account/members", "member", { GET: show }),
  route("/account/members/invite", "owner", { POST: postInvitation }),
  route("/account/members/withdraw", "owner", { POST: withdraw }),
];

/** For each account: mail to strangers that contains a name of the account's choosing invites abuse. */
const invitationsADayMax = 50;

async function show(request: MemberRequest): Promise<Reply> {
  return page(membersPage(await viewOf(request)));
}

async function viewOf(request: MemberRequest): Promise<MembersView> {
  const { services, account, signedIn, query, now } = request;
  const { database } = services.control;
  const isOwner = account.role === "owner";
  return {
    frame: framed(request)!,
    own: signedIn.person.id,
    members: await listMembers(database, account.number),
    invitations: isOwner ? await listInvitations(database, account.number, now) : [],
    obstacle: obstacleOf(request),
    done: query.get("done"),
    now,
  };
}

function obstacleOf(request: MemberRequest): MembersView["obstacle"] {
  if (request.services.settings.signUp === "closed") return "closed";
  return canMail(request) ? null : "no mail";
}

async function postInvitation(request: MemberRequest): Promise<Reply> {
  const view = await viewOf(request);
  if (view.obstacle !== null) return page(membersPage(view), 403);
  const typed = { email: typedAddress(request), role: roleOf(request) };
  return orAgain(
    () => sendInvitation(request),
    (fault) => membersPage({ ...view, typed, fault }),
  );
}

async function sendInvitation(request: MemberRequest): Promise<Reply> {
  const { services, account, signedIn, form, now } = request;
  await refuseTooMany(request);
  const made = await invite(services.control, {
    account: account.number,
    address: form.get("email") ?? "",
    role: roleOf(request),
    actor: signedIn.person.id,
    now,
  });
  const link = linkOf(request, made);
  const message = invitationMail({ ...link, accountName: made.accountName });
  const demoLink = mail(request, message, link.url);
  if (demoLink === null) return seeOther("/account/members?done=invited");
  return page(membersPage({ ...(await viewOf(request)), demoLink, done: "invited" }));
}

async function refuseTooMany({ services, account, now }: MemberRequest): Promise<void> {
  const sent = await listAudit(services.control.database, {
    account: account.number,
    action: "member.invited",
    since: now - dayMilliseconds,
    limit: invitationsADayMax,
  });
  if (sent.length === invitationsADayMax)
    throw new DomainError(
      "too_often",
      `An account sends at most ${invitationsADayMax} invitations in 24 hours. Go on tomorrow.`,
    );
}

/** Anything but `owner` is taken as the lesser role. */
export const roleOf = ({ form }: MemberRequest): "owner" | "member" =>
  form.get("role") === "owner" ? "owner" : "member";

async function withdraw({ services, account, signedIn, form, now }: MemberRequest): Promise<Reply> {
  await withdrawInvitation(services.control, {
    account: account.number,
    id: form.get("invitation") ?? "",
    actor: signedIn.person.id,
    now,
  });
  return seeOther("/account/members?done=withdrawn");
}

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

interface MembersView {
  frame: Frame;
  /** Id of the person who looks at the page. */
  own: string;
  /** In the order of joining. */
  members: readonly MemberView[];
  /** Oldest first; empty unless the person is an owner. */
  invitations: readonly InvitationView[];
  /** Why owners cannot invite, if they cannot. */
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

function membersPage(view: MembersView): string {
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
