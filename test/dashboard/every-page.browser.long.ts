import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Browser, BrowserContext, BrowserContextOptions } from "playwright-core";
import { makeResetLink } from "#accounts/credentials.ts";
import { routes } from "#dashboard/screens/index.ts";
import { inBrowser as test } from "../support/browser.ts";
import { createKey } from "../support/key-forms.ts";
import { withControl } from "../support/own-account.ts";
import { assertReadable } from "../support/reader.ts";
import { pathOf } from "../support/record-pages.ts";
import { startService, type TestService } from "../support/service.ts";
import { signedIn } from "../support/user.ts";

const email = "a-rather-long-address-that-somebody-has@a-long-name-of-a-company.example.org";
const accountName = `Northwind Acquisitions and ${"Very".repeat(12)} Long Words GmbH`;

type World = Awaited<ReturnType<typeof openWorld>>;

/** Not for eyes: JSON and a file to download. */
const notPages = ["/search/suggest", "/account/requests.csv"];
const outside = ["/account/sign-in", "/account/sign-up", "/account/forgot", "/account/link"];

/** A person with a key that was used well and badly, and every page there is. */
async function openWorld(t: TestContext) {
  const service = await startService(t, {
    settings: { SIGN_UP: "open", SMTP_URL: "smtp://localhost:9" },
  });
  const ada = await signedIn(service, { email, accountName });
  const { id, key } = await createKey(ada, { name: `Notebook ${"x".repeat(80)}` });
  for (const path of ["/fetch-projects", "/fetch-gp?gp_name=kkr", "/fetch-signals?limit=0"])
    await service.get(path, { "x-api-key": key });
  const gpPath = pathOf("gp", "northwind");
  const token = await resetLink(service);
  const names: Record<string, string> = {
    "/account/keys/{id}": `/account/keys/${id}`,
    "/browse/gps/{id}": gpPath,
    "/browse/people/{id}": pathOf("principal", "ana"),
    "/browse/projects/{id}": pathOf("project", "alder"),
    "/account/link": `/account/link?token=${token}`,
  };
  const pages = routes
    .filter(({ path, GET }) => GET !== undefined && !notPages.includes(path))
    .map(({ path }) => path);
  const shown = (path: string) => names[path] ?? path;
  return {
    service,
    ada,
    /** Paths for whoever is signed in, and for whoever is not. */
    inside: [
      ...pages.filter((path) => !outside.includes(path)).map(shown),
      ...["signals", "people", "projects", "sources"].map((tab) => `${gpPath}?tab=${tab}`),
      "/account/requests?status=4xx",
      "/account/nowhere",
    ],
    outside: outside.map(shown),
  };
}

const resetLink = (service: TestService) =>
  withControl(service, async (control) => {
    const { token } = await makeResetLink(control, { address: email, now: service.clock.now() });
    return token;
  });

async function contextOf(
  chromium: Browser,
  { service, ada }: World,
  options: BrowserContextOptions,
  isSignedIn: boolean,
): Promise<BrowserContext> {
  const context = await chromium.newContext(options);
  const cookies = Array.from(ada.cookies, ([name, value]) => ({ name, value, url: service.url }));
  if (isSignedIn) await context.addCookies(cookies);
  return context;
}

for (const width of [360, 1280])
  test(`at ${width} px, light and dark, a reader of the account pages stumbles over nothing`, async (t, chromium) => {
    const world = await openWorld(t);
    for (const [isSignedIn, paths] of [
      [true, world.inside],
      [false, world.outside],
    ] as const) {
      const options = { viewport: { width, height: 800 } };
      const page = await (await contextOf(chromium, world, options, isSignedIn)).newPage();
      for (const path of paths) {
        // A minute of quota would not do for all pages of records.
        world.service.clock.advance(5);
        await page.goto(world.service.url + path);
        assert.equal(await page.locator("h1").count(), 1, path);
        await assertReadable(page);
      }
    }
  });

test("every page of an account says the same without a script, and weighs less than 220 KB at first, and less than 60 KB once its assets are known", async (t, chromium) => {
  const world = await openWorld(t);
  const plain = await contextOf(chromium, world, { javaScriptEnabled: false }, true);
  const scripted = await contextOf(chromium, world, {}, true);
  for (const path of world.inside) {
    world.service.clock.advance(10);
    const texts: string[] = [];
    for (const context of [plain, scripted]) {
      const page = await context.newPage();
      let [bytes, ofAssets] = [0, 0];
      page.on("response", async (response) => {
        const { length } = await response.body().catch(() => Buffer.alloc(0));
        bytes += length;
        if (response.url().includes("/assets/")) ofAssets += length;
      });
      await page.goto(world.service.url + path);
      texts.push(await page.locator("h1").innerText());
      assert.ok(bytes < 220_000, `${path}: ${bytes} bytes`);
      assert.ok(bytes - ofAssets < 60_000, `${path}: ${bytes - ofAssets} bytes beside its assets`);
      await page.close();
    }
    assert.equal(texts[0], texts[1], path);
  }
});
