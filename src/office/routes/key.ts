/** One key: shown, renamed, rotated, revoked. */
import { listMembers } from "#accounts/members.ts";
import { newForm, renameOwnKey, revokeOwnKey, rotateOwnKey } from "#keys/own-keys.ts";
import { framed } from "#office/frame.ts";
import { ownKeys, readKeyView } from "#office/key-views.ts";
import { page, type Reply, seeOther } from "#office/reply.ts";
import { type Route, route, type Serve } from "#office/route.ts";
import { refusal } from "#office/refusal.ts";
import type { AccountVisit } from "#office/visit.ts";
import { keyPage } from "#pages/account/key.ts";
import { StoreFault } from "#store/store-fault.ts";
import { oneTimeValue, shownBefore, shownOnce } from "./keys.ts";

const idOf = ({ names }: AccountVisit): string => names["id"]!;
const own = (visit: AccountVisit) => ({ ...ownKeys(visit), id: idOf(visit) });

async function showKey(visit: AccountVisit): Promise<Reply> {
  return page(await keyMarkup(visit));
}

async function keyMarkup(visit: AccountVisit, fault?: string): Promise<string> {
  const { query, now } = visit;
  const { madeBy, ...key } = await readKeyView(visit, idOf(visit));
  return keyPage({
    frame: framed(visit),
    key,
    madeBy: madeBy === null ? null : await addressOf(visit, madeBy),
    replacedBy: key.replacedBy === null ? null : await readKeyView(visit, key.replacedBy),
    form: newForm(),
    done: query.get("done"),
    fault,
    now,
  });
}

async function addressOf({ rooms, account }: AccountVisit, person: string): Promise<string> {
  const members = await listMembers(rooms.control.database, account.number);
  return members.find((member) => member.person === person)?.email ?? "a former member";
}

async function rename(visit: AccountVisit): Promise<Reply> {
  const name = visit.form.get("name") ?? "";
  await renameOwnKey(visit.rooms.control, { ...own(visit), name });
  return seeOther(`/account/keys/${idOf(visit)}?done=renamed`);
}

async function revoke(visit: AccountVisit): Promise<Reply> {
  await revokeOwnKey(visit.rooms.control, own(visit));
  return seeOther(`/account/keys/${idOf(visit)}?done=revoked`);
}

async function rotate(visit: AccountVisit): Promise<Reply> {
  const rotated = await rotateOwnKey(visit.rooms.control, {
    ...own(visit),
    overlapMilliseconds: Number(visit.form.get("overlap") || Number.NaN),
    form: oneTimeValue(visit),
  });
  if ("repeatedId" in rotated) return shownBefore(visit, rotated.repeatedId);
  const { issued, oldExpiresAt } = rotated.rotation;
  return shownOnce(visit, issued, { id: idOf(visit), expiresAt: oldExpiresAt });
}

/** A fault is shown above the page of the key; one that is not there has none. */
const orAbovePage =
  (act: Serve<AccountVisit>): Serve<AccountVisit> =>
  async (visit) => {
    try {
      return await act(visit);
    } catch (fault) {
      if (!(fault instanceof StoreFault) || fault.kind === "not_found") throw fault;
      return refusal(fault, await keyMarkup(visit, fault.message));
    }
  };

export const keyRoutes: readonly Route[] = [
  route("/account/keys/{id}", "member", { GET: showKey }),
  route("/account/keys/{id}/rename", "member", { POST: orAbovePage(rename) }),
  route("/account/keys/{id}/rotate", "member", { POST: orAbovePage(rotate) }),
  route("/account/keys/{id}/revoke", "member", { POST: orAbovePage(revoke) }),
];
