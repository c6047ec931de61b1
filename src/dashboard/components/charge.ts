/** Charges an account for work that counts as several requests, before the work begins. */
import { quotasInForce } from "#accounts/plans.ts";
import type { ReaderRequest, Reply } from "#dashboard/screen.ts";
import { html } from "#pages/html.ts";
import { counted, exactTime, grouped } from "#pages/prose.ts";
import { laterReply } from "./page.ts";

/**
 * Charges the account of a member. Returns a refusal, or null if the work is paid for.
 * @param work noun for the work. @param back link to the page it was asked for on.
 */
export async function charge(
  request: ReaderRequest,
  work: "download" | "match",
  requests: number,
  back: { href: string; label: string },
): Promise<Reply | null> {
  const { services, now } = request;
  const account = request.account!.number;
  const quotas = await quotasInForce(services.control.database, account);
  const status = await services.takeQuota(account, quotas, requests);
  if (status === null) {
    const text = "Nothing was counted. Try again in a moment.";
    return laterReply(request, 503, 1, "This cannot be counted now", text, back);
  }
  if (status.admitted) return null;
  const { retryAfterSeconds } = status;
  const freeAt = new Date(now + retryAfterSeconds * 1000).toISOString();
  const left = status.windows.map(
    ({ name, remaining, quota }) => `${grouped(remaining)} of ${grouped(quota)} in the ${name}`,
  );
  const text = html`The ${work} counts as ${counted(requests, "request")}. Your account has left:
    ${left.join(", ")}. There is room for it at
    <time datetime="${freeAt}">${exactTime(freeAt)}</time>, if no other request is made until then.
    Nothing was counted.`;
  return laterReply(request, 429, retryAfterSeconds, "Too much for your quota", text, back);
}
