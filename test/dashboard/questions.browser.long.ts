/** Questions that analysts have, answered on Browse in a real browser without a script. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { openCatalogue } from "#datasets/catalogue.ts";
import { demoSize, inventRecords } from "#demo/invent.ts";
import { browser } from "../support/browser.ts";
import { callTool } from "../support/mcp.ts";
import { importRecords, keepingSteps } from "../support/dataset.ts";
import { startService } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const clicksMax = 4;

/** From the first page: rows of facets to click, a name to type, and the request that returns the same records. */
const questions = [
  {
    question: "multifamily GPs in Dallas with a signal in the last 90 days",
    path: "/browse/gps",
    rows: [
      ["Market", "Dallas, TX"],
      ["Property type", "Multifamily"],
      ["Signals", "Last 90 days"],
    ],
    request: "/list-gps?market=Dallas,+TX&property_type=multifamily&signal_date_from=-90d",
  },
  {
    question: "projects under construction in Texas with at least 100 units",
    path: "/browse/projects",
    rows: [
      ["Status", "Under construction"],
      ["State", "TX"],
      ["Units", "100 or more"],
    ],
    request: "/list-projects?status=under_construction&state=TX&units_min=100",
  },
  {
    question: "GPs that are value-add, in Dallas and in multifamily",
    path: "/browse/gps",
    rows: [
      ["Strategy", "Value-add"],
      ["Market", "Dallas, TX"],
      ["Property type", "Multifamily"],
    ],
    request: "/list-gps?strategy=value_add&market=dallas&property_type=multifamily",
  },
] as const;

const row = (page: Page, group: string, label: string) =>
  page
    .locator("#filters section")
    .filter({ has: page.getByRole("heading", { name: group, exact: true }) })
    .getByRole("link", { name: label });

const idsOn = async (page: Page): Promise<string[]> => {
  const names = await page.locator("tbody th a").all();
  const hrefs = await Promise.all(names.map((name) => name.getAttribute("href")));
  return hrefs.map((href) => href!.split("/").at(-1)!);
};

const idsOf = (records: readonly { id: string }[]) => records.map(({ id }) => id);

/** Returns the call of a list's tool that asks what a request does. */
function toolCallOf(request: string): [tool: string, args: Record<string, unknown>] {
  const [path = "", query] = request.split("?");
  const args = Array.from(new URLSearchParams(query), ([name, value]) => {
    if (name.endsWith("_from")) return [name, value];
    return [name, name.endsWith("_min") ? Number(value) : [value]];
  });
  return [path.slice(1).replace("-", "_"), { ...Object.fromEntries(args), limit: 25 }];
}

test("each question takes at most four clicks and one typed word, and finds what a request and a tool do", async (t) => {
  const chromium = await browser(t);
  if (chromium === null) return;
  const size = { ...demoSize, gps: 1200, principals: 1500, signals: 2500, projects: 2500 };
  const records = [...inventRecords(size)].flatMap((entry) => entry.records);
  const settings = { BROWSE: "everyone", CONTACT: "records@example.org" };
  const service = await startService(t, { records, settings });
  const page = await (await chromium.newContext({ javaScriptEnabled: false })).newPage();
  const { key } = await service.newKey();
  const found = async (request: string) => {
    const { body } = await service.get(`${request}&limit=25`, { "x-api-key": key });
    return idsOf(body.data);
  };
  for (const { question, path, rows, request } of questions) {
    await page.goto(service.url + path);
    assert.ok(rows.length < clicksMax, "one click is left for the way to the page");
    for (const [group, label] of rows) await row(page, group, label).click();
    const ids = await idsOn(page);
    assert.ok(ids.length > 0, question);
    assert.deepEqual(ids, await found(request), question);
    const { structuredContent } = await callTool({ ...service, key }, ...toolCallOf(request));
    assert.deepEqual(idsOf(structuredContent.data), ids, question);
  }
  // What else somebody is in: the name of a person, who leads to all GPs of theirs.
  await page.goto(`${service.url}/browse/people`);
  const { body } = await service.get("/list-principals?limit=100", { "x-api-key": key });
  const person = body.data.find(({ gps }: { gps: unknown[] }) => gps.length > 0);
  const name = page.getByRole("main").getByRole("searchbox");
  await name.fill(person.name);
  await name.press("Enter");
  assert.ok((await idsOn(page)).includes(person.id));
  await page.locator(`a[href="/browse/people/${person.id}"]`).click();
  for (const { id } of person.gps)
    assert.ok((await page.locator(`a[href^="/browse/gps/${id}"]`).count()) > 0, id);
});

test("what changed since Monday takes two clicks from the first page, and is what requests say", async (t) => {
  const chromium = await browser(t);
  if (chromium === null) return;
  const dataDir = temporaryFolder(t);
  const catalogue = keepingSteps(openCatalogue(join(dataDir, "datasets")), assert.fail);
  const size = { ...demoSize, gps: 60, principals: 80, signals: 100, projects: 50 };
  // Without a time of their own, records are as old as the import that changed them.
  const records = [...inventRecords(size)]
    .flatMap((entry) => entry.records as any[])
    .map((one) => {
      const { updated_at: _, ...rest } = one;
      return rest;
    });
  const isTold = ({ record }: any, i: number) => record === "gp" && i % 5 === 0;
  const changed = records.map((one, i) => (isTold(one, i) ? { ...one, aum_usd: 1e6 + i } : one));
  // The service's clock stands on Saturday, 21 November.
  const publish = async (of: readonly unknown[], at: string) => {
    const options = { source: "demo", nowMilliseconds: Date.parse(at) };
    await importRecords(catalogue, of, options);
  };
  await publish(records, "2026-11-13T03:00:00Z");
  await publish(changed, "2026-11-18T03:00:00Z");
  const service = await startService(t, {
    dataDir,
    records: null,
    settings: { BROWSE: "everyone" },
  });
  const page = await (await chromium.newContext({ javaScriptEnabled: false })).newPage();
  await page.goto(service.url);
  await page.getByRole("link", { name: "What changed since Monday?" }).click();
  await page.getByRole("navigation", { name: "Kinds of records" }).getByText("GPs").click();
  const rows = page.getByRole("table", { name: /^Records that changed/ }).locator("th a");
  const hrefs = await Promise.all((await rows.all()).map((link) => link.getAttribute("href")));
  const ids = hrefs.map((href) => href!.split("/").at(-1)!).toSorted();
  assert.ok(ids.length >= 10, String(ids.length));
  const listed = await service.get("/list-gps?updated_at_from=2026-11-16&limit=100");
  assert.deepEqual(listed.body.data.map(({ id }: { id: string }) => id).toSorted(), ids);
  const { body } = await service.get("/changes?limit=1");
  const step = await service.get(body.data[0].step);
  const lines = step.text.trimEnd().split("\n").slice(1);
  const told = lines.map((line) => JSON.parse(line) as { kind: string; id: string });
  const gps = told.filter(({ kind }) => kind === "gp");
  assert.deepEqual(gps.map(({ id }) => id).toSorted(), ids);
});
