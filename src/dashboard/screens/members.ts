/** The account's members and invitations. Owners invite and remove members and change their roles. */
import { invite, listInvitations, withdrawInvitation } from "#accounts/invites.ts";
import { listAudit } from "#store/audit.ts";
import { changeRole, listMembers, type Member, removeMember } from "#accounts/members.ts";
import {
  accountPage,
  choice,
  doneNote,
  faultNote,
  field,
  hidden,
  wordReply,
} from "#dashboard/components/page.ts";
import { invitationMail } from "#dashboard/mail-templates.ts";
import {
  acting,
  actionRoute,
  type Given,
  type MemberRequest,
  type Reply,
  type Route,
  route,
  seeOther,
} from "#dashboard/screen.ts";
import { isLive, listKeys } from "#keys/keys.ts";
import { html, type Html, type Part } from "#pages/html.ts";
import { relativeTime } from "#pages/prose.ts";
import { table } from "#pages/table.ts";
import { DomainError } from "#store/domain-error.ts";
import { dayMilliseconds } from "#store/durations.ts";
import { canMail, linkOf, mail, mailedPage, noMailWords } from "./link.ts";
import { typedAddress, whomToAsk } from "./sign-in.ts";

export const memberRoutes: readonly Route[] = [
  route("/account/members", "member", {
    GET: membersPage,
    link: { group: "Account", label: "Members" },
  }),
  actionRoute("/account/members/invite", "owner", {
    obstacle: (request) => {
      const why = obstacleOf(request);
      return why === null ? null : wordReply(request, 403, "Invite somebody", why);
    },
    page: membersPage,
    act: sendInvitation,
  }),
  route("/account/members/withdraw", "owner", { POST: withdraw }),
  actionRoute(
    "/account/members/role",
    "owner",
    changing("role", (request) =>
      changeRole(request.services.control, { ...changeOf(request), role: roleOf(request) }),
    ),
  ),
  actionRoute(
    "/account/members/remove",
    "owner",
    changing("removed", (request) => removeMember(request.services.control, changeOf(request))),
  ),
  route("/account/members/{person}", "owner", {
    GET: (request) => memberPage(request, request.names["person"]!),
  }),
];

/**
 * Maximum number of invitations that an account may send in 24 hours. Mail to strangers under a self-chosen name would
 * otherwise invite abuse.
 */
const invitationsADayMax = 50;

/** Returns the reason why owners cannot invite anybody here, or null if they can. */
function obstacleOf(request: MemberRequest): string | null {
  if (request.services.settings.signUp === "closed")
    return `Invitations are closed here. Ask ${whomToAsk("closed")} for one.`;
  return canMail(request) ? null : noMailWords;
}

async function sendInvitation(request: MemberRequest): Promise<Given> {
  await refuseTooMany(request);
  const made = await invite(request.services.control, {
    ...acting(request),
    address: request.form.get("email") ?? "",
    role: roleOf(request),
  });
  const link = linkOf(request, made);
  const message = invitationMail(link, made.accountName);
  const demoLink = mail(request, message, link.url);
  return demoLink === null
    ? seeOther("/account/members?done=invited")
    : mailedPage(request, made.email, demoLink);
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
      `An account may send at most ${invitationsADayMax} invitations in 24 hours. Try again tomorrow.`,
    );
}

/** Reads the role from the form. Anything but `owner` means `member`. */
const roleOf = ({ form }: MemberRequest): Member["role"] =>
  form.get("role") === "owner" ? "owner" : "member";

async function withdraw(request: MemberRequest): Promise<Reply> {
  const id = request.form.get("invitation") ?? "";
  await withdrawInvitation(request.services.control, { ...acting(request), id });
  return seeOther("/account/members?done=withdrawn");
}

const sentences = {
  invited: "The invitation is on its way.",
  withdrawn: "The invitation is withdrawn: its link no longer works.",
  role: "The role is changed.",
  removed: "The member is removed.",
};

const roles = [
  { value: "member", label: "member: keys and usage" },
  { value: "owner", label: "owner: members and account, too" },
] as const;

async function membersPage(request: MemberRequest, fault?: string): Promise<string> {
  const { services, account, query } = request;
  const members = await listMembers(services.control.database, account.number);
  const obstacle = obstacleOf(request);
  return accountPage(request, {
    title: "Members",
    main: html`<h1>
        ${members.length === 1 ? "You are the only member" : `${members.length} members`}
      </h1>
      ${doneNote(sentences, query.get("done"))} ${memberTable(request, members)}
      ${
        account.role === "owner"
          ? html`${await invitationPart(request)}
              <h2>Invite somebody</h2>
              ${faultNote(fault)}
              ${obstacle === null ? inviteForm(request) : html`<p>${obstacle}</p>`}`
          : html`<p>Owners invite and remove members.</p>`
      }`,
  });
}

const memberTable = ({ account, signedIn, now }: MemberRequest, members: readonly Member[]): Html =>
  table({
    label: "Members",
    columns: [
      "Address",
      "Role",
      "Joined",
      ...(account.role === "owner" ? [{ label: "Action", isPlain: true }] : []),
    ],
    rows: members.map(({ person, email, role, joinedAt }) => [
      html`<span class="name">${email}</span>${person === signedIn.person.id && " (you)"}`,
      role,
      relativeTime(joinedAt, now),
      ...(account.role === "owner" ? [html`<a href="/account/members/${person}">Change</a>`] : []),
    ]),
  });

/** Returns a table of the open invitations, oldest first. Returns null if there are none. */
async function invitationPart({ services, account, now }: MemberRequest): Promise<Part> {
  const { database } = services.control;
  const invitations = await listInvitations(database, account.number, now);
  if (invitations.length === 0) return null;
  return html`<h2>Invited</h2>
    ${table({
      label: "Open invitations",
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
}

const inviteForm = (request: MemberRequest): Html =>
  html`<form class="form" method="post" action="/account/members/invite">
    ${field({ name: "email", label: "E-mail address", type: "email", value: typedAddress(request), hint: "gets a link that works for 7 days" })}
    ${choice("role", "Role", roles, roleOf(request))}
    <button>Invite</button>
  </form>`;

/** Returns the account, the member to change, the actor and the time. */
const changeOf = (request: MemberRequest) => ({
  ...acting(request),
  person: request.form.get("person") ?? "",
});

/** Returns a form that changes a member. Its errors are shown on the member's page. */
function changing(done: string, change: (request: MemberRequest) => Promise<void>) {
  return {
    page: (request: MemberRequest, fault?: string) =>
      memberPage(request, changeOf(request).person, fault),
    async act(request: MemberRequest): Promise<Reply> {
      await change(request);
      return seeOther(`/account/members?done=${done}`);
    },
  };
}

/** Returns a member's page. @throws DomainError `not_found` if the account has no such member. */
async function memberPage(request: MemberRequest, person: string, fault?: string): Promise<string> {
  const { services, account, signedIn, now } = request;
  const members = await listMembers(services.control.database, account.number);
  const member = members.find((one) => one.person === person);
  if (member === undefined) throw new DomainError("not_found", "The account has no such member.");
  const keys = await listKeys(services.control, { accountNumber: account.number, now });
  const own = keys.filter((key) => key.madeBy === person && isLive(key));
  const isOwn = person === signedIn.person.id;
  return accountPage(request, {
    title: member.email,
    main: html`<h1 class="name">${member.email}</h1>
      <p>
        ${member.role === "owner" ? "Owner" : "Member"} of the account, joined
        ${relativeTime(member.joinedAt, now)}${isOwn && ". This is you"}.
        <a href="/account/members">All members</a>
      </p>
      ${faultNote(fault)} ${memberForms(member, isOwn, own.length)}`,
  });
}

const keysNote = (keys: number): string =>
  keys === 0
    ? "They made no key that still works."
    : `${keys === 1 ? "One key" : `${keys} keys`} that they made and may still know would go on working: rotate what they should not use.`;

/** Returns the forms that change a member. @param keys number of the member's keys that still work. */
function memberForms({ person, role }: Member, isOwn: boolean, keys: number): Html {
  const form = (action: string, content: Part) =>
    html`<form class="form" method="post" action="/account/members/${action}">
      ${hidden("person", person)} ${content}
    </form>`;
  const changing = html`<h2>Change role</h2>
    ${form("role", html`${choice("role", "Role", roles, role)}<button class="quiet">Change role</button>`)}`;
  if (isOwn)
    return html`${changing}
      <h2>Leave</h2>
      <p><a href="/account/settings/leave">Leave the account</a></p>`;
  return html`${changing}
    <h2>Remove</h2>
    <details>
      <summary>Take this member out of the account</summary>
      <p>From their next click on, they can no longer see its keys or usage. ${keysNote(keys)}</p>
      ${form("remove", html`<button class="danger">Remove member</button>`)}
    </details>`;
}
