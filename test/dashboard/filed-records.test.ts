import assert from "node:assert/strict";
import { test } from "node:test";
import type { Provenance } from "#records/common.ts";
import { isFiled } from "#records/explanation.ts";
import { provenanceBases } from "#records/vocabulary.ts";
import { gp, principal, project, signal } from "../datasets/published.ts";
import { assertSays, mainOf, openPages, pathOf, textOf, wordsOf } from "../support/record-pages.ts";
import type { Page } from "../support/user.ts";

const unreviewed = "Reported to the SEC, which does not review it.";
const filing = (number: number) =>
  `https://www.sec.gov/Archives/edgar/data/1999001/00019990012600000${number}/primary_doc.xml`;
const adviser = "https://adviserinfo.sec.gov/firm/summary/900001";

const named = { basis: "sponsor_text", confidence: 0.9, url: filing(1) };
const shared = { basis: "cluster", confidence: 0.6, url: filing(2) };
const stated = { basis: "stated", confidence: 1, url: adviser };
const why = "identified from people and addresses shared by several filings";

const records = [
  gp("larkmoor", { name: "Larkmoor Capital", raised_to_date_usd: 38e6, provenance: named }),
  gp("own", { name: "Ownsworth Homes", raised_to_date_usd: 5e6 }),
  gp("mixed", { name: "Mixed Homes" }),
  gp("brindle", { name: "Brindlewood Group", provenance: shared }),
  gp("tessera", { name: "Tessera Advisors", aum_usd: 1e9, provenance: stated }),
  principal("ilse", ["larkmoor"], {
    name: "Ilse Varga",
    title: "President",
    start_date: "2021-03",
    first_seen_date: "2025-02-11",
    last_seen_date: "2026-09-14",
    provenance: named,
  }),
  principal("rena", ["brindle"], {
    name: "Rena Quill",
    title: "Manager",
    last_seen_date: "2025",
    provenance: shared,
  }),
  principal("owner", ["own"], { name: "Olga Owner", title: "Partner" }),
  project("haven", {
    name: "Larkmoor Haven",
    gps: ["larkmoor"],
    status: "raising",
    total_amount_usd: 20e6,
    raised_amount_usd: 15e6,
    provenance: named,
  }),
  project("orchard", { name: "Orchard Flats", gps: ["brindle"], provenance: shared }),
  project("sallow", { name: "412 Sallow Street", provenance: { ...stated, url: filing(3) } }),
  project("plain", { name: "Plain Yard", total_amount_usd: 2e6, raised_amount_usd: 1e6 }),
  signal("more", {
    title: "Larkmoor Haven LLC: $5.0m → $15.0m reported sold",
    type: "capital_raised",
    amount_usd: 10e6,
    amount_basis: "sold_delta",
    project_ids: ["haven"],
    gps: ["larkmoor", "mixed"],
    provenance: named,
  }),
  signal("still more", {
    title: "Larkmoor Haven LLC: $15.0m → $16.0m reported sold",
    type: "capital_raised",
    amount_usd: 1e6,
    amount_basis: "sold_delta",
    gps: ["larkmoor"],
    provenance: named,
  }),
  signal("long ago", { date: "2025-05-02", gps: ["tessera"], provenance: stated }),
];

const wordsIn = (page: Page) => textOf(wordsOf(mainOf(page)));

function assertLeavesOut(page: Page, ...all: RegExp[]): void {
  for (const said of all) assert.doesNotMatch(wordsIn(page), said);
}

test("a record is from filings by its basis, or by the address of its source", () => {
  const isFrom = (basis: Provenance["basis"], url: string | null = null) =>
    isFiled({ provenance: { source: "own", basis, confidence: 1, url } });
  assert.deepEqual(
    provenanceBases.filter((basis) => !isFrom(basis)),
    ["stated", "named_sponsor", "corrected"],
  );
  for (const url of [filing(1), adviser]) assert.ok(isFrom("stated", url), url);
  for (const url of ["https://example.org/www.sec.gov", "https://sec.gov.example.org/", "sec.gov"])
    assert.ok(!isFrom("stated", url), url);
});

test("pages of records from filings say what a filing is, and no more than it says", async (t) => {
  const { user } = await openPages(t, { records, settings: { CONTACT: "records@example.org" } });

  await t.test(
    "the SEC does not review what is reported to it, which own records do not say",
    async () => {
      for (const path of [
        pathOf("gp", "larkmoor"),
        pathOf("gp", "tessera"),
        pathOf("principal", "ilse"),
      ])
        assertSays(await user.get(path), unreviewed);
      for (const path of [pathOf("principal", "owner"), pathOf("project", "plain")])
        assertLeavesOut(await user.get(path), /does not review/);
      // Of a GP of the operator's own, only the signal is from a filing.
      assert.equal(wordsIn(await user.get(pathOf("gp", "mixed"))).split(unreviewed).length, 2);
      assertSays(
        await user.get("/browse/gps"),
        "Data from filings was reported to the SEC, which does not review it.",
        "Raised or reported sold",
      );
      assertSays(await user.get("/browse/signals"), unreviewed);
    },
  );

  await t.test("a plot says since when there was nothing", async () => {
    assertSays(await user.get(pathOf("gp", "tessera")), "Nothing since Q2 2025");
  });

  await t.test("a person is named in a filing of a GP, with the filing and the date", async () => {
    const ilse = await user.get(pathOf("principal", "ilse"));
    assertSays(
      ilse,
      "President, named in a filing of Larkmoor Capital , last on 14 Sep 2026",
      "Named in filings from 2025 to 2026 Signals of the GPs by date, the latest 40 of each at most",
      "In post since, as reported Mar 2021",
      "Last named in a filing 14 Sep 2026",
    );
    assert.ok(
      mainOf(ilse).includes(`<a href="${filing(1)}" rel="noopener noreferrer">a filing</a>`),
    );
    assertLeavesOut(ilse, /\b(?:joined|left|runs)\b/i);
    assertSays(await user.get(pathOf("principal", "owner")), "Partner at Ownsworth Homes");
    const larkmoor = await user.get(`${pathOf("gp", "larkmoor")}?tab=people`);
    assertSays(larkmoor, "Last named Filing Ilse Varga", "14 Sep 2026 Read");
  });

  await t.test("amounts are reported sold, never raised", async () => {
    const larkmoor = await user.get(pathOf("gp", "larkmoor"));
    assertSays(
      larkmoor,
      "Reported sold $38M in notices of offerings",
      "$11M more sold, according to 2 notices",
      "In all: $38M reported sold",
      "Projects 1 1 reported on offer",
    );
    const haven = await user.get(pathOf("project", "haven"));
    assertSays(haven, "Reported sold $15M", "75 % of the amount is reported sold");
    // By the filing, whenever it was imported.
    assertSays(haven, "Reported sold in the record $15M 2 Oct 2026");
    assertSays(haven, "Status Reported on offer");
    const list = await user.get("/browse/projects");
    assertSays(list, "Larkmoor Haven Reported on offer");
    for (const page of [larkmoor, haven]) assertLeavesOut(page, /rais(?:ed|ing)/i);
    assertLeavesOut(await user.get("/browse/signals"), /raised/i);
    assertSays(await user.get(pathOf("gp", "own")), "Raised to date $5M as stated");
    assertSays(await user.get(pathOf("project", "plain")), "50 % of the amount is raised");
  });

  await t.test("of a project without a GP no filing names a sponsor", async () => {
    const sallow = await user.get(pathOf("project", "sallow"));
    assertSays(sallow, "no filing names a sponsor");
    assertLeavesOut(sallow, /hidden/i);
    assertLeavesOut(await user.get(pathOf("project", "plain")), /names a sponsor/);
  });

  await t.test("an uncertain link to a GP is probable, and says why", async () => {
    const orchard = await user.get(pathOf("project", "orchard"));
    assertSays(orchard, `Probably: ${why}, 60 %`, ", probably by Brindlewood Group");
    const rena = await user.get(pathOf("principal", "rena"));
    assertSays(rena, `Probably: ${why}, 60 %`, "a filing , probably of Brindlewood Group");
    assertSays(rena, ", last in 2025");
    assertSays(await user.get(pathOf("gp", "brindle")), `Probably: ${why}, 60 %`);
    const list = await user.get("/browse/people");
    assertSays(list, "probably Brindlewood Group");
    assert.ok(list.text.includes(`title="own, probably: ${why}, confidence 60 %">probably<`));
    assertLeavesOut(await user.get(pathOf("project", "haven")), /probably/i);
  });

  await t.test("an error is reported to the contact, with the address of the page", async () => {
    for (const path of [pathOf("principal", "ilse"), pathOf("gp", "larkmoor")])
      assert.match(
        mainOf(await user.get(path)),
        new RegExp(
          `<a href="mailto:records@example\\.org\\?subject=Error%20on%20http[^"]*${encodeURIComponent(path)}">Report an error</a>`,
        ),
      );
  });
});

test("without a contact there is nobody to report an error to, and a page is no mail", async (t) => {
  const ilse = records.filter(({ id }) => id === "larkmoor" || id === "ilse");
  const { user } = await openPages(t, { records: ilse });
  assertLeavesOut(await user.get(pathOf("principal", "ilse")), /Report an error/);
  const contact = "https://example.org/ask?about=records";
  const other = await openPages(t, { records: ilse, settings: { CONTACT: contact } });
  const page = await other.user.get(pathOf("principal", "ilse"));
  assert.ok(mainOf(page).includes(`<a href="${contact}">Report an error</a>`));
});
