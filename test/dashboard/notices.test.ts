import assert from "node:assert/strict";
import { setQuotas } from "#accounts/accounts.ts";
import { issueKey, revokeKey } from "#keys/keys.ts";
import { day } from "../support/control.ts";
import { forEachStore as test } from "../support/for-each-store.ts";
import { accountOf, withControl } from "../support/own-account.ts";
import { startService } from "../support/service.ts";
import { signedIn } from "../support/user.ts";

const wordsOf = (markup: string): string =>
  markup.replaceAll(/<[^>]*>/g, " ").replaceAll(/\s+/g, " ");

test("the notices show what needs attention and what happened, and nothing of other accounts", async (t) => {
  const service = await startService(t);
  const ada = await signedIn(service, { email: "ada@example.org" });
  const eve = await signedIn(service, { email: "eve@example.org" });
  const account = await accountOf(service, "ada@example.org");
  assert.match((await ada.get("/account/notices")).text, /<h1>Nothing needs you now<\/h1>/);

  const now = service.clock.now();
  const { key } = await withControl(service, async (control) => {
    const issue = (name: string, createdDay: number, lastDay: number) =>
      issueKey(control, {
        account,
        name,
        expiresAt: now + lastDay * day,
        now: now + createdDay * day,
      });
    await issue("soon", -80, 10);
    await issue("gone", -90, -1);
    await issue("long gone", -190, -100);
    const { id } = await issue("leaked", -80, 10);
    await revokeKey(control, id, now - day);
    await setQuotas(control, account.id, { day: 5 }, now);
    return issue("new", 0, 90);
  });
  for (let i = 0; i < 4; i++) await service.get("/fetch-projects?limit=1", { "x-api-key": key });

  const words = wordsOf((await ada.get("/account/notices")).text);
  assert.match(words, /3 things need you/);
  assert.match(words, /The key soon expires in 10 days ?\. Rotate it before/);
  assert.match(words, /The key gone expired 1 day ago and is refused/);
  assert.match(words, /80 % of the quota of 24 hours are used/);
  assert.match(words, /Key revoked 1 day ago the operator leaked/);
  assert.match(words, /Key created just now the operator new/);
  assert.match(words, /You signed in just now you another browser, 127\.0\.0\.1/);
  assert.doesNotMatch(words, /long gone|eve@/);
  assert.doesNotMatch(wordsOf((await eve.get("/account/notices")).text), /leaked|soon|ada@/);
});
