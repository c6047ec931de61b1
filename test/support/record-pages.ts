/** What tests of the account's pages about records share: somebody signed in, quotas, and reading a page. */
import type { TestContext } from "node:test";
import { setPlan } from "#accounts/plans.ts";
import { withControl } from "./own-account.ts";
import { startService, type TestService } from "./service.ts";
import { type Page, signedIn } from "./user.ts";

export async function openPages(t: TestContext, options: Parameters<typeof startService>[1] = {}) {
  const service = await startService(t, options);
  return { service, user: await signedIn(service) };
}

/** Of every account that has no number of its own. */
export const setMinuteQuota = (service: TestService, minute: number) =>
  withControl(service, (control) =>
    setPlan(control, { name: "default", quotas: { minute }, now: service.clock.now() }),
  );

/** Markup as it is read, without its tags. */
export const textOf = (markup: string) =>
  markup
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&#34;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");

export const headingOf = ({ text }: Page) =>
  textOf(/<h1>(.*?)<\/h1>/s.exec(text)![1]!)
    .replaceAll(/\s+/g, " ")
    .trim();
