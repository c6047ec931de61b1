import assert from "node:assert/strict";
import { test } from "node:test";
import { browser } from "../../support/browser.ts";
import { createKey, orderKey } from "../../support/key-forms.ts";
import { accountOf } from "../../support/own-account.ts";
import { startService, type TestService } from "../../support/service.ts";
import { putRequests, request } from "../../support/usage.ts";
import { openUser, signedIn, type TestUser } from "../../support/user.ts";

const image = `<img src=x onerror="document.title='run'">`;
const template = "{{7*7}}${7*7}";
const paths = ["keys", "usage", "requests", "notices", "members", "settings"];
const address = "{{7*7}}@example.org";

/** Somebody whose every text is hostile: address, account, keys. */
async function hostile(service: TestService): Promise<{ eve: TestUser; ids: string[] }> {
  const eve = await signedIn(service, { email: address, accountName: `"><script>1</script>` });
  const ids: string[] = [];
  for (const name of [image, template]) ids.push((await createKey(eve, { name })).id);
  const { number: account } = await accountOf(service, address);
  await putRequests(
    service.dataDir,
    ids.map((key) => request({ account, key, query: image, at: service.clock.now() - 1000 })),
  );
  return { eve, ids };
}

test("C92 · labels and addresses that would be markup or templates are shown as text, and no script but ours could run", async (t) => {
  const service = await startService(t);
  const { eve, ids } = await hostile(service);
  const pages = [...paths, ...ids.map((id) => `keys/${id}`)];
  for (const path of pages) {
    const { status, text, headers } = await eve.get(`/account/${path}`);
    assert.equal(status, 200, path);
    assert.doesNotMatch(text, /<img src=x|<script>|>49|49@/, path);
    assert.match(text, /&#34;&gt;&lt;script&gt;/, path);
    const policy = headers.get("content-security-policy")!;
    assert.match(policy, /default-src 'none'/);
    assert.doesNotMatch(policy, /unsafe|data:(?!;)[^;]*script/);
  }
  const { text } = await eve.get("/account/keys");
  assert.ok(text.includes("&lt;img src=x onerror=&#34;document.title=&#39;run&#39;&#34;&gt;"));
  assert.ok(text.includes(template));
  // A long address may break before its @.
  assert.ok(text.replaceAll("<wbr />", "").includes(address));

  const long = image.repeat(250);
  const refused = await orderKey(eve, { name: long });
  assert.equal(refused.status, 400);
  assert.match(refused.text, /at most 100 characters/);
  assert.doesNotMatch(refused.text, /<img src=x/);
  for (const email of [image, long, `${image}@example.org`]) {
    const again = await openUser(service).post("/account/sign-in", { email, password: "no" });
    assert.equal(again.status, 401);
    assert.doesNotMatch(again.text, /<img src=x/);
    assert.match(again.text, /&lt;img src=x/);
  }
});

test("C92 · in a browser nothing of it runs", async (t) => {
  const chromium = await browser(t);
  if (chromium === null) return;
  const service = await startService(t);
  const { eve, ids } = await hostile(service);
  const context = await chromium.newContext();
  await context.addCookies(
    Array.from(eve.cookies, ([name, value]) => ({ name, value, url: service.url })),
  );
  const page = await context.newPage();
  const errors: string[] = [];
  page.on("console", (message) => void errors.push(message.text()));
  page.on("pageerror", (error) => void errors.push(error.message));
  for (const path of [...paths, `keys/${ids[0]}`]) {
    await page.goto(`${service.url}/account/${path}`);
    assert.match(await page.title(), / · gp-records$/, path);
    assert.equal(await page.locator("img:not([src^='/assets/icon.'])").count(), 0, path);
  }
  assert.deepEqual(errors, []);
});
