/** What tests of the account's pages about records share: somebody signed in, quotas, and reading a page. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { setPlan } from "#accounts/plans.ts";
import { mintId } from "#datasets/draft-record.ts";
import { type RecordKind, kinds } from "#records/kinds.ts";
import { eventually } from "./eventually.ts";
import { withControl } from "./own-account.ts";
import { startService, type TestService } from "./service.ts";
import { type Page, signedIn, type TestUser } from "./user.ts";

export async function openPages(t: TestContext, options: Parameters<typeof startService>[1] = {}) {
  const service = await startService(t, options);
  return { service, user: await signedIn(service) };
}

/** Of every account that has no number of its own; the keys that the service knows have it then. */
export async function setMinuteQuota(service: TestService, minute: number): Promise<void> {
  const { key } = await service.newKey();
  const policy = async () =>
    (await service.get("/fetch-gp", { "x-api-key": key })).headers.get("ratelimit-policy") ?? "";
  await policy();
  await withControl(service, (control) =>
    setPlan(control, { name: "default", quotas: { minute }, now: service.clock.now() }),
  );
  // All keys are read anew at once, and a database tells of the change in its own time.
  await eventually(async () => assert.ok((await policy()).startsWith(`"minute";q=${minute};`)));
}

/** The words of markup, with a space in place of each tag. */
export const wordsOf = (markup: string): string =>
  markup.replaceAll(/<[^>]*>/g, " ").replaceAll(/\s+/g, " ");

export const mainOf = ({ text }: Page) => /<main.*<\/main>/s.exec(text)![0];

/** The main part of a page says each of these. */
export function assertSays(page: Page, ...all: readonly string[]): void {
  const words = textOf(wordsOf(mainOf(page)));
  for (const said of all) assert.ok(words.includes(said), `${said}\n${words}`);
}

/** Where a record of the source `own` has its page. */
export const pathOf = (kind: RecordKind, id: string) =>
  `${kinds[kind].path}/${mintId(kind, "own", id)}`;

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

/** Returns how much of the minute's quota the account of a person has used, such as "3 of 60". */
export const usedOf = async (user: TestUser) =>
  /class="counts">(.*?)</.exec((await user.get("/account/usage")).text)![1];
