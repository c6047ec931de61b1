/** The account's members and invitations. Owners invite and remove members and change their roles. */
import { invite, listInvitations, withdrawInvitation } from "#accounts/invitations.ts";
import { changeRole, listMembers, type Member, removeMember } from "#accounts/members.ts";
import { choice, field, headedPage, hidden, postForm } from "#dashboard/components/page.ts";
import { invitationMail } from "#dashboard/mail-templates.ts";
import {
  acting,
  type MemberRequest,
  posting,
  type Reply,
  route,
  seeOther,
} from "#dashboard/screen.ts";
import { isLive } from "#keys/keys.ts";
import { html, type Html, type Part, table } from "#pages/html.ts";
import { counted, relativeTime } from "#pages/prose.ts";
import { DomainError } from "#store/store-fault.ts";
import { listOwn } from "./keys.ts";
import { canMail, mail, mailedPage, typedAddress, whomToAsk } from "./sign-in.ts";

export const memberRoutes = [
  route("/account/members", "member", {
    GET: membersPage,
    link: { group: "Account", label: "Members" },
  }),
  route("/account/members/invite", "owner", { POST: posting(membersPage, sendInvitation) }),
  route("/account/members/withdraw", "owner", { POST: withdraw }),
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
];

/** Returns the reason why owners cannot invite anybody here, or null if they can. */
function obstacleOf(request: MemberRequest): string | null {
  if (request.services.settings.signUp === "closed")
    return `Owners cannot invite anybody here. Ask ${whomToAsk("closed")} to do it.`;
  return canMail(request)
    ? null
    : "This service sends no mail. Ask its operator for an invitation link to this account.";
}

async function sendInvitation(request: MemberRequest): Promise<Reply | string> {
  const obstacle = obstacleOf(request);
  if (obstacle !== null) throw new DomainError("refused", obstacle);
  const made = await invite(request.services.control, {
    ...acting(request),
    address: request.form.get("email") ?? "",
    role: roleOf(request),
  });
  const demoLink = mail(request, made, (link) => invitationMail(link, made.accountName));
  return demoLink === null
    ? seeOther("/account/members?done=invited")
    : mailedPage(request, made.email, demoLink);
}

/** Reads the role from the form. Anything but `owner` means `member`. */
const roleOf = ({ form }: MemberRequest): Member["role"] =>
  form.get("role") === "owner" ? "owner" : "member";

async function withdraw(request: MemberRequest): Promise<Reply> {
  const id = request.form.get("invitation") ?? "";
  await withdrawInvitation(request.services.control, { ...acting(request), id });
  return seeOther("/account/members?done=withdrawn");
}

const roles = [
  { value: "member", label: "member: keys and usage" },
  { value: "owner", label: "owner: also members and the account" },
] as const;

async function membersPage(request: MemberRequest, fault?: string): Promise<string> {
  const { services, account } = request;
  const members = await listMembers(services.control.database, account.number);
  const obstacle = obstacleOf(request);
  return headedPage(request, {
    title: "Members",
    heading: members.length === 1 ? "You are the only member" : `${members.length} members`,
    done: {
      invited: "The invitation is being mailed.",
      removed: "The member has been removed from the account.",
      role: "The member's role has been changed.",
      withdrawn: "The invitation has been withdrawn: its link no longer works.",
    },
    fault,
    main: html`${await memberTable(request, members)}
    ${
      account.role === "owner"
        ? html`${await invitationPart(request)}
            <h2>Invite somebody</h2>
            ${obstacle === null ? inviteForm(request) : html`<p>${obstacle}</p>`}`
        : html`<p>Owners invite and remove members.</p>`
    }`,
  });
}

/** Returns a table of the members. For an owner, each row also has the forms that change that member. */
async function memberTable(request: MemberRequest, members: readonly Member[]): Promise<Html> {
  const { account, signedIn, now } = request;
  const isOwner = account.role === "owner";
  const keys = isOwner ? await listOwn(request) : [];
  const keysOf = Map.groupBy(keys.filter(isLive), ({ madeBy }) => madeBy);
  return table({
    label: "Members",
    columns: [
      "Address",
      "Role",
      "Joined",
      ...(isOwner ? [{ label: "Action", isPlain: true }] : []),
    ],
    rows: members.map((member) => {
      const isOwn = member.person === signedIn.person.id;
      return [
        html`<span class="name">${member.email}</span>${isOwn && " (you)"}`,
        member.role,
        relativeTime(member.joinedAt, now),
        ...(isOwner ? [memberForms(member, isOwn, keysOf.get(member.person)?.length ?? 0)] : []),
      ];
    }),
  });
}

/** Returns a table of the open invitations, oldest first. Returns null if there are none. */
async function invitationPart({ services, account, now }: MemberRequest): Promise<Part> {
  const { database } = services.control;
  const invitations = await listInvitations(database, account.number, now);
  if (invitations.length === 0) return null;
  return html`<h2>Invited</h2>
    ${table({
      label: "Open invitations",
      columns: ["Address", "Role", "Invited", "Expires", { label: "Action", isPlain: true }],
      rows: invitations.map(({ id, email, role, createdAt, expiresAt }) => [
        html`<span class="name">${email}</span>`,
        role,
        relativeTime(createdAt, now),
        relativeTime(expiresAt, now),
        postForm("/account/members/withdraw", "Withdraw", hidden("invitation", id), "quiet"),
      ]),
    })}`;
}

const inviteForm = (request: MemberRequest): Html =>
  postForm(
    "/account/members/invite",
    "Invite",
    html`${field({ name: "email", label: "E-mail address", type: "email", value: typedAddress(request), hint: "gets a link that works for 7 days" })}
    ${choice("role", "Role", roles, roleOf(request))}`,
  );

const changeOf = (request: MemberRequest) => ({
  ...acting(request),
  person: request.form.get("person") ?? "",
});

/** Returns a function that changes a member as a form asks. */
function changing(done: string, change: (request: MemberRequest) => Promise<void>) {
  return posting(membersPage, async (request: MemberRequest) => {
    await change(request);
    return seeOther(`/account/members?done=${done}`);
  });
}

const keysNote = (keys: number): string =>
  keys === 0
    ? "This member made no key that still works."
    : `This member made, and may still know, ${counted(keys, "key")} that would go on working. Rotate each key that the member should no longer use.`;

/** Returns the forms that change a member. @param keys number of working keys that the member made. */
function memberForms({ person, role }: Member, isOwn: boolean, keys: number): Html {
  const id = hidden("person", person);
  const fields = [id, choice("role", "Role", roles, role)];
  return html`<details>
    <summary>Change</summary>
    ${postForm("/account/members/role", "Change role", fields, "quiet")}
    ${
      isOwn
        ? html`<p><a href="/account/settings/leave">Leave the account</a></p>`
        : html`<p>A removed member no longer sees the account's keys or usage. ${keysNote(keys)}</p>
            ${postForm("/account/members/remove", "Remove member", id, "danger")}`
    }
  </details>`;
}
