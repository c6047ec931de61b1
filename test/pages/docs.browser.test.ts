import assert from "node:assert/strict";
import type { IncomingMessage, ServerResponse } from "node:http";
import { inBrowser as test } from "../support/browser.ts";
import { servePages } from "../support/public-pages.ts";

const key = "gpr_R7mQ2xVb9TzK4pWn8LsJ3hYd6FgC1a2kDPFA";
const rateLimit = '"minute";r=57;t=48';

/** Answers like `/fetch-gp`, with what it was sent. */
function answer(request: IncomingMessage, response: ServerResponse): void {
  const body = {
    data: [{ name: "<img src=x onerror=alert(1)>", tags: ["a", "b"] }],
    asked: request.url,
  };
  const hasKey = request.headers["x-api-key"] === key;
  response.writeHead(hasKey ? 200 : 401, {
    "content-type": "application/json",
    ratelimit: rateLimit,
    "x-request-id": "req_1",
  });
  response.end(JSON.stringify(body));
}

test("the docs in a browser", async (t, chromium) => {
  const origin = await servePages(t, answer);
  const context = await chromium.newContext();
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const asked: string[] = [];
  const faults: string[] = [];
  context.on("request", (request) => asked.push(request.url()));
  context.on("weberror", (fault) => faults.push(fault.error().message));
  context.on("console", (message) => faults.push(message.text()));
  const page = await context.newPage();
  await page.goto(`${origin}/docs/fetch-gp`);
  const form = page.locator('form[data-path="/fetch-gp"]');
  const command = page.locator(".copyable code").first();

  await t.test("the form sends the key in its header and shows the answer as text", async () => {
    await form.getByLabel("x-api-key").fill(key);
    await form.getByLabel("gp_name").fill("stone & co");
    await form.getByText("5 more parameters").click();
    await form.getByLabel("tag").fill("value_add\nmultifamily\n");
    await form.getByRole("button", { name: "Send request" }).click();
    await form
      .getByRole("status")
      .filter({ hasText: /^200 OK in \d+ ms$/ })
      .waitFor();
    const target = "/fetch-gp?gp_name=stone+%26+co&tag=value_add&tag=multifamily";
    const body = JSON.parse(await page.locator(".answer code").innerText()) as Record<
      string,
      unknown
    >;
    assert.equal(body["asked"], target);
    assert.deepEqual(body["data"], [{ name: "<img src=x onerror=alert(1)>", tags: ["a", "b"] }]);
    assert.equal(await page.locator(".answer img").count(), 0);
    await page.getByText("Headers of the answer", { exact: true }).click();
    assert.match(await page.locator(".answer dl").innerText(), /RateLimit\n"minute";r=57;t=48/i);
    assert.equal(await command.innerText(), `curl -H "x-api-key: YOUR_KEY" "${origin}${target}"`);
    for (const language of ["TypeScript", "Python"]) {
      await page.getByText(language, { exact: true }).click();
      const code = page.getByRole("group", { name: `Request: ${language}` });
      assert.ok((await code.innerText()).includes(`"${origin}${target}"`), language);
      assert.ok(!(await command.isVisible()));
    }
    await page.getByText("curl", { exact: true }).click();
  });

  await t.test(
    "the copy button puts the command without the key on the clipboard and says so",
    async () => {
      await page.getByRole("button", { name: "Copy" }).click();
      await page.getByRole("button", { name: "Copied" }).waitFor();
      assert.equal(
        await page.evaluate("navigator.clipboard.readText()"),
        await command.innerText(),
      );
    },
  );

  await t.test(
    "the key is kept for the tab alone, for every form, and never in an address",
    async () => {
      await page.reload();
      assert.equal(await form.getByLabel("x-api-key").inputValue(), key);
      await page.goto(`${origin}/docs/list-gps`);
      assert.equal(await page.getByLabel("x-api-key").inputValue(), key);
      await page.goBack();
      assert.equal(await page.evaluate("Object.values(localStorage).join()"), "");
      assert.deepEqual(await context.cookies(), []);
      assert.ok(asked.every((url) => !url.includes(key)));
    },
  );

  for (const [title, typed, status] of [
    ["a refused request shows its status", "", /^401 Unauthorized in/],
    ["a request that cannot be sent says so", "ключ", /^The request was not answered: /],
  ] as const)
    await t.test(title, async () => {
      await form.getByLabel("x-api-key").fill(typed);
      await form.getByRole("button", { name: "Send request" }).click();
      await form.getByRole("status").filter({ hasText: status }).waitFor();
    });

  await t.test("the form of a list sends its lines as parameters, in their order", async () => {
    await page.goto(`${origin}/docs/list-projects`);
    const form = page.locator('form[data-path="/list-projects"]');
    const commandFor = (query: string) =>
      `curl -H "x-api-key: YOUR_KEY" "${origin}/list-projects?${query}"`;
    const example = "status=under_construction&units_min=100";
    assert.equal(await command.innerText(), commandFor(example));
    await form.getByLabel("Parameters").fill("market=a & b=c\n\n tag = x \ntag=y\nsort\n");
    const query = "market=a+%26+b%3Dc&tag=x&tag=y&sort=";
    assert.equal(await command.innerText(), commandFor(query));
  });

  await t.test("no other origin was requested, and the policy blocked nothing", () => {
    assert.ok(asked.length > 5);
    assert.deepEqual(
      asked.filter((url) => !url.startsWith(`${origin}/`)),
      [],
    );
    // The one message is Chromium's own about the 401 above.
    assert.deepEqual(
      faults.filter((text) => !text.includes("401")),
      [],
    );
  });

  await t.test("without a script the form can be read and says what to do instead", async () => {
    const plain = await chromium.newContext({ javaScriptEnabled: false });
    const still = await plain.newPage();
    await still.goto(`${origin}/docs/fetch-gp`);
    const card = still.locator('form[data-path="/fetch-gp"]');
    assert.match(
      await card.innerText(),
      /Without JavaScript a browser cannot send the header x-api-key/,
    );
    assert.match(
      await still.locator("pre").first().innerText(),
      /^curl -H "x-api-key: YOUR_KEY" "https:\/\/YOUR_HOST\/fetch-gp\?/,
    );
    await card.getByText("5 more parameters").click();
    for (const name of ["x-api-key", "gp_name", "tag", "theme", "market", "limit", "offset"])
      assert.ok(await card.getByLabel(name).isVisible(), name);
    assert.ok(await card.getByRole("button", { name: "Send request" }).isDisabled());
    assert.equal(await still.getByRole("button", { name: "Copy" }).count(), 0);
  });
});
