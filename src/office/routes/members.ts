/** Who is in the account and who is invited: listed, invited, withdrawn. */
import { invite, listInvitations, withdrawInvitation } from "#accounts/invites.ts";
import { listAudit } from "#accounts/list-audit.ts";
import { listMembers } from "#accounts/members.ts";
import { framed } from "#office/frame.ts";
import { invitationLetter } from "#office/mail/letters.ts";
import { canMail, linkOf, mail } from "#office/mailing.ts";
import { orAgain } from "#office/refusal.ts";
import { page, type Reply, seeOther } from "#office/reply.ts";
import { type Route, route } from "#office/route.ts";
import type { AccountVisit } from "#office/visit.ts";
import { membersPage, type MembersView } from "#pages/account/members.ts";
import { StoreFault } from "#store/store-fault.ts";
import { typedAddress } from "./sign-in.ts";

/** Of an account: letters to strangers, with a name in them that the account chose, are worth abusing. */
const invitationsADayMax = 50;
const dayMilliseconds = 86_400_000;

async function viewOf(visit: AccountVisit): Promise<MembersView> {
  const { rooms, account, visitor, query, now } = visit;
  const { database } = rooms.control;
  const isOwner = account.role === "owner";
  return {
    frame: framed(visit)!,
    own: visitor.person.id,
    members: await listMembers(database, account.number),
    invitations: isOwner ? await listInvitations(database, account.number, now) : [],
    obstacle: obstacleOf(visit),
    done: query.get("done"),
    now,
  };
}

function obstacleOf(visit: AccountVisit): MembersView["obstacle"] {
  if (visit.rooms.settings.signUp === "closed") return "closed";
  return canMail(visit) ? null : "no mail";
}

const show = async (visit: AccountVisit): Promise<Reply> => page(membersPage(await viewOf(visit)));

async function takeInvitation(visit: AccountVisit): Promise<Reply> {
  const view = await viewOf(visit);
  if (view.obstacle !== null) return page(membersPage(view), 403);
  const typed = { email: typedAddress(visit), role: roleOf(visit) };
  return orAgain(
    () => sendInvitation(visit),
    (fault) => membersPage({ ...view, typed, fault }),
  );
}

async function sendInvitation(visit: AccountVisit): Promise<Reply> {
  const { rooms, account, visitor, form, now } = visit;
  await refuseTooMany(visit);
  const made = await invite(rooms.control, {
    account: account.number,
    address: form.get("email") ?? "",
    role: roleOf(visit),
    actor: visitor.person.id,
    now,
  });
  const link = linkOf(visit, made);
  const letter = invitationLetter({ ...link, accountName: made.accountName });
  const demoLink = mail(visit, letter, link.url);
  if (demoLink === null) return seeOther("/account/members?done=invited");
  return page(membersPage({ ...(await viewOf(visit)), demoLink, done: "invited" }));
}

async function refuseTooMany({ rooms, account, now }: AccountVisit): Promise<void> {
  const sent = await listAudit(rooms.control.database, {
    account: account.number,
    action: "member.invited",
    since: now - dayMilliseconds,
    limit: invitationsADayMax,
  });
  if (sent.length === invitationsADayMax)
    throw new StoreFault(
      "too_often",
      `An account sends at most ${invitationsADayMax} invitations in 24 hours. Go on tomorrow.`,
    );
}

/** Whatever is not `owner` is the lesser of the two. */
export const roleOf = ({ form }: AccountVisit): "owner" | "member" =>
  form.get("role") === "owner" ? "owner" : "member";

async function withdraw({ rooms, account, visitor, form, now }: AccountVisit): Promise<Reply> {
  await withdrawInvitation(rooms.control, {
    account: account.number,
    id: form.get("invitation") ?? "",
    actor: visitor.person.id,
    now,
  });
  return seeOther("/account/members?done=withdrawn");
}

export const memberRoutes: readonly Route[] = [
  route("/account/members", "member", { GET: show }),
  route("/account/members/invite", "owner", { POST: takeInvitation }),
  route("/account/members/withdraw", "owner", { POST: withdraw }),
];
