import assert from "node:assert/strict";
import test from "node:test";
import { checkRecord } from "#records/check-record.ts";
import { managerOf, person, placeIn } from "./form-d.ts";
import { adviserOf, corrected, firmOf, formD, fundOf, ownerOf, resolved } from "./world.ts";

const manager = managerOf("Alder Ridge Capital LLC");
const ada = person("ADA", "MOSS", manager);
const quarry = { cik: 1, name: "QUARRY APARTMENTS, LLC", persons: [ada] };
const accession = (n: number) => `0000000001-26-00000${n}`;

test("a project has its latest amounts, its earliest sale and the issuer's market, but no address", () => {
  const first = { ...quarry, accession: accession(1), fileNumber: "021-1", filedOn: "2026-01-05" };
  const amended = { type: "D/A" as const, accession: accession(2), filedOn: "2026-05-05" };
  const amounts = (offeredUsd: number, soldUsd: number, firstSaleOn: string) => ({
    offeredUsd,
    soldUsd,
    remainingUsd: offeredUsd - soldUsd,
    firstSaleOn,
  });
  const { all } = resolved({
    forms: [
      formD({ ...first, ...amounts(5_000_000, 1_000_000, "2025-12-20") }),
      formD({ ...first, ...amended, ...amounts(6_000_000, 6_000_000, "2025-12-21") }),
    ],
  });
  assert.deepEqual(all("project"), [
    {
      record: "project",
      id: "cik:0000000001",
      name: "Quarry Apartments",
      type: "property_offering",
      property_type: "multifamily",
      status: "closed",
      market: "Dallas, TX",
      market_basis: "issuer_address",
      total_amount_usd: 6_000_000,
      raised_amount_usd: 6_000_000,
      first_sale_date: "2025-12-20",
      strategy: null,
      tags: ["reg_d_506b", "amended"],
      themes: [],
      external_ids: { cik: ["0000000001"], form_d_file: ["021-1"] },
      gps: ["cik:0000000001"],
      provenance: {
        basis: "sponsor_text",
        confidence: 0.9,
        url: "https://www.sec.gov/Archives/edgar/data/1/000000000126000002/primary_doc.xml",
      },
    },
  ]);
});

test("a project is closed if nothing remains, raising if something does, else unknown", () => {
  const status = (given: object) =>
    resolved({ forms: [formD({ ...quarry, ...given })] }).all("project")[0]?.status;
  assert.equal(status({ remainingUsd: 0 }), "closed");
  assert.equal(status({ remainingUsd: 5 }), "raising");
  assert.equal(status({ isIndefinite: true }), "raising");
  assert.equal(status({}), "unknown");
});

test("of several offerings a project is closed, and has an amount, only if all are and have one", () => {
  const sold = { offeredUsd: 7, soldUsd: 7, remainingUsd: 0 };
  for (const [given, expected] of [
    [{ isIndefinite: true, soldUsd: 2 }, ["raising", null, 9]],
    [{ remainingUsd: 1, offeredUsd: 3, soldUsd: 2 }, ["raising", 10, 9]],
    [{}, ["unknown", null, 7]],
    [sold, ["closed", 14, 14]],
  ] as const) {
    const forms = [sold, given].map((amounts, i) =>
      formD({ ...quarry, ...amounts, accession: accession(i), fileNumber: `021-${i + 1}` }),
    );
    const [project] = resolved({ forms }).all("project");
    const { status, total_amount_usd: offered, raised_amount_usd: raised } = project!;
    assert.deepEqual([status, offered, raised], expected);
  }
});

test("notices give signals: what is new each time, and what happens once only once", () => {
  const first = {
    ...quarry,
    accession: accession(1),
    filedOn: "2026-01-05",
    offeredUsd: 20_000_000,
    soldUsd: 12_000_000,
    remainingUsd: 8_000_000,
    firstSaleOn: "2025-12-20",
    exemptions: ["06c"],
  };
  const amended = (number: number, filedOn: string | null, given: object = {}) => {
    const numbers = { accession: accession(number), previousAccession: accession(number - 1) };
    return formD({ ...first, ...numbers, type: "D/A", filedOn, ...given });
  };
  const { all } = resolved({
    forms: [
      formD(first),
      amended(2, "2026-02-05"),
      amended(3, "2026-03-05", { soldUsd: 18_500_000 }),
      amended(4, null, { soldUsd: 20_000_000, remainingUsd: 0 }),
    ],
  });
  assert.deepEqual(
    all("signal").map(
      ({ type, date, amount_usd = null, title }) => `${date} ${type} ${amount_usd} ${title}`,
    ),
    [
      "2026-01-05 new_offering 20000000 Quarry Apartments, LLC reported an offering of $20.0m",
      "2026-01-05 first_sale null Quarry Apartments, LLC reported its first sale, on 2025-12-20",
      "2026-01-05 general_solicitation null Quarry Apartments, LLC offers to the public under Rule 506(c)",
      "2026-02-05 offering_amended null Quarry Apartments, LLC amended the notice of its offering",
      "2026-03-05 capital_raised 6500000 Quarry Apartments, LLC: $12.0m → $18.5m reported sold",
      "2026 capital_raised 1500000 Quarry Apartments, LLC: $18.5m → $20.0m reported sold",
      "2026 fully_subscribed 20000000 Quarry Apartments, LLC reported its whole offering as sold",
    ],
  );
});

test("an amendment whose notice is missing reports no first sale", () => {
  const typesOf = (...sales: readonly (string | null)[]) => {
    const forms = sales.map((firstSaleOn, i) =>
      formD({ ...quarry, type: "D/A", accession: accession(i), fileNumber: "021-1", firstSaleOn }),
    );
    return resolved({ forms })
      .all("signal")
      .map(({ type }) => type);
  };
  assert.deepEqual(typesOf("2019-04-01", "2019-04-01"), ["offering_amended", "offering_amended"]);
  assert.deepEqual(typesOf(null, "2026-01-05").slice(-1), ["first_sale"]);
});

test("a fund that first sold more than a year before its notice is not new", () => {
  const fund = { cik: 2, name: "Quarry Real Estate Fund LP", industry: "Pooled Investment Fund" };
  const typeOf = (firstSaleOn: string) =>
    resolved({ forms: [formD({ ...fund, filedOn: "2026-03-16", firstSaleOn })] }).all("signal")[0]!
      .type;
  assert.equal(typeOf("2025-03-17"), "new_vehicle");
  assert.equal(typeOf("2025-03-15"), "new_offering");
});

test("a fund's first offering is a new vehicle; of a REIT's round for 100 holders nothing is told", () => {
  const fund = { cik: 2, name: "Quarry Real Estate Fund LP", industry: "Pooled Investment Fund" };
  const types = (given: object) =>
    resolved({ forms: [formD({ ...fund, ...given })] })
      .all("signal")
      .map(({ type }) => type);
  assert.deepEqual(types({}), ["new_vehicle"]);
  const round = { industry: "REITS and Finance", offeredUsd: 125_000, minimumUsd: 1000 };
  assert.deepEqual(types({ name: "Quarry REIT Inc", ...round }), []);
});

test("from one Form ADV to the next a changed size, a new fund and a new owner are signals", () => {
  const before = adviserOf("77", "OAKLINE REALTY LLC", {
    filingId: "1",
    filedOn: "2025-03-01",
    aumUsd: 1_000_000_000,
    owners: [ownerOf("MOSS, ADA")],
  });
  const after = adviserOf("77", "OAKLINE REALTY LLC", {
    filingId: "2",
    filedOn: "2026-03-01",
    aumUsd: 1_200_000_000,
    owners: [ownerOf("MOSS, ADA"), ownerOf("OTT, CY", { crd: "9" })],
    funds: [fundOf("OAKLINE FUND II", { fundId: "805-1", grossAssetsUsd: 5_000_000 })],
  });
  const { all } = resolved({ advisers: [[before, after]] });
  assert.deepEqual(
    all("signal").map(({ id, type, date, amount_usd = null }) => [id, type, date, amount_usd]),
    [
      ["aum_change:2", "aum_change", "2026-03-01", 200_000_000],
      ["fund_reported:2:805-1", "fund_reported", "2026-03-01", 5_000_000],
      ["new_principal:2:9", "new_principal", "2026-03-01", null],
    ],
  );
  const small = { ...after, aumUsd: 1_009_000_000, owners: before.owners, funds: [] };
  assert.deepEqual(resolved({ advisers: [[before, small]] }).all("signal"), []);
});

test("an owner whose CRD number comes or goes is no new principal, nor are no assets a change of them", () => {
  const forms = [null, "9", null].map((crd, i) =>
    adviserOf("77", "OAKLINE REALTY LLC", {
      filingId: String(i),
      filedOn: `202${i}-03-01`,
      aumUsd: 0,
      owners: [ownerOf("MOSS, ADA", { crd })],
    }),
  );
  assert.deepEqual(resolved({ advisers: [forms] }).all("signal"), []);
});

test("a GP has what its Form ADV states, and sums what its vehicles report, feeders of a known master left out", () => {
  const feeder = { isFeeder: true, masterFundId: "805-1", formDFiles: ["021-2"] };
  const funds = [
    fundOf("QUARRY MASTER LP", { fundId: "805-1", isMaster: true, formDFiles: ["021-1"] }),
    fundOf("QUARRY FEEDER LP", { fundId: "805-2", ...feeder }),
  ];
  const stated = { aumUsd: 1_840_000_000, secNumber: "801-5" };
  const fund = { industry: "Pooled Investment Fund", soldUsd: 1_000_000 };
  const { all } = resolved({
    forms: [
      formD({ ...fund, cik: 1, name: "Quarry Master LP", fileNumber: "021-1" }),
      formD({ ...fund, cik: 2, name: "Quarry Feeder LP", fileNumber: "021-2" }),
    ],
    advisers: [[adviserOf("77", "QUARRY REALTY PARTNERS, LLC", { funds, ...stated })]],
  });
  const [gp] = all("gp");
  assert.equal(gp?.raised_to_date_usd, 1_000_000);
  assert.equal(gp.aum_usd, 1_840_000_000);
  assert.equal(gp.aum_as_of, "2026-02-01");
  assert.deepEqual(gp.external_ids, {
    adv_fund: ["805-1", "805-2"],
    cik: ["0000000001", "0000000002"],
    crd: ["77"],
    form_d_file: ["021-1", "021-2"],
    sec_number: ["801-5"],
  });
  assert.deepEqual(gp.tags?.slice(-2), ["registered_adviser", "aum_1b_5b"]);
  assert.deepEqual(gp.provenance, {
    basis: "stated",
    confidence: 1,
    url: "https://adviserinfo.sec.gov/firm/summary/77",
  });
});

test("the feed of firms completes an adviser: its site always, names, size and city where it is newer", () => {
  const funds = [fundOf("QUARRY I LP", { grossAssetsUsd: 5 })];
  const stated = { businessName: "QUARRY REALTY", aumUsd: 10_000_000, funds };
  const adviser = adviserOf("77", "QUARRY REALTY PARTNERS, LLC", stated);
  const website = "https://quarry.example/";
  const fed = { businessName: "BRIAR REALTY", aumUsd: 2_000_000_000, website, state: "NV" };
  const gpOf = (given: object) => {
    const firms = [firmOf("77", "BRIAR REALTY PARTNERS, LLC", { ...fed, ...given })];
    const { entries, all } = resolved({ advisers: [[adviser]], firms });
    const evidence = entries[0]!.evidence!.map(
      ({ form, number, filed_on, field, text }) => [form, number, filed_on, field, text] as const,
    );
    const { name, legal_name, aliases, aum_usd, aum_as_of, hq_state, ...gp } = all("gp")[0]!;
    assert.equal(gp.website, website);
    // The feed says nothing of funds, owners or changes.
    assert.deepEqual([gp.funds?.[0]?.as_of, all("signal")], ["2026-02-01", []]);
    const facts = [name, legal_name, aliases, aum_usd, aum_as_of, hq_state];
    return { facts, evidence };
  };
  const form = ["Form ADV", "f77", "2026-02-01", "1A", "QUARRY REALTY PARTNERS, LLC"];
  const older = ["Quarry Realty", "Quarry Realty Partners, LLC"];
  for (const filedOn of ["2026-02-01", "2025-12-31"])
    assert.deepEqual(gpOf({ filedOn }), {
      facts: [
        ...older,
        ["Briar Realty", "Briar Realty Partners, LLC"],
        10_000_000,
        "2026-02-01",
        "TX",
      ],
      evidence: [form, ["Firm feed", "77", filedOn, "WebAddr", website]],
    });
  const filedOn = "2026-11-01";
  const newer = ["Briar Realty", "Briar Realty Partners, LLC"];
  const told = `BRIAR REALTY PARTNERS, LLC; 2000000000; ${website}`;
  assert.deepEqual(gpOf({ filedOn }), {
    facts: [...newer, older, 2_000_000_000, filedOn, "NV"],
    evidence: [form, ["Firm feed", "77", filedOn, "LegalNm, Q5F2C, WebAddr", told]],
  });
  // What the newer leaves out, the older has said, with its date.
  const silent = gpOf({ filedOn, aumUsd: null, place: { ...adviser.place, city: null } });
  assert.deepEqual(silent.facts.slice(3), [10_000_000, "2026-02-01", "TX"]);
});

const named = (...persons: ReturnType<typeof person>[]) =>
  resolved({
    forms: persons.map((one, i) =>
      formD({ cik: i + 1, name: `Quarry ${i} LLC`, persons: [one, ada] }),
    ),
  })
    .all("principal")
    .map(({ name }) => name)
    .filter((name) => name !== "Ada Moss");

const spellings: readonly [what: string, ReturnType<typeof person>[], string[]][] = [
  [
    "without middle names are one person",
    [person("Jon", "Chasson", null, { middle: "K." }), person("Jon", "Chasson")],
    ["Jon K. Chasson"],
  ],
  [
    "one edit apart in a long word are one person",
    [person("Jonathan", "Chasson"), person("Jonathon", "Chasson")],
    ["Jonathan Chasson"],
  ],
  [
    "one edit apart in a short word are two",
    [person("Jon", "Chasson"), person("Ron", "Chasson")],
    ["Jon Chasson", "Ron Chasson"],
  ],
  [
    "with and without a degree are one person",
    [person("ANA (ANN)", "COSTA, PH.D."), person("ANA (ANN)", "COSTA")],
    ["Ana (Ann) Costa"],
  ],
  [
    "with another suffix are two",
    [person("Jon", "Chasson Jr."), person("Jon", "Chasson, III")],
    ["Jon Chasson Jr.", "Jon Chasson III"],
  ],
];
for (const [what, persons, expected] of spellings)
  test(`names ${what}`, () => assert.deepEqual(named(...persons), expected));

test("two in one filing whose names differ in the middle or by one letter are two principals", () => {
  const idsOf = (...names: [first: string, middle?: string][]) => {
    const [first, second] = names.map(([one, middle = null]) =>
      person(one, "Blake", managerOf("Briar Capital LLC"), { middle }),
    );
    const forms = [formD({ cik: 1, name: "Larch Apartments LLC", persons: [first!, second!] })];
    return resolved({ forms })
      .all("principal")
      .map(({ id, name }) => `${id.slice(15)}: ${name}`);
  };
  assert.deepEqual(idsOf(["W.", "Scott"], ["W.", "Brian"]), [
    "w blake: W. Brian Blake",
    "w blake/2: W. Scott Blake",
  ]);
  const twins = ["daniel blake: Daniel Blake", "daniela blake: Daniela Blake"];
  assert.deepEqual(idsOf(["Daniel"], ["Daniela"]), twins);
  const owners = ["BLAKE, DANIEL, A", "BLAKE, DANIELL, A", "BLAKE, DANIEL, B"].map((name) =>
    ownerOf(name, { crd: "5" }),
  );
  const { all } = resolved({ advisers: [[adviserOf("77", "OAKLINE REALTY LLC", { owners })]] });
  assert.equal(all("principal").length, 1);
});

test("two owners of one name with different individual CRD numbers are two principals, by their numbers", () => {
  const owners = [ownerOf("MOSS, ADA", { crd: "5" }), ownerOf("MOSS, ADA", { crd: "6" })];
  const { all } = resolved({ advisers: [[adviserOf("77", "OAKLINE REALTY LLC", { owners })]] });
  assert.deepEqual(
    all("principal").map(({ id }) => id),
    ["crd:77/ada moss/5", "crd:77/ada moss/6"],
  );
});

test("a principal has the filing's words, which name the vehicle, and is never from a signature nor an entity", () => {
  const ofElm = "Managing Member of Elm GP Corp., the General Partner of the Issuer";
  const { all } = resolved({
    forms: [
      formD({
        ...quarry,
        persons: [
          ada,
          person("Bo", "Lind", null, { roles: ["director"] }),
          person("Eve", "Ray", `${ofElm}.`),
          person("N/A", "Alder Ridge Capital LLC", "Manager"),
        ],
        signatures: [{ signer: "Cy Ott", title: "Attorney-in-Fact" }],
      }),
    ],
  });
  assert.deepEqual(
    all("principal").map(({ name, title, roles }) => [name, title, roles]),
    [
      ["Ada Moss", `${manager} (Quarry Apartments, LLC)`, ["executive_officer", "managing_member"]],
      ["Bo Lind", "Director of Quarry Apartments, LLC", ["director"]],
      // Only the firm is the general partner.
      ["Eve Ray", `${ofElm} (Quarry Apartments, LLC)`, ["executive_officer", "managing_member"]],
    ],
  );
});

test("nobody is merged across GPs, and the persons of a vehicle without a GP make no record", () => {
  const alone = { cik: 3, name: "1577 Elm LLC", persons: [person("Ada", "Moss")] };
  const named = [person("Ada", "Moss", managerOf("Harbor Yield LLC"))];
  const other = { cik: 2, name: "Pine Court LLC", persons: named };
  const ofOhio = [other, alone].map((one) => formD({ ...one, state: "OH" }));
  const { all } = resolved({ forms: [formD(quarry), ...ofOhio] });
  assert.deepEqual(
    all("principal").map(({ id, gps }) => [id, gps]),
    [
      ["cik:0000000001/ada moss", ["cik:0000000001"]],
      ["cik:0000000002/ada moss", ["cik:0000000002"]],
    ],
  );
  assert.deepEqual(
    all("project").map(({ gps }) => gps?.length),
    [1, 1, 0],
  );
});

test("a name that is cut has no half of a character, and no blank before it", () => {
  for (const before of ["", " "]) {
    const name = `${"x".repeat(498 - before.length)}${before}\u{1d538}${"x".repeat(9)}`;
    const { all } = resolved({ forms: [formD({ ...quarry, name })] });
    const [project] = all("project");
    assert.ok(project?.name.endsWith("x…"));
  }
});

test("corrections part a person and set a field", () => {
  const forms = [1, 2].map((cik) => formD({ ...quarry, cik, accession: accession(cik) }));
  const id = "cik:0000000001/ada moss";
  const apart = { kind: "personApart", person: `pr_${id}`, accessions: [accession(2)] } as const;
  const value = "ada@alder.example";
  const field = { kind: "personField", person: id, field: "email", value, line: 2 } as const;
  const { all, entries } = resolved({ forms, corrections: [apart, field].map(corrected) });
  const people = all("principal");
  const told = entries.filter(({ records }) => records[0]!.record === "principal");
  assert.deepEqual(
    told.map(({ evidence }) => evidence!.map(({ number }) => number)),
    [
      ["fixes.ndjson:1", "fixes.ndjson:2", accession(1)],
      ["fixes.ndjson:1", accession(2)],
    ],
  );
  assert.deepEqual(
    people.map((one) => [one.id, one.email ?? null, one.provenance?.basis]),
    [
      [id, value, "corrected"],
      ["cik:0000000002/ada moss", null, "sponsor_text"],
    ],
  );
});

test("words in names hint at strategies, types and themes, but not words that places and houses bear", () => {
  const hintsOf = (name: string) => {
    const [project] = resolved({ forms: [formD({ cik: 1, name })] }).all("project");
    return [project!.strategy, project!.property_type, project!.themes];
  };
  assert.deepEqual(hintsOf("Quarry Sustainable Apartments Value-Add LLC"), [
    "value_add",
    "multifamily",
    ["sustainability"],
  ]);
  assert.deepEqual(hintsOf("Cinder Bridge on Quarry Green, LLC"), [null, "residential_other", []]);
});

test("a GP that a correction makes of two advisers has the names and funds of both, each fund as the newest Form ADV has it", () => {
  const fund = (id: string, grossAssetsUsd: number) =>
    fundOf(`QUARRY FUND ${id}`, { fundId: `805-${id}`, grossAssetsUsd });
  const [filedOn, funds] = ["2025-03-01", [fund("1", 50), fund("2", 60)]];
  const { all } = resolved({
    advisers: [
      [adviserOf("77", "QUARRY REALTY PARTNERS, LLC", { filedOn, funds, secNumber: "801-1" })],
      [adviserOf("78", "BRIAR REALTY, LLC", { funds: [fund("2", 40)], secNumber: "801-2" })],
    ],
    corrections: [corrected({ kind: "same", gps: ["crd:77", "crd:78"] })],
  });
  const [gp, ...others] = all("gp");
  assert.deepEqual(others, []);
  assert.deepEqual(
    gp!.funds!.map(({ name, gross_assets_usd, as_of }) => [name, gross_assets_usd, as_of]),
    [
      ["Quarry Fund 1", 50, "2025-03-01"],
      ["Quarry Fund 2", 40, "2026-02-01"],
    ],
  );
  assert.deepEqual([gp!.name, gp!.aliases], ["Quarry Realty Partners, LLC", ["Briar Realty, LLC"]]);
  const { adv_fund, sec_number } = gp!.external_ids!;
  assert.deepEqual(
    [adv_fund, sec_number],
    [
      ["805-1", "805-2"],
      ["801-1", "801-2"],
    ],
  );
});

test("every record is one that an import accepts, however long or empty names are", () => {
  const long = "x".repeat(4000);
  const { records } = resolved({
    forms: [
      formD({ ...quarry, offeredUsd: 5, soldUsd: 5, remainingUsd: 0, firstSaleOn: "2025-01-01" }),
      formD({
        cik: 9,
        name: `${long} Apartments, LLC`,
        persons: [
          person(long, long, managerOf(`${long} Realty LLC`)),
          person(`${long}n`, long, manager, { middle: long }),
          person(".", "-"),
        ],
      }),
      formD({ ...quarry, cik: 10, soldUsd: Number.MAX_SAFE_INTEGER }),
      formD({ ...quarry, cik: 11, soldUsd: Number.MAX_SAFE_INTEGER }),
    ],
    advisers: [
      ["1", "2"].map((filingId) =>
        adviserOf("77", "OAKLINE REALTY LLC", {
          filingId,
          otherNames: [long, "***"],
          place: { ...placeIn(), city: long },
          owners: [
            ownerOf("MOSS, ADA", { ownershipCode: "E", since: "2012-09" }),
            ownerOf(`${long}, ${long}${filingId}`, { title: long }),
          ],
          funds: [fundOf(`${long}${filingId}`, { type: "Real Estate Fund" }), fundOf("***")],
        }),
      ),
    ],
  });
  assert.ok(records.some(({ id }) => id.startsWith("fund_reported:2:xx")));
  for (const record of records) assert.deepEqual(checkRecord(record), [], JSON.stringify(record));
});

test("a GP's funds are those of its Form ADV and its notices, one where file number or name is one, largest first", () => {
  const notice = (number: number, name: string, given: object) =>
    formD({
      cik: 10 + number,
      name,
      fileNumber: `021-${number}`,
      isPooledTicked: true,
      fundType: "Private Equity Fund",
      persons: [ada],
      ...given,
    });
  const first = { offeredUsd: 90, soldUsd: 40, firstSaleOn: "2025-12-20" };
  const feeder = { isFeeder: true, masterFundId: "805-9", formDFiles: ["021-1"] };
  const funds = [
    fundOf("ALDER RIDGE FUND I", { fundId: "805-1", grossAssetsUsd: 100, ...feeder }),
    fundOf("ALDER RIDGE FUND II, LP", { fundId: "805-2" }),
    fundOf("ALDER RIDGE MASTER", { fundId: "805-9", isMaster: true, grossAssetsUsd: 200 }),
  ];
  const { all } = resolved({
    forms: [
      notice(1, "ALDER RIDGE FUND I FEEDER, LP", first),
      notice(2, "Alder Ridge Fund II, L.P.", { offeredUsd: 70, soldUsd: 60 }),
      notice(3, "Alder Ridge Fund III, LP", { soldUsd: 500 }),
      formD({ ...quarry, cik: 14, soldUsd: 9 }),
    ],
    advisers: [[adviserOf("300", "ALDER RIDGE CAPITAL LLC", { funds })]],
  });
  const [gp, ...others] = all("gp");
  assert.deepEqual(others, []);
  assert.equal(gp!.funds_total, 4);
  const { funds: told = [] } = gp!;
  assert.deepEqual(
    told.map((fund) => [fund.name, fund.type, fund.structure, fund.gross_assets_usd, fund.as_of]),
    [
      ["Alder Ridge Fund III, LP", "Private Equity Fund", null, null, null],
      ["Alder Ridge Master", "Real Estate Fund", "master", 200, "2026-02-01"],
      ["Alder Ridge Fund I", "Real Estate Fund", "feeder", 100, "2026-02-01"],
      ["Alder Ridge Fund II, LP", "Real Estate Fund", null, null, null],
    ],
  );
  assert.deepEqual(
    told.map((fund) => [
      [fund.offered_usd, fund.sold_usd, fund.first_sale_date],
      fund.external_ids,
    ]),
    [
      [[null, 500, null], { cik: ["0000000013"], form_d_file: ["021-3"] }],
      [[null, null, null], { adv_fund: ["805-9"] }],
      [
        [90, 40, "2025-12-20"],
        { cik: ["0000000011"], form_d_file: ["021-1"], adv_fund: ["805-1"] },
      ],
      [[70, 60, null], { cik: ["0000000012"], form_d_file: ["021-2"], adv_fund: ["805-2"] }],
    ],
  );
});
