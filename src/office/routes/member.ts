/** One member, for owners: another role, removal, or the whole account. */
import {
  changeRole,
  listMembers,
  type Member,
  passOwnership,
  removeMember,
} from "#accounts/members.ts";
import { confirmPassword } from "#accounts/sign-in.ts";
import { listKeys } from "#keys/keys.ts";
import { framed } from "#office/frame.ts";
import { orAgain } from "#office/refusal.ts";
import { page, type Reply, seeOther } from "#office/reply.ts";
import { type Route, route } from "#office/route.ts";
import type { AccountVisit } from "#office/visit.ts";
import { isLive } from "#pages/account/key-state.ts";
import { memberPage } from "#pages/account/member.ts";
import { StoreFault } from "#store/store-fault.ts";
import { roleOf } from "./members.ts";

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
