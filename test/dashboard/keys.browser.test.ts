import assert from "node:assert/strict";
import { test } from "node:test";
import { browser } from "../support/browser.ts";
import { keysIn } from "../support/key-forms.ts";
import { startService } from "../support/service.ts";
import { signedIn } from "../support/user.ts";

test("in a browser a new key is copied by a button and is gone once its page is left, and gauges keep up by themselves", async (t) => {
  const chromium = await browser(t);
  if (chromium === null) return;
  const service = await startService(t);
  const ada = await signedIn(service);
  const context = await chromium.newContext();
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: service.url });
  await context.addCookies(
    Array.from(ada.cookies, ([name, value]) => ({ name, value, url: service.url })),
  );
  const page = await context.newPage();
  await page.clock.install();

  await page.goto(`${service.url}/account/keys`);
  const lastDay = page.getByLabel("Last day");
  assert.equal(await lastDay.isVisible(), false);
  await page.getByLabel("It expires").selectOption("date");
  await lastDay.fill("2026-12-31");
  await page.getByLabel("Name").fill("laptop");
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByRole("heading", { name: "Your new key" }).waitFor();
  const [key] = keysIn(await page.content());
  assert.match(await page.content(), /expires <time datetime="2027-01-01T00:00:00.000Z"/);
  await page.getByRole("button", { name: "Copy" }).first().click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  assert.equal(await page.evaluate("navigator.clipboard.readText()"), key);

  await page.goto(`${service.url}/account/usage`);
  await page.getByText("0 of 60").waitFor();
  await service.get("/fetch-projects?limit=1", { "x-api-key": key! });
  await page.clock.runFor(5000);
  await page.getByText("1 of 60").waitFor();

  await page.goBack().catch(() => null);
  // Asked of an element, which waits for a page that is still on its way.
  assert.deepEqual(keysIn(await page.locator("body").innerText()), []);
});
