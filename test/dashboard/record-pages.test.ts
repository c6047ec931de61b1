import assert from "node:assert/strict";
import { test } from "node:test";
import { leaveOut } from "#dashboard/components/records.ts";
import { mintId } from "#datasets/draft-record.ts";
import { gp, principal, project, signal } from "../datasets/published.ts";
import {
  assertSays,
  headingOf,
  mainOf,
  openPages,
  pathOf,
  textOf,
  wordsOf,
} from "../support/record-pages.ts";
import type { Page } from "../support/user.ts";

/** Words of the card, plot or section with a heading that begins so. */
function sectionOf({ text }: Page, heading: string): string | undefined {
  const sections = text.matchAll(/<(section|figure)\b.*?<h2[^>]*>(.*?)<\/h2>(.*?)<\/\1>/gs);
  const found = sections.find(([, , name]) => textOf(name!).trim().startsWith(heading));
  return found && textOf(wordsOf(found[3]!)).trim();
}

const dallas = "Dallas-Fort Worth-Arlington, TX";
const at = (latitude: number, longitude: number) => ({ market: dallas, latitude, longitude });
const ofAlder = { gps: ["north"], project_ids: ["alder"] };

const records = [
  gp("north", {
    name: "Northwind Partners",
    legal_name: "Northwind Partners, LLC",
    aliases: ["Northwind GP II"],
    former_ids: ["gp_0123456789abcdef"],
    aum_usd: 1_840_000_000,
    raised_to_date_usd: 412_500_000,
    markets: [dallas],
    external_ids: { cik: ["0001912345"] },
    provenance: { basis: "related_entity", confidence: 0.8, url: "https://example.org/filing/1" },
    funds: Array.from({ length: 7 }, (_, i) => ({
      name: `Northwind Fund ${i + 1}, LP`,
      type: "Real Estate Fund",
      ...(i === 6 && { structure: "master", gross_assets_usd: 243_000_000, as_of: "2026-03-31" }),
      ...(i === 0 && { offered_usd: 50e6, sold_usd: 30e6, first_sale_date: "2025-02-01" }),
    })),
    funds_total: 9,
  }),
  gp("hale", { name: "Hale Realty", markets: [dallas] }),
  principal("ana", ["north", "hale"], {
    name: "Ana Müller",
    title: "Managing Partner",
    last_seen_date: "2026-10-02",
    external_ids: { crd: ["7000001"] },
  }),
  principal("ana-2", ["hale"], { name: "Anna Mueller", external_ids: { crd: ["7000001"] } }),
  principal("ana-3", [], { name: "ANA MULLER", city: "Reno", state: "NV" }),
  principal("ben", ["north"], { name: "Ben Okafor", last_seen_date: "2026-11-01" }),
  project("alder", {
    name: "The Alder",
    type: "development",
    property_type: "multifamily",
    status: "under_construction",
    units: 120,
    total_amount_usd: 50_000_000,
    completion_date: "2028-02-05",
    market_basis: "property_address",
    gps: ["north"],
    ...at(32.8, -96.8),
  }),
  project("birch", { name: "Birch Yard", gps: ["north"], ...at(32.8, -96.9) }),
  project("cedar", { name: "Cedar Yard", ...at(32.8, -96.82) }),
  project("london", {
    name: "London Yard",
    market: "London",
    latitude: 51.5,
    longitude: -0.1,
    gps: ["north"],
  }),
  signal("sale", {
    title: "Northwind Partners raises another $20 million",
    type: "capital_raised",
    amount_usd: 20_000_000,
    amount_basis: "sold_delta",
    date: "2026-03-01",
    gps: ["north"],
  }),
  signal("first", {
    title: "Northwind Fund I, LP records a first sale of $10 million",
    type: "first_sale",
    amount_usd: 10_000_000,
    amount_basis: "sold_to_date",
    date: "2025-03",
    gps: ["north"],
  }),
  signal("so far", {
    title: "Northwind Fund I, LP amends its notice, $30 million sold so far",
    type: "capital_raised",
    amount_usd: 30_000_000,
    amount_basis: "sold_to_date",
    date: "2026-04-01",
    gps: ["north"],
  }),
  signal("loan", {
    title: "Northwind Partners closes a $40 million loan on The Alder",
    type: "financing",
    amount_usd: 40_000_000,
    amount_basis: "loan",
    date: "2026-09-21",
    provenance: { basis: "issuer_stem", confidence: 0.6 },
    ...ofAlder,
  }),
  signal("begun", {
    title: "Work begins on The Alder",
    type: "construction_started",
    date: "2026-05-15",
    ...ofAlder,
  }),
  signal("names", {
    title: "Ana Müller joins Northwind Partners",
    type: "new_principal",
    date: "2026-10",
    gps: ["north"],
  }),
];

test("over a few records", async (t) => {
  const { service, user } = await openPages(t, { records });
  const north = await user.get(pathOf("gp", "north"));
  const ana = await user.get(pathOf("principal", "ana"));
  const alder = await user.get(pathOf("project", "alder"));

  await t.test("a GP's page says what happens and what it is, and who says so how surely", () => {
    assert.equal(headingOf(north), "Northwind Partners");
    assert.match(north.text, /<title>Northwind Partners · GP · /);
    assertSays(
      north,
      "Named among the related persons of a filing, 80 %",
      "Northwind Partners, LLC",
      "Assets $1.84B",
      "Signals 6",
      "1 signal in Q4, 1 in Q3",
      "Source: own, stated, confidence 100 %, unless noted.",
      "own, probably: identified by the issuer's name alone, confidence 60 %",
      "Dallas leads with 2",
      "London 1",
      // The page has said the name.
      "Closes a $40 million loan on The Alder",
      "Ana Müller joins",
    );
  });

  await t.test("a GP without projects and signals on a map has its own markets there", async () => {
    assert.match(sectionOf(await user.get(pathOf("gp", "hale")), "Markets")!, /^1 .*Dallas/);
    assert.equal(sectionOf(north, "Markets"), undefined);
  });

  await t.test(
    "what is sold is added up from amounts that can be added, beside what is stated",
    () => {
      const capital = sectionOf(north, "$30M sold, according to 2 notices");
      assert.match(capital!, /In all: \$413M reported sold/);
      assert.match(capital!, /Q1 2025 \$10M .*Q1 2026 \$30M/);
    },
  );

  await t.test(
    "behind the tabs of a GP are all of its records, and where they are from",
    async () => {
      const ids = ["sale", "first", "so far", "loan", "begun", "names"];
      const page = await user.get(`${pathOf("gp", "north")}?tab=signals`);
      const [, tabs] = /<nav class="tabs"[^>]*>(.*?)<\/nav>/s.exec(page.text)!;
      assert.deepEqual(
        [...tabs!.matchAll(/<a [^>]*>\s*(\w+)/g)].map(([, word]) => word),
        ["Overview", "Signals", "People", "Projects", "Funds", "Sources"],
      );
      const signals = sectionOf(page, "Latest signals");
      for (const { title } of records.filter(({ id }) => ids.includes(id)) as { title: string }[])
        assert.ok(signals!.includes(leaveOut(title, "Northwind Partners")), title);
      const funds = sectionOf(await user.get(`${pathOf("gp", "north")}?tab=funds`), "Funds");
      assert.match(
        funds!,
        /^7 of 9 .*Northwind Fund 7, LP Real Estate Fund · master \$243M 31 Mar 2026 .*Fund 1, LP Real Estate Fund \$30M \$50M 1 Feb 2025 /,
      );
      assert.match(sectionOf(north, "Funds")!, /^6 of 9 .*Reported sold .*All 9 funds$/);
      assertSays(await user.get(`${pathOf("gp", "hale")}?tab=funds`), "This GP has no funds.");
      assertSays(
        await user.get(`${pathOf("gp", "north")}?tab=sources`),
        "Signals own, stated, confidence 100 % 5",
        "CIK 0001912345",
        "Northwind GP II",
        "Named among the related persons of a filing",
        mintId("gp", "own", "north"),
      );
    },
  );

  await t.test("a person's page tells the same individual from others of the name", async () => {
    assert.equal(headingOf(ana), "Ana Müller");
    assertSays(ana, "Managing Partner at 2 GPs", "Signals 6, this person named in 1");
    assert.match(sectionOf(ana, "GPs")!, /Northwind Partners.*Hale Realty/);
    assert.match(sectionOf(ana, "Also at")!, /7000001 Anna Mueller .*Hale Realty/);
    assert.match(
      sectionOf(ana, "Same name elsewhere")!,
      /^not known to be the same person ANA MULLER Reno, NV$/,
    );
    assert.match(ana.text, /<strong>Ana Müller joins Northwind Partners<\/strong>/);
    assert.match(sectionOf(ana, "People at the same GPs")!, /Ben Okafor.*Anna Mueller/);
    const alone = await user.get(pathOf("principal", "ana-3"));
    for (const heading of ["GPs", "Signals", "People at the same GPs", "Also at"])
      assert.equal(sectionOf(alone, heading), undefined, heading);
  });

  await t.test("a project's page has its course, and compares amounts without adding them", () => {
    assertSays(
      alder,
      "Development, multifamily by Northwind Partners",
      "Per dwelling $417K",
      "Completion is planned 16 months after financing",
      "The loan is 80 % of the amount",
      "from the property’s own address",
    );
    assert.match(
      sectionOf(alder, "The loan")!,
      /Amount in the record \$50M .* Loan \$40M 21 Sep 2026$/,
    );
    // Each bar is in proportion to the largest.
    assert.match(alder.text, /<rect fill="var\(--accent\)" width="100%".* width="80%"/s);
    assert.ok(!alder.text.includes("$90M"));
    assert.match(
      sectionOf(alder, "Nearest projects")!,
      /^2 in Dallas, TX .*Cedar Yard.* 1\.2 Birch Yard.* 5\.8/,
    );
  });

  await t.test("every link of these pages leads to a page for people", async () => {
    const paths = new Set(
      [north, ana, alder].flatMap((page) =>
        Array.from(mainOf(page).matchAll(/href="(\/[^"#]*)"/g), ([, path]) => textOf(path!)),
      ),
    );
    assert.ok(paths.size > 15);
    for (const path of paths) {
      service.clock.advance(2);
      const { status, headers } = await user.get(path);
      assert.equal(status, 200, path);
      assert.match(headers.get("content-type")!, /^text\/html/, path);
    }
  });

  await t.test("a former id leads to its GP, an unknown one to a page that says so", async () => {
    const moved = await user.get("/browse/gps/gp_0123456789abcdef?tab=people");
    assert.equal(moved.status, 308);
    assert.equal(moved.headers.get("location"), `${pathOf("gp", "north")}?tab=people`);
    for (const [path, heading] of [
      ["/browse/gps/gp_fedcba9876543210", "There is no such GP"],
      ["/browse/people/pr_fedcba9876543210", "There is no such person"],
      ["/browse/projects/pj_fedcba9876543210", "There is no such project"],
    ] as const) {
      const page = await user.get(path);
      assert.deepEqual([page.status, headingOf(page)], [404, heading]);
    }
  });
});

test("a title leaves out the name that its page says, and stays a sentence", () => {
  for (const [title, left] of [
    ["Northwind buys land", "Buys land"],
    ["Northwind (with Hale) buys land", "Buys land, with Hale"],
    ["Hale (with Northwind) buys land", "Hale buys land"],
    ["Assets of Northwind reach $1 billion", "Assets reach $1 billion"],
    ["Ana takes a wider role at Northwind", "Ana takes a wider role"],
    ["Ana joins Northwind", "Ana joins"],
    ["Elm Yard goes to Northwind for $9 million", "Elm Yard goes for $9 million"],
    ["Northwind’s plan is approved", "Northwind’s plan is approved"],
    ["Northwinds buys land", "Northwinds buys land"],
    ["Northwind Fund II, LP reported a sale", "Fund II, LP reported a sale"],
    ["Northwind, LLC reported a sale", "Northwind, LLC reported a sale"],
    ["Northwind: branch opens", "Branch opens"],
    ["Hale and Northwind buy land", "Hale and Northwind buy land"],
    ["A series of Northwind Holdings", "A series of Northwind Holdings"],
    ["Northwind", "Northwind"],
    ["Rates fall", "Rates fall"],
  ] as const)
    assert.equal(leaveOut(title, "Northwind"), left);
});

const hostile = `<script>alert("a")</script>'&amp;<img src=x onerror=alert(1)>`;

test("the content of records is text on every page, and no page is large", async (t) => {
  const long = (what: string) => `${what} ${hostile} ${"&wwwwwwww ".repeat(60)}`.slice(0, 500);
  const many = <R>(make: (i: number) => R) => Array.from({ length: 130 }, (_, i) => make(i));
  const url = `https://example.org/${"a".repeat(1900)}`;
  const provenance = { basis: "stated", confidence: 0.5, url: `https://example.org/?"<script>` };
  const about = { gps: ["big"], provenance, market: hostile };
  const { service, user } = await openPages(t, {
    records: [
      gp("big", {
        name: long("Big"),
        legal_name: long("Legal"),
        aliases: many((i) => long(`Alias ${i}`)),
        description: hostile + "&".repeat(9000),
        website: `https://example.org/"onclick="alert(1)`,
        hq_city: hostile,
        tags: many((i) => `tag ${i} ${hostile}`),
        themes: [hostile],
        markets: [hostile],
        external_ids: { other: many((i) => `${i} ${"x".repeat(90)}`) },
        provenance,
      }),
      gp("wide", { markets: many((i) => `market ${i} ${"&".repeat(80)}`) }),
      ...many((i) =>
        principal(`${i}`, ["big"], {
          name: long("Person"),
          title: hostile,
          email: hostile,
          provenance: { ...provenance, url },
        }),
      ),
      ...many((i) =>
        signal(`${i}`, { title: long(`Signal ${i}`), url, project_ids: ["0"], ...about }),
      ),
      signal("newest", { date: "2026-11-20", url: `http://x/'"><i>`, ...about }),
      ...many((i) =>
        project(`${i}`, {
          name: long(`Project ${i}`),
          city: hostile,
          latitude: 32,
          longitude: -97,
          ...about,
        }),
      ),
    ],
  });
  const tabs = ["", "?tab=signals", "?tab=people", "?tab=projects", "?tab=sources"];
  const recordPages = [
    ...tabs.map((tab) => pathOf("gp", "big") + tab),
    pathOf("principal", "0"),
    pathOf("project", "0"),
  ];
  const chosen = Array.from({ length: 10 }, (_, i) => `market=${"m".repeat(90)}${i}`);
  const lists = [
    "/browse/gps",
    "/browse/signals",
    `/browse/gps?market=${encodeURIComponent(hostile)}`,
    `/browse/gps?${chosen.join("&")}`,
  ];
  for (const [paths, bytesMax] of [
    [recordPages, 60_000],
    [lists, 50_000],
  ] as const)
    for (const path of paths) {
      service.clock.advance(5);
      const { status, text } = await user.get(path);
      assert.equal(status, 200, path);
      assert.ok(text.includes("alert"), "it is shown");
      assert.doesNotMatch(text, /<script>|<img src=x|<i>|style=/);
      assert.doesNotMatch(text.replaceAll(/"[^"]*"/g, '""'), /<[^>]*\son\w+=/);
      assert.ok(Buffer.byteLength(text) <= bytesMax, `${path}: ${Buffer.byteLength(text)} bytes`);
    }
  const { text: facets } = await user.get("/browse/gps");
  assert.match(facets, /12\d others\s*<input name="market"/);
});
