/** What a stranger does with a browser and a terminal, from the first page to a key that is refused. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { openCatalogue } from "#datasets/catalogue.ts";
import { gp, project } from "../datasets/published.ts";
import { inBrowser as test } from "../support/browser.ts";
import { cast } from "../support/cast.ts";
import { importRecords } from "../support/dataset.ts";
import { keysIn } from "../support/key-forms.ts";
import { openPages } from "../support/record-pages.ts";
import { spawnServer } from "../support/server-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const run = promisify(execFile);
const email = "ada@example.org";
const password = "correct horse battery staple";

/** The demo, as README starts it, over a few records that are there already. */
async function startDemo(t: TestContext): Promise<string> {
  const dataDir = temporaryFolder(t);
  await importRecords(openCatalogue(join(dataDir, "datasets")), cast);
  return spawnServer(t, { dataDir, args: ["--demo"] }).address;
}

async function signUp(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/account`);
  await page.getByRole("link", { name: "Sign up" }).click();
  await page.getByLabel("E-mail address").fill(email);
  await page.getByRole("button", { name: "Mail me a link" }).click();
  await page.locator("main a[href*='/account/link?']").click();
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign up" }).click();
  await page.waitForURL(`${url}/browse/gps`);
  await page.goto(`${url}/account/keys`);
}

/** @returns the key and the curl line on the page. */
async function createKey(page: Page): Promise<{ key: string; curl: string }> {
  await page.getByLabel("Name").fill("Notebook");
  await page.getByRole("button", { name: "Create key" }).click();
  return shownKey(page);
}

async function shownKey(page: Page): Promise<{ key: string; curl: string }> {
  const key = await page.getByRole("group", { name: "The whole key" }).innerText();
  const curl = await page.getByRole("group", { name: "Request with curl" }).innerText();
  return { key: key.trim(), curl: curl.trim() };
}

/** Pastes a line into a shell. @returns status and the headers it was answered with. */
async function paste(line: string): Promise<{ status: number; head: string }> {
  const { stdout } = await run("sh", ["-c", `${line} -s -D - -o /dev/null`]);
  return { status: Number(stdout.split(" ")[1]), head: stdout.toLowerCase() };
}

const leftOfDay = (head: string) => Number(/^ratelimit:.*"day";r=(\d+)/m.exec(head)?.[1]);

test("without a script a stranger signs up, makes a key, sees its use, renames, rotates and revokes it, signs out and in again", async (t, chromium) => {
  const url = await startDemo(t);
  const page = await (await chromium.newContext({ javaScriptEnabled: false })).newPage();
  await signUp(page, url);

  const first = await createKey(page);
  assert.match(first.key, /^gpr_[0-9A-Za-z]{36}$/);
  assert.ok(first.curl.includes(first.key));
  const answered = await paste(first.curl);
  assert.equal(answered.status, 200);
  const [, requestId = ""] = /^x-request-id: (\S+)/m.exec(answered.head) ?? [];

  // The page promises five seconds: it is reloaded until the request is there, or time is up.
  const until = Date.now() + 5000;
  await page.goto(`${url}/account/requests`);
  while (!(await page.content()).toLowerCase().includes(requestId) && Date.now() < until)
    await page.reload();
  assert.ok((await page.content()).toLowerCase().includes(requestId), "the request is shown");
  await page.goto(`${url}/account/usage`);
  assert.match(await page.getByRole("main").innerText(), /1 of 60/);

  await page.goto(`${url}/account/keys`);
  await page.getByRole("link", { name: "Notebook" }).click();
  const keyPage = page.url();
  await page.getByLabel("Name").fill("renamed");
  await page.getByRole("button", { name: "Rename key" }).click();
  await page.getByRole("heading", { name: "renamed" }).waitFor();
  await page.getByRole("button", { name: "Rotate key" }).click();
  const second = await shownKey(page);
  assert.notEqual(second.key, first.key);
  const [byOld, byNew] = [await paste(first.curl), await paste(second.curl)];
  assert.deepEqual([byOld.status, byNew.status], [200, 200]);
  assert.equal(leftOfDay(byNew.head), leftOfDay(byOld.head) - 1);

  await page.goto(keyPage);
  await page.getByText("End this key for good").click();
  await page.getByRole("button", { name: "Revoke key" }).click();
  await page.getByRole("status").waitFor();
  assert.equal((await paste(first.curl)).status, 401);
  assert.equal((await paste(second.curl)).status, 200);

  await page.locator(`summary[aria-label="Account of ${email}"]`).click();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.goto(keyPage);
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await page.getByLabel("E-mail address").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "renamed" }).waitFor();
});

test("in a browser a new key is copied by a button and is gone once its page is left", async (t, chromium) => {
  const { service, user: ada } = await openPages(t);
  const context = await chromium.newContext();
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: service.url });
  await context.addCookies(
    Array.from(ada.cookies, ([name, value]) => ({ name, value, url: service.url })),
  );
  const page = await context.newPage();

  await page.goto(`${service.url}/account/keys`);
  await page.getByLabel("Expires").selectOption("30");
  await page.getByLabel("Name").fill("laptop");
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByRole("heading", { name: "Your new key" }).waitFor();
  const [key] = keysIn(await page.content());
  assert.match(await page.content(), /expires <time datetime="2026-12-21T09:00:00.000Z"/);
  await page.getByRole("button", { name: "Copy" }).first().click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  assert.equal(await page.evaluate("navigator.clipboard.readText()"), key);

  await page.goto(`${service.url}/account/usage`);
  await page.goBack().catch(() => null);
  // Asked of an element, which waits for a page that is still on its way.
  assert.deepEqual(keysIn(await page.locator("body").innerText()), []);
});

const settings = { BROWSE: "everyone", CONTACT: email };

test("a filter that is chosen leaves the number of records in sight", async (t, chromium) => {
  const { service } = await openPages(t, { settings });
  const page = await chromium.newPage();
  await page.goto(`${service.url}/browse/gps`);
  await page.getByRole("link", { name: "Multifamily" }).click();
  await page.waitForURL("**#filters");
  assert.ok((await page.locator("h1").boundingBox())!.y > 0);
});

test("tables whose every cell is long fit the page", async (t, chromium) => {
  const name = "Consolidated Southwestern Multifamily and Student Housing Partners of Houston";
  const kind = { status: "under_construction", property_type: "single_family_rental" };
  const about = { total_amount_usd: 79e6, start_date: "2026-09-23", units: 1200, ...kind };
  const long = { city: name, gps: ["a"], completion_date: "2028-09-23", ...about };
  const records = [gp("a", { name }), gp("b", { name }), project(name, long)];
  const { service, user } = await openPages(t, { settings, records });
  const page = await chromium.newPage();
  await page.goto(`${service.url}/browse/projects`);
  assert.ok(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"));
  const list = `--b\r\nContent-Disposition: form-data; name="names"\r\n\r\n${name}\r\n--b--\r\n`;
  const type = { "content-type": "multipart/form-data; boundary=b" };
  await page.setViewportSize({ width: 768, height: 720 });
  await page.setContent((await user.sendBody("/browse/match", list, type)).text);
  assert.ok(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"));
});
