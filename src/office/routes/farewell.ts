/** The ways out: leave the account, close it, delete oneself; each asks for the password. */
import { closeAccount } from "#accounts/close-account.ts";
import { deletePerson } from "#accounts/delete-person.ts";
import { leaveAccount, listMembers } from "#accounts/members.ts";
import type { Membership } from "#accounts/membership.ts";
import { confirmPassword } from "#accounts/sign-in.ts";
import { listKeys } from "#keys/keys.ts";
import { framed } from "#office/frame.ts";
import { readLiveKeys } from "#office/key-views.ts";
import { orAgain } from "#office/refusal.ts";
import { page, type Reply, seeOther } from "#office/reply.ts";
import { type Route, route } from "#office/route.ts";
import { signedOut } from "#office/sessions.ts";
import type { AccountVisit, SignedInVisit } from "#office/visit.ts";
import { closePage, deletePage, type DoomedAccount, leavePage } from "#pages/account/farewell.ts";
import { isLive } from "#pages/account/key-state.ts";

/** Asks for the password, then does it; else shows the page again with what is wrong. */
function confirmed(
  visit: SignedInVisit,
  act: () => Promise<Reply>,
  again: (fault: string) => string,
): Promise<Reply> {
  const { rooms, visitor, form, now } = visit;
  const order = { person: visitor.person.id, password: form.get("password") ?? "", now };
  return orAgain(async () => {
    await confirmPassword(rooms.control, rooms.passwords, order);
    return act();
  }, again);
}

const leaving = (visit: AccountVisit, fault?: string): string =>
  leavePage({ frame: framed(visit)!, fault });

const leave = (visit: AccountVisit): Promise<Reply> => {
  const { rooms, account, visitor, now } = visit;
  return confirmed(
    visit,
    async () => {
      const order = { account: account.number, person: visitor.person.id, now };
      await leaveAccount(rooms.control, order);
      return seeOther("/account/settings?done=left");
    },
    (fault) => leaving(visit, fault),
  );
};

async function closing(visit: AccountVisit): Promise<(fault?: string) => string> {
  const { rooms, account, now } = visit;
  const keys = await readLiveKeys(visit);
  const members = await listMembers(rooms.control.database, account.number);
  const view = { frame: framed(visit)!, keys, otherMembers: members.length - 1, now };
  return (fault) => closePage({ ...view, fault });
}

const close = async (visit: AccountVisit): Promise<Reply> => {
  const { rooms, account, visitor, now } = visit;
  return confirmed(
    visit,
    async () => {
      await closeAccount(rooms.control, {
        account: account.number,
        actor: visitor.person.id,
        now,
      });
      return seeOther("/account/settings?done=closed");
    },
    await closing(visit),
  );
};

async function deletion(visit: SignedInVisit): Promise<(fault?: string) => string> {
  const { accounts } = visit.visitor;
  const doomed = await Promise.all(accounts.map((account) => doomedAccount(visit, account)));
  return (fault) => deletePage({ frame: framed(visit)!, accounts: doomed, fault });
}

async function doomedAccount(
  { rooms, visitor, now }: SignedInVisit,
  { number, name }: Membership,
): Promise<DoomedAccount> {
  const members = await listMembers(rooms.control.database, number);
  const others = members.filter(({ person }) => person !== visitor.person.id);
  const keys = await listKeys(rooms.control, { accountNumber: number, now });
  const hasOtherOwner = others.some(({ role }) => role === "owner");
  const fate = others.length === 0 ? "closed" : hasOtherOwner ? "left" : "blocked";
  return { name, fate, keys: keys.filter(isLive).length };
}

const deleteOneself = async (visit: SignedInVisit): Promise<Reply> => {
  const { rooms, visitor, now } = visit;
  const { id: person } = visitor.person;
  return confirmed(
    visit,
    async () => {
      await deletePerson(rooms.control, { person, actor: person, now });
      return signedOut(visit, "/account/sign-in?done=deleted");
    },
    await deletion(visit),
  );
};

export const farewellRoutes: readonly Route[] = [
  route("/account/settings/leave", "member", {
    GET: (visit) => page(leaving(visit)),
    POST: leave,
  }),
  route("/account/settings/close", "owner", {
    GET: async (visit) => page((await closing(visit))()),
    POST: close,
  }),
  route("/account/settings/delete", "person", {
    GET: async (visit) => page((await deletion(visit))()),
    POST: deleteOneself,
  }),
];
