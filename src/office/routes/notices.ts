/** What somebody of an account should know. */
import { listKeys, type ListedKey } from "#keys/keys.ts";
import { dueNotice, isQuotaNear } from "#office/due-notices.ts";
import { framed } from "#office/frame.ts";
import { readHappenings } from "#office/read-happenings.ts";
import { page, type Reply } from "#office/reply.ts";
import { type Route, route } from "#office/route.ts";
import { readGauges } from "#office/standing.ts";
import type { AccountVisit } from "#office/visit.ts";
import { type Need, noticesPage } from "#pages/account/notices.ts";

const expiredMilliseconds = 14 * 86_400_000;

async function showNotices(visit: AccountVisit): Promise<Reply> {
  const { rooms, account, now } = visit;
  const keys = await listKeys(rooms.control, { accountNumber: account.number, now });
  return page(
    noticesPage({
      frame: framed(visit),
      needs: [
        ...suspension(visit),
        ...keys.flatMap((key) => keyNeeds(key, now)),
        ...(await quotaNeeds(visit)),
      ],
      happenings: await readHappenings(visit, keys),
      now,
    }),
  );
}

const suspension = ({ account: { suspendedAt } }: AccountVisit): Need[] =>
  suspendedAt === null ? [] : [{ what: "suspended", since: suspendedAt }];

/** A key that was rotated was taken care of. */
function keyNeeds(key: ListedKey, now: number): Need[] {
  const { expiresAt: at, state, replacedBy } = key;
  if (at === null || replacedBy !== null) return [];
  if (state === "expired")
    return now - Date.parse(at) < expiredMilliseconds ? [{ what: "key-expired", key, at }] : [];
  return dueNotice(key, now) === null ? [] : [{ what: "key-expires", key, at }];
}

async function quotaNeeds({ rooms, account }: AccountVisit): Promise<Need[]> {
  const gauges = await readGauges(rooms, account.number);
  const { used, quota } = gauges.find(({ name }) => name === "day")!;
  return isQuotaNear({ used, quota })
    ? [{ what: "quota-near", percent: Math.floor((100 * used) / quota) }]
    : [];
}

export const noticesRoutes: readonly Route[] = [
  route("/account/notices", "member", { GET: showNotices }),
];
