/** Questions that analysts have, answered on Browse in a real browser without a script. */
import assert from "node:assert/strict";
import { mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { Locator, Page } from "playwright-core";
import { openCatalogue } from "#datasets/catalogue.ts";
import { demoSize, inventRecords } from "#demo/invent.ts";
import { allCommands } from "../support/all-commands.ts";
import { inBrowser as test } from "../support/browser.ts";
import { importRecords, keepingSteps } from "../support/dataset.ts";
import { writeFilingFolder } from "../support/filing-folder.ts";
import { fixedClock, startService, type TestService } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const clicksMax = 4;

/** From the first page: rows of facets to click, and the request that returns the same records. */
interface Question {
  question: string;
  path: string;
  rows: readonly (readonly [group: string, label: string])[];
  request: string;
}

/** Questions that any records of real estate answer. */
const everywhere: readonly Question[] = [
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
    question: "GPs that are value-add, in Dallas and in multifamily",
    path: "/browse/gps",
    rows: [
      ["Strategy", "Value-add"],
      ["Market", "Dallas, TX"],
      ["Property type", "Multifamily"],
    ],
    request: "/list-gps?strategy=value_add&market=dallas&property_type=multifamily",
  },
];

interface World {
  name: string;
  /** What one asks its projects. */
  ofProjects: Question;
  /** Link of the first page to what changed since Monday. */
  toChanges: string;
  /** Starts a service whose clock stands on a Saturday, after a publication before Monday and one since. */
  start(t: TestContext): Promise<TestService>;
}

const settings = { BROWSE: "everyone", CONTACT: "records@example.org" };

const demo: World = {
  name: "the demo",
  ofProjects: {
    question: "projects under construction in Texas with at least 100 units",
    path: "/browse/projects",
    rows: [
      ["Status", "Under construction"],
      ["State", "TX"],
      ["Units", "100 or more"],
    ],
    request: "/list-projects?status=under_construction&state=TX&units_min=100",
  },
  toChanges: "What changed since Monday?",
  async start(t) {
    const dataDir = temporaryFolder(t);
    const catalogue = keepingSteps(openCatalogue(join(dataDir, "datasets")), assert.fail);
    const size = { ...demoSize, gps: 1200, principals: 1500, signals: 2500, projects: 2500 };
    // Without a time of their own, records are as old as the import that changed them.
    const records = [...inventRecords(size)]
      .flatMap((entry) => entry.records as any[])
      .map((one) => ({ ...one, updated_at: undefined }));
    const isTold = ({ record }: any, i: number) => record === "gp" && i % 100 === 0;
    const changed = records.map((one, i) => (isTold(one, i) ? { ...one, aum_usd: 1e6 + i } : one));
    const publish = async (of: readonly unknown[], at: string) => {
      const options = { source: "demo", nowMilliseconds: Date.parse(at) };
      await importRecords(catalogue, of, options);
    };
    await publish(records, "2026-11-13T03:00:00Z");
    await publish(changed, "2026-11-18T03:00:00Z");
    return startService(t, { dataDir, records: null, settings });
  },
};

const filings: World = {
  name: "a folder of filings",
  // Filings say nothing of construction and units.
  ofProjects: {
    question: "multifamily projects in Dallas that are raising",
    path: "/browse/projects",
    rows: [
      ["Status", "Raising"],
      ["Market", "Dallas, TX"],
      ["Property type", "Multifamily"],
    ],
    request: "/list-projects?status=raising&market=dallas&property_type=multifamily",
  },
  toChanges: "Changes",
  async start(t) {
    const place = temporaryFolder(t);
    const [folder, dataDir] = [join(place, "sec"), join(place, "data")];
    mkdirSync(folder);
    await writeFilingFolder(folder);
    const [last, later] = [join(folder, "2026q2_d.zip"), join(place, "2026q2_d.zip")];
    const importAt = (at: string) =>
      allCommands(dataDir, {}, () => Date.parse(at)).json("import sec", folder);
    renameSync(last, later);
    await importAt("2026-07-10T03:00:00Z");
    renameSync(later, last);
    await importAt("2026-07-15T03:00:00Z");
    const clock = fixedClock(Date.parse("2026-07-18T09:00:00Z"));
    return startService(t, { dataDir, records: null, settings, clock });
  },
};

const row = (page: Page, group: string, label: string) =>
  page
    .locator("#filters section")
    .filter({ has: page.getByRole("heading", { name: group, exact: true }) })
    .getByRole("link", { name: label });

/** Clicks a link, and waits for its page. */
async function follow(page: Page, link: Locator): Promise<void> {
  const href = await link.getAttribute("href");
  await link.click();
  await page.waitForURL(new URL(href!, page.url()).href);
}

const idsOn = async (part: Page | Locator): Promise<string[]> => {
  const names = await part.locator("tbody th a").all();
  const hrefs = await Promise.all(names.map((name) => name.getAttribute("href")));
  return hrefs.map((href) => href!.split("/").at(-1)!);
};

const idsOf = (records: readonly { id: string }[]) => records.map(({ id }) => id);

for (const world of [demo, filings]) {
  test(`of ${world.name}, each question takes at most four clicks and one typed word, and finds what a request does`, async (t, chromium) => {
    const service = await world.start(t);
    const page = await (await chromium.newContext({ javaScriptEnabled: false })).newPage();
    const { key } = await service.newKey();
    const found = async (request: string) => {
      const { body } = await service.get(`${request}&limit=25`, { "x-api-key": key });
      return idsOf(body.data);
    };
    for (const { question, path, rows, request } of [...everywhere, world.ofProjects]) {
      await page.goto(service.url + path);
      assert.ok(rows.length < clicksMax, "one click is left for the way to the page");
      for (const [group, label] of rows) await follow(page, row(page, group, label));
      const ids = await idsOn(page);
      assert.ok(ids.length > 0, question);
      assert.deepEqual(ids, await found(request), question);
    }
    // What else somebody is in: the name of a person, who leads to all GPs of theirs.
    await page.goto(`${service.url}/browse/people`);
    const { body } = await service.get("/list-principals?limit=100", { "x-api-key": key });
    const person = body.data.find(({ gps }: { gps: unknown[] }) => gps.length > 0);
    const name = page.getByRole("main").getByRole("searchbox");
    await name.fill(person.name);
    await name.press("Enter");
    await page.waitForURL(/[?&]name=/);
    assert.ok((await idsOn(page)).includes(person.id));
    await follow(page, page.locator(`a[href="/browse/people/${person.id}"]`));
    for (const { id } of person.gps)
      assert.ok((await page.locator(`a[href^="/browse/gps/${id}"]`).count()) > 0, id);
  });

  test(`of ${world.name}, what changed since Monday takes two clicks from the first page, and is what requests say`, async (t, chromium) => {
    const service = await world.start(t);
    const page = await (await chromium.newContext({ javaScriptEnabled: false })).newPage();
    await page.goto(service.url);
    await follow(page, page.getByRole("link", { name: world.toChanges, exact: true }).first());
    const kinds = page.getByRole("navigation", { name: "Kinds of records" });
    await follow(page, kinds.getByRole("link", { name: /^GPs/ }));
    const next = page.getByRole("link", { name: "Next" });
    const table = page.getByRole("table", { name: /^Records that changed/ });
    const ids = await idsOn(table);
    while ((await next.count()) > 0) {
      await follow(page, next);
      ids.push(...(await idsOn(table)));
    }
    ids.sort();
    assert.ok(ids.length >= 10, String(ids.length));
    const monday = new Date(service.clock.now() - 5 * 86_400_000).toISOString().slice(0, 10);
    const listed = await service.get(`/list-gps?updated_at_from=${monday}&limit=100`);
    assert.deepEqual(idsOf(listed.body.data).toSorted(), ids);
    const { body } = await service.get("/changes?limit=1");
    const step = await service.get(body.data[0].step);
    const lines = step.text.trimEnd().split("\n").slice(1);
    const told = lines.map((line) => JSON.parse(line) as { kind: string; id: string });
    const gps = told.filter(({ kind }) => kind === "gp");
    assert.deepEqual(idsOf(gps).toSorted(), ids);
  });
}
