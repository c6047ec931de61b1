/** What a reader of any kind would stumble over on a page in a browser. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";

const openDetails = "for (const one of document.querySelectorAll('details')) one.open = true";
const isWiderThanScreen = "document.documentElement.scrollWidth > innerWidth";
const brokenTexts =
  "Array.from(document.querySelectorAll('.figures dt + dd, .counts, .rows th')).filter((one) => one.matches('th') ? one.scrollWidth > one.clientWidth && getComputedStyle(one).textOverflow === 'clip' : one.offsetHeight > 28).map((one) => one.textContent)";

const colorSchemes = ["light", "dark"] as const;

/** Widths of a small and of a large screen, at which no page may scroll sideways either. */
const otherWidths = [768, 1600];

/**
 * Finds nothing by the rules of axe-core in light and dark, with all that folds opened. No page scrolls sideways, no
 * figure takes two lines, and no heading of a column reaches out of it.
 */
export async function assertReadable(page: Page): Promise<void> {
  await keepPictures(page);
  await page.evaluate(openDetails);
  const path = new URL(page.url()).pathname;
  const { width, height } = page.viewportSize()!;
  for (const one of [...otherWidths, width]) {
    await page.setViewportSize({ width: one, height });
    assert.equal(await page.evaluate(isWiderThanScreen), false, `${path} at ${one} px`);
    assert.deepEqual(await page.evaluate(brokenTexts), [], `${path} at ${one} px`);
  }
  const grounds = new Set<unknown>();
  for (const colorScheme of colorSchemes) {
    await page.emulateMedia({ colorScheme });
    grounds.add(await page.evaluate("getComputedStyle(document.body).backgroundColor"));
    assert.deepEqual(await violationsOf(page, colorScheme), [], `${path}, ${colorScheme}`);
  }
  assert.equal(grounds.size, 2, `${path} is dark where the system is`);
}

/** Keeps pictures of the whole page in the folder that SCREENSHOTS names, if it names one. */
async function keepPictures(page: Page): Promise<void> {
  const { SCREENSHOTS: folder } = process.env;
  if (folder === undefined) return;
  const { pathname, search } = new URL(page.url());
  for (const colorScheme of colorSchemes) {
    await page.emulateMedia({ colorScheme });
    const name = `${page.viewportSize()!.width} ${colorScheme}${pathname}${search}`;
    const path = join(folder, `${name.replaceAll(/\W+/g, "-")}.png`);
    await page.screenshot({ path, fullPage: true });
  }
}

async function violationsOf(page: Page, colorScheme: "light" | "dark"): Promise<string[]> {
  const axe = new AxeBuilder({ page });
  // Only colours differ in the dark, and all rules together take seconds.
  if (colorScheme === "dark") axe.withRules(["color-contrast", "link-in-text-block"]);
  const { violations } = await axe.analyze();
  return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
}
