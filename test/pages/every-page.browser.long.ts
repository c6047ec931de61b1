import assert from "node:assert/strict";
import { listed } from "../support/awkward/words.ts";
import { inBrowser as test } from "../support/browser.ts";
import { servePages } from "../support/public-pages.ts";
import { assertReadable } from "../support/reader.ts";

/** One page of each kind. */
const paths = listed(`
  / /docs /docs/fetch-gp /docs/list-gps /docs/vocabulary /docs/explain /docs/mcp /errors /errors/invalid-parameters /changelog /privacy
  /dosc
`);
const refuse = (_: unknown, response: { writeHead(status: number): { end(): void } }) =>
  response.writeHead(404).end();

for (const width of [360, 1280])
  test(`at ${width} px, light and dark, a reader stumbles over nothing`, async (t, chromium) => {
    const origin = await servePages(t, refuse);
    const context = await chromium.newContext({ viewport: { width, height: 800 } });
    const page = await context.newPage();
    for (const path of paths) {
      await page.goto(origin + path);
      await assertReadable(page);
    }
  });

test("on a phone the head takes 96 px at most, and code the whole width, beside its button", async (t, chromium) => {
  const origin = await servePages(t, refuse);
  const context = await chromium.newContext({ viewport: { width: 360, height: 740 } });
  const page = await context.newPage();
  for (const path of ["/", "/docs/mcp"]) {
    await page.goto(origin + path);
    const main = (await page.locator("main").boundingBox())!;
    assert.ok(main.y <= 96, `${path}: ${main.y}`);
    const block = (await page.locator(".copyable").first().boundingBox())!;
    const code = (await page.locator(".copyable pre").first().boundingBox())!;
    const button = (await page.locator("[data-copy]").first().boundingBox())!;
    assert.equal(block.width, main.width);
    assert.equal(button.x, code.x + code.width);
    assert.equal(button.x + button.width, block.x + block.width);
  }
});

test("the pages of the docs are beside each other where there is room, and else behind one line", async (t, chromium) => {
  const origin = await servePages(t, refuse);
  for (const [width, isOpen] of [
    [1280, true],
    [360, false],
  ] as const) {
    const context = await chromium.newContext({
      viewport: { width, height: 740 },
      javaScriptEnabled: false,
    });
    const page = await context.newPage();
    await page.goto(`${origin}/errors`);
    const agents = page.getByRole("link", { name: "Agents" });
    assert.equal(await agents.isVisible(), isOpen, `${width}`);
    if (!isOpen) await page.getByText("Docs: Errors").click();
    await agents.click();
    await page.waitForURL(`${origin}/docs/mcp`);
  }
});

test("the keyboard reaches the content in two steps, past the navigation", async (t, chromium) => {
  const origin = await servePages(t, refuse);
  const page = await (await chromium.newContext()).newPage();
  await page.goto(`${origin}/docs`);
  await page.keyboard.press("Tab");
  assert.ok(await page.getByRole("link", { name: "Skip to the content" }).isVisible());
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate("document.activeElement.id"), "main");
});
