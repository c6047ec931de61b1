/** A real browser for tests that need one; where there is none they are skipped, but never in CI. */
import { existsSync } from "node:fs";
import { test, type TestContext } from "node:test";
import { chromium, type Browser } from "playwright-core";

const executablePath = process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium";
export const hasChromium = existsSync(executablePath);

/** Nothing but the pages under test: no GPU, no sandbox (containers run as root), no calls home. */
const args = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/**
 * Chromium, closed after the test; null where there is none, and then the test is marked as skipped.
 * @throws Error in CI without Chromium: there a skipped test would look like one that passed.
 */
export async function browser(t: TestContext): Promise<Browser | null> {
  if (!hasChromium && process.env["CI"])
    throw new Error(
      `No Chromium at ${executablePath}: apt-get install chromium, or set CHROMIUM_PATH.`,
    );
  if (!hasChromium) {
    t.skip("skipped: no Chromium (apt-get install chromium)");
    return null;
  }
  const launched = await chromium.launch({ executablePath, args });
  t.after(() => launched.close());
  return launched;
}

/** Takes the place of `test` of node:test for what needs a browser. */
export const inBrowser = (
  name: string,
  run: (t: TestContext, chromium: Browser) => Promise<void>,
): void =>
  void test(name, async (t) => {
    const chromium = await browser(t);
    if (chromium !== null) await run(t, chromium);
  });
