/** The page of settings, with the name of the account and the download of what is kept. */
import { renameAccount } from "#accounts/accounts.ts";
import { exportPerson } from "#accounts/export-person.ts";
import type { Membership } from "#accounts/membership.ts";
import { framed } from "#office/frame.ts";
import { orAgain } from "#office/refusal.ts";
import { download, page, type Reply, seeOther } from "#office/reply.ts";
import { type Route, route } from "#office/route.ts";
import type { AccountVisit, SignedInVisit } from "#office/visit.ts";
import { settingsPage } from "#pages/account/settings.ts";
import { hoursKeptDays } from "#store/usage-retention.ts";
import { readBars } from "#usage/totals.ts";

const markup = (visit: SignedInVisit, typed: { typedName?: string; fault?: string } = {}): string =>
  settingsPage({
    frame: framed(visit)!,
    createdAt: visit.visitor.person.createdAt,
    done: visit.query.get("done"),
    now: visit.now,
    ...typed,
  });

const show = (visit: SignedInVisit): Reply => page(markup(visit));

function rename(visit: AccountVisit): Promise<Reply> {
  const { rooms, account, visitor, form, now } = visit;
  const name = form.get("name") ?? "";
  const order = { account: account.number, name, actor: visitor.person.id, now };
  return orAgain(
    async () => {
      await renameAccount(rooms.control, order);
      return seeOther("/account/settings?done=name");
    },
    (fault) => markup(visit, { typedName: name.slice(0, 200), fault }),
  );
}

async function exportAll(visit: SignedInVisit): Promise<Reply> {
  const { rooms, visitor, now } = visit;
  const kept = await exportPerson(rooms.control, visitor.person.id, now);
  const usage = await Promise.all(visitor.accounts.map((account) => usageOf(visit, account)));
  const json = JSON.stringify({ ...kept, usage }, null, 2);
  return download("my-data.json", "application/json; charset=utf-8", json);
}

async function usageOf({ rooms, now }: SignedInVisit, { number, id }: Membership): Promise<object> {
  const bars = await readBars(rooms.usage, {
    account: number,
    unit: "day",
    count: hoursKeptDays,
    now,
  });
  const days = bars
    .filter(({ requests }) => requests > 0)
    .map(({ at, requests, bytes, byClass, overQuota }) => ({
      day: at.slice(0, 10),
      requests,
      bytes,
      by_status: byClass,
      over_quota: overQuota,
    }));
  return { account: id, days };
}

export const settingsRoutes: readonly Route[] = [
  route("/account/settings", "person", { GET: show }),
  route("/account/settings/name", "owner", { POST: rename }),
  route("/account/settings/export", "person", { POST: exportAll }),
];
