/** What an account used, and where its quota stands. */
import { type Account, findAccount } from "#accounts/find-account.ts";
import { listKeys } from "#keys/keys.ts";
import { framed } from "#office/frame.ts";
import { page, type Reply } from "#office/reply.ts";
import { type Route, route } from "#office/route.ts";
import { readGauges } from "#office/standing.ts";
import type { AccountVisit } from "#office/visit.ts";
import { gaugeWords } from "#pages/account/gauges.ts";
import { type UsageRow, usagePage } from "#pages/account/usage.ts";
import { dayMilliseconds } from "#usage/time.ts";
import { explorerKey } from "#usage/request-log.ts";
import { readBars, readTotalsByKey, readTotalsByOperation, type Span } from "#usage/totals.ts";

const hoursShown = 24;
const daysShown = 30;
const rowsMax = 40;

async function showUsage(visit: AccountVisit): Promise<Reply> {
  const { rooms, account, now } = visit;
  const { number } = account;
  const days = await readBars(rooms.usage, { account: number, unit: "day", count: daysShown, now });
  const span = { account: number, since: Date.parse(days[0]!.at), until: now + dayMilliseconds };
  return page(
    usagePage({
      frame: framed(visit),
      plan: planWords((await findAccount(rooms.control.database, account.id))!),
      gauges: await readGauges(rooms, number),
      hours: await readBars(rooms.usage, { account: number, unit: "hour", count: hoursShown, now }),
      days,
      byKey: await keyRows(visit, span),
      byOperation: await operationRows(visit, span),
    }),
  );
}

function planWords({ plan, quotas }: Account): string {
  const words = plan === null ? "Your account is on the usual plan" : `Your plan is ${plan}`;
  const hasOwn = Object.values(quotas).some((quota) => quota !== null);
  return hasOwn ? `${words}, with numbers of its own from the operator.` : `${words}.`;
}

async function keyRows({ rooms, account, now }: AccountVisit, span: Span): Promise<UsageRow[]> {
  const keys = await listKeys(rooms.control, { accountNumber: account.number, now });
  const names = new Map(keys.map(({ id, name }) => [id, name]));
  names.set(explorerKey, "Explorer");
  const rows = await readTotalsByKey(rooms.usage, span);
  return rows.slice(0, rowsMax).map(({ key, totals }) => {
    return { name: names.get(key) ?? key, href: `/account/requests?key=${key}`, totals };
  });
}

async function operationRows({ rooms }: AccountVisit, span: Span): Promise<UsageRow[]> {
  const rows = await readTotalsByOperation(rooms.usage, span);
  return rows.map(({ operation, totals }) => ({
    name: operation,
    href: `/account/requests?operation=${encodeURIComponent(operation)}`,
    totals,
  }));
}

/** For the script that renews the gauges of the page. */
async function showStanding({ rooms, account }: AccountVisit): Promise<Reply> {
  const views = await readGauges(rooms, account.number);
  const body = views.map((view) => ({ name: view.name, ...gaugeWords(view) }));
  return {
    status: 200,
    headers: [["content-type", "application/json; charset=utf-8"]],
    body: JSON.stringify(body),
  };
}

export const usageRoutes: readonly Route[] = [
  route("/account/usage", "member", { GET: showUsage }),
  route("/account/usage/standing", "member", { GET: showStanding }, { isBackground: true }),
];
