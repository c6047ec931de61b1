/** The page a mailed link leads to: a GET looks, a POST does what the link is for. */
import { acceptInvitation, isNewPerson } from "#accounts/accept-invitation.ts";
import { completeAddressChange } from "#accounts/change-address.ts";
import { requireOpenNumber } from "#accounts/find-account.ts";
import { LinkFault } from "#accounts/link-fault.ts";
import { type Link, lookAtLink } from "#accounts/links.ts";
import { completeReset } from "#accounts/reset-password.ts";
import { switchAccount } from "#accounts/sessions.ts";
import { completeSignUp } from "#accounts/sign-up.ts";
import { addressChangedLetter, passwordChangedLetter } from "#office/mail/letters.ts";
import { orAgain } from "#office/refusal.ts";
import { page, type Reply, seeOther } from "#office/reply.ts";
import { type Route, route } from "#office/route.ts";
import { begin } from "#office/sessions.ts";
import type { Visit } from "#office/visit.ts";
import { deadLinkPage, linkPage, type LinkView } from "#pages/account/link.ts";

const show = (visit: Visit): Promise<Reply> =>
  unlessDead(visit, async () => {
    const token = visit.query.get("token") ?? "";
    const link = await lookAtLink(visit.rooms.control, token, visit.now);
    return page(linkPage(await viewOf(visit, link, token)));
  });

const take = (visit: Visit): Promise<Reply> =>
  unlessDead(visit, async () => {
    const token = visit.form.get("token") ?? "";
    const link = await lookAtLink(visit.rooms.control, token, visit.now);
    const view = await viewOf(visit, link, token);
    return orAgain(
      () => complete[link.kind](visit, token),
      (fault) => linkPage({ ...view, typedName: visit.form.get("account") ?? "", fault }),
    );
  });

async function unlessDead(visit: Visit, act: () => Promise<Reply>): Promise<Reply> {
  try {
    return await act();
  } catch (fault) {
    if (!(fault instanceof LinkFault)) throw fault;
    const maySignUp = visit.rooms.settings.signUp === "open";
    return page(deadLinkPage(fault.message, maySignUp), 404);
  }
}

async function viewOf({ rooms }: Visit, link: Link, token: string): Promise<LinkView> {
  const { database } = rooms.control;
  const { kind, email, account } = link;
  const isNew = kind === "sign-up" || (kind === "invite" && (await isNewPerson(database, link)));
  return {
    kind,
    token,
    email,
    accountName: account === null ? null : (await requireOpenNumber(database, account)).name,
    asksPassword: isNew || kind === "reset",
    asksName: isNew && account === null,
  };
}

/** What the form of a link holds, for those kinds that ask for a password. */
const completion = ({ form, client, now }: Visit, token: string) => ({
  token,
  password: form.get("password") ?? "",
  accountName: form.get("account")?.trim() || null,
  client,
  now,
});

const complete: Record<Link["kind"], (visit: Visit, token: string) => Promise<Reply>> = {
  async "sign-up"(visit, token) {
    const { control, passwords } = visit.rooms;
    const signedIn = await completeSignUp(control, passwords, completion(visit, token));
    return begin(visit, signedIn, "/account/keys");
  },
  async invite(visit, token) {
    const { control, passwords } = visit.rooms;
    const accepted = await acceptInvitation(control, passwords, completion(visit, token));
    const { person, accountId, signedIn } = accepted;
    if (signedIn !== null) return begin(visit, signedIn, "/account/keys");
    if (visit.visitor?.person.id !== person.id) return seeOther("/account/sign-in?done=joined");
    const session = visit.visitor.session.id;
    await switchAccount(control, { person: person.id, session, accountId });
    return seeOther("/account/keys");
  },
  async reset(visit, token) {
    const { control, passwords, post, settings } = visit.rooms;
    const signedIn = await completeReset(control, passwords, completion(visit, token));
    const url = `${settings.linkBase}/account/forgot`;
    post.send(passwordChangedLetter({ to: signedIn.person.email, url }));
    return begin(visit, signedIn, "/account/settings?done=password");
  },
  async email(visit, token) {
    const { control, post } = visit.rooms;
    const { now } = visit;
    const { person, formerEmail } = await completeAddressChange(control, { token, now });
    post.send(addressChangedLetter({ to: formerEmail }));
    const isOwn = visit.visitor?.person.id === person.id;
    return seeOther(`/account/${isOwn ? "settings" : "sign-in"}?done=address`);
  },
};

export const linkRoutes: readonly Route[] = [
  route("/account/link", "anyone", { GET: show, POST: take }),
];
