/** Pages that show records: each counts one request of the account's quota, as a call of the API does. */
import { quotasInForce } from "#accounts/plans.ts";
import type { Standing } from "#limits/counters.ts";
import { quotaProblem } from "#limits/quota-problem.ts";
import { rateLimitField, rateLimitPolicyField } from "#limits/rate-limit-fields.ts";
import { overQuotaPage } from "#pages/account/over-quota.ts";
import { wordPage } from "#pages/account/word.ts";
import type { ReadModel } from "#search/read-model.ts";
import { framed } from "./frame.ts";
import { page, type Reply } from "./reply.ts";
import type { AccountVisit } from "./visit.ts";

type Header = readonly [name: string, value: string];

/** What the page may say of the request it counted. */
export interface Counted {
  model: ReadModel;
  /** `ratelimit-policy` and `ratelimit`. */
  rateLimit: readonly Header[];
}

/**
 * @param show makes the page from the records; it is not asked without records, for a suspended account, or over
 *   the quota.
 */
export async function readRecords(
  visit: AccountVisit,
  show: (counted: Counted) => Reply | Promise<Reply>,
): Promise<Reply> {
  const model = visit.rooms.model();
  if (model === null) return nothingPublished(visit);
  if (visit.account.suspendedAt !== null) return suspended(visit);
  const quotas = await quotasInForce(visit.rooms.control.database, visit.account.number);
  const standing = await visit.rooms.desk.take(visit.account.number, quotas);
  const rateLimit: Header[] = [
    ["ratelimit-policy", rateLimitPolicyField(quotas)],
    ["ratelimit", rateLimitField(standing)],
  ];
  const reply = standing.admitted ? await show({ model, rateLimit }) : overQuota(visit, standing);
  return { ...reply, headers: [...reply.headers, ...rateLimit] };
}

/** May the account read records at all? What is free, such as suggestions, asks no more. */
export async function mayRead({ rooms, account }: AccountVisit): Promise<boolean> {
  if (account.suspendedAt !== null) return false;
  const quotas = await quotasInForce(rooms.control.database, account.number);
  return (await rooms.desk.look(account.number, quotas)).admitted;
}

const withRetryAfter = (reply: Reply, seconds: number): Reply => ({
  ...reply,
  headers: [...reply.headers, ["retry-after", String(seconds)]],
});

const noRecordsSeconds = 5;

const nothingPublished = (visit: AccountVisit): Reply =>
  withRetryAfter(
    page(
      wordPage(
        "No records yet",
        "Nothing has been published on this service. As soon as the operator imports records, they are here.",
        framed(visit),
      ),
      503,
    ),
    noRecordsSeconds,
  );

const suspended = (visit: AccountVisit): Reply =>
  page(
    wordPage(
      "This account is suspended",
      "Its keys and its pages show no records until the operator lifts that. Ask them why.",
      framed(visit),
    ),
    403,
  );

function overQuota(visit: AccountVisit, standing: Standing): Reply {
  const { retryAfterSeconds } = standing;
  const freeAt = new Date(visit.now + retryAfterSeconds * 1000).toISOString();
  const view = { frame: framed(visit), detail: quotaProblem(standing).message, freeAt };
  return withRetryAfter(page(overQuotaPage(view), 429), retryAfterSeconds);
}
