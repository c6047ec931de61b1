import assert from "node:assert/strict";
import test from "node:test";
import { managerOf, person } from "./form-d.ts";
import {
  adviserOf,
  corrected,
  firmOf,
  formD,
  fundOf,
  ownerOf,
  resolved,
  type World,
} from "./world.ts";

const ofAlder = person("Ada", "Moss", managerOf("Alder Ridge Capital LLC"));
const officer = person("Ada", "Moss");
const flats = formD({ cik: 1, name: "Quarry Flats LLC", persons: [ofAlder] });

test("a file number in one adviser's Form ADV goes before a firm that the filing names", () => {
  const funds = [fundOf("X", { formDFiles: ["021-1"] })];
  const { links } = resolved({
    forms: [{ ...flats, fileNumber: "021-1" }],
    advisers: [[adviserOf("77", "OAKLINE PARTNERS, LLC", { funds })]],
  });
  assert.deepEqual(links, [["crd:77", "Oakline Partners, LLC", "adv_file_number"]]);
});

test("a firm that the filing names like one adviser of its state is that adviser", () => {
  const named = (state: string) => {
    const advisers = [[adviserOf("77", "ALDER RIDGE CAPITAL, LLC", { state })]];
    return resolved({ forms: [flats], advisers }).links;
  };
  assert.deepEqual(named("TX"), [["crd:77", "Alder Ridge Capital, LLC", "sponsor_text"]]);
  assert.deepEqual(named("NY"), [["cik:0000000001", "Alder Ridge Capital", "sponsor_text"]]);
});

test("name and state never make one GP of two CRD numbers", () => {
  const { gps, links } = resolved({
    forms: [flats],
    advisers: ["77", "78"].map((crd) => [
      adviserOf(crd, "ALDER RIDGE CAPITAL LLC", { funds: [fundOf(`Fund of ${crd}`)] }),
    ]),
  });
  assert.deepEqual(links[0], ["cik:0000000001", "Alder Ridge Capital", "sponsor_text"]);
  assert.deepEqual(
    gps.map(({ key }) => key),
    ["cik:0000000001", "crd:77", "crd:78"],
  );
});

test("the name of a fund proves its adviser only with a second fact", () => {
  const fund = formD({
    cik: 1,
    name: "Harbor Yield Real Estate Fund II LP",
    state: "CA",
    industry: "Pooled Investment Fund",
    // A name without letters agrees with nothing.
    persons: [person("Bo", "Lind"), person("-", "*")],
  });
  const funds = [fundOf("HARBOR YIELD REAL ESTATE FUND II, LP")];
  const linked = (given: Parameters<typeof adviserOf>[2]) => {
    const advisers = [[adviserOf("77", "HARBOR YIELD LLC", { funds, ...given })]];
    return resolved({ forms: [fund], advisers }).links[0]?.[2] ?? null;
  };
  assert.equal(linked({}), null);
  assert.equal(linked({ state: "CA" }), "adv_fund_name");
  assert.equal(linked({ owners: [ownerOf("LIND, BO, ERIK")] }), "adv_fund_name");
});

test("a pooled issuer without a word of real estate is a fund of it if its adviser says so", () => {
  const owner = { cik: 1, name: "Quarry Owner LLC", isPooledTicked: true, industry: "Other" };
  const kind = (
    given: Partial<Parameters<typeof formD>[0]>,
    fund: Parameters<typeof fundOf>[1] = {},
    ...others: string[]
  ) => {
    const funds = [fundOf("Quarry Owner", fund), ...others.map((type) => fundOf("Y", { type }))];
    return resolved({
      forms: [formD({ ...owner, ...given })],
      advisers: [[adviserOf("77", "ALDER RIDGE CAPITAL, LLC", { funds })]],
    }).vehicles[0]?.kind;
  };
  const [file, name] = [{ fileNumber: "021-1" }, { name: "Elm Owner LLC" }];
  const filed = { formDFiles: ["021-1"] };
  assert.equal(kind({ ...file, ...name }, filed, "Hedge Fund", "Hedge Fund"), "fund");
  assert.equal(kind({ ...file, ...name }, { ...filed, type: "Hedge Fund" }), undefined);
  assert.equal(kind({ ...file, ...name, isPooledTicked: false }, filed), undefined);
  const byName = fundOf("Quarry Owner LLC");
  assert.equal(kind({}, byName, "Hedge Fund", "Hedge Fund"), "fund");
  assert.equal(kind({ state: "OH" }, byName), undefined);
  assert.equal(kind({ ...name, persons: [ofAlder] }), "fund");
  assert.equal(kind({ ...name, persons: [ofAlder] }, {}, "Hedge Fund", "Hedge Fund"), undefined);
});

test("firms of one stem are one GP if they share a state, an address or a person", () => {
  const first = formD({ cik: 1, name: "Quarry Flats LLC", address: "a", persons: [ofAlder] });
  const persons = [person("Cy", "Ott", managerOf("Alder Ridge Capital GP LLC"))];
  const other = { cik: 2, name: "Cedar Point LLC", state: "OH", persons };
  const count = (second: Partial<Parameters<typeof formD>[0]>) =>
    resolved({ forms: [first, formD({ ...other, ...second })] }).gps.length;
  assert.equal(count({}), 2);
  assert.equal(count({ state: "TX" }), 1);
  assert.equal(count({ address: "a" }), 1);
  assert.equal(count({ persons: [ofAlder] }), 1);
});

test("a vehicle that nothing names joins the one GP with which it shares an address and a person", () => {
  const named = formD({ cik: 1, name: "Quarry Flats LLC", address: "a", persons: [ofAlder] });
  const unnamed = formD({ cik: 2, name: "Cedar Point LLC", address: "a", persons: [officer] });
  const [, joined] = resolved({ forms: [named, unnamed] }).links;
  assert.deepEqual(joined, ["cik:0000000001", "Alder Ridge Capital", "cluster"]);
  const elsewhere = formD({ cik: 2, name: "Cedar Point LLC", address: "b", persons: [officer] });
  assert.equal(resolved({ forms: [named, elsewhere] }).links[1], null);
});

test("vehicles that share an address, a person and the first words of their names are those of a GP", () => {
  const of = (cik: number, name: string) => formD({ cik, name, address: "a", persons: [officer] });
  const { links, gps, entries } = resolved({
    forms: [of(1, "Harbor Yield Elm LLC"), of(2, "Harbor Yield Oak LLC")],
  });
  assert.equal(gps[0]!.legalName, null);
  const { field, text } = entries[0]!.evidence![0]!;
  assert.deepEqual([field, text], ["ENTITYNAME", "Harbor Yield Elm LLC"]);
  assert.deepEqual(links, [
    ["cik:0000000001", "Harbor Yield", "cluster"],
    ["cik:0000000001", "Harbor Yield", "cluster"],
  ]);
  const addresses = resolved({ forms: [of(1, "1577 Elm LLC"), of(2, "1577 Oak LLC")] });
  assert.deepEqual(addresses.links, [null, null]);
});

test("an address or a person of more than 60 filings joins nobody", () => {
  const forms = Array.from({ length: 61 }, (_, i) =>
    formD({
      cik: i + 1,
      name: `Harbor Yield ${"ab"[i % 2]}${i} LLC`,
      address: "a",
      persons: [officer],
    }),
  );
  assert.equal(resolved({ forms }).gps.length, 0);
  assert.equal(resolved({ forms: forms.slice(0, 60) }).gps.length, 1);
});

test("an adviser that invests in real estate is a GP without a vehicle; another is none", () => {
  const { gps } = resolved({
    advisers: [
      [adviserOf("77", "OAKLINE PARTNERS LLC", { funds: [fundOf("Oakline I")] })],
      [adviserOf("78", "BLUE WEALTH LLC", { funds: [fundOf("Blue", { type: "Hedge Fund" })] })],
    ],
  });
  assert.deepEqual(
    gps.map(({ key, evidence }) => [key, evidence]),
    [["crd:77", null]],
  );
});

test("a firm of the feed alone is no GP, but the adviser that a filing names or a correction means", () => {
  const persons = [person("Ann", "Stone", managerOf("Oakline Partners LLC"))];
  const forms = [formD({ cik: 1, name: "Larch Apartments LLC", persons })];
  const firms = [
    firmOf("77", "OAKLINE PARTNERS, LLC", { website: "https://oakline.example/" }),
    firmOf("78", "BLUE REAL ESTATE LLC"),
  ];
  const keys = (world: World) => resolved({ firms, ...world }).gps.map(({ key }) => key);
  assert.deepEqual(keys({}), []);
  const { gps, links, all, entries } = resolved({ forms, firms });
  assert.deepEqual(
    gps.map(({ key }) => key),
    ["crd:77"],
  );
  assert.deepEqual(links, [["crd:77", "Oakline Partners, LLC", "sponsor_text"]]);
  const [gp] = all("gp");
  assert.deepEqual([gp?.website, gp?.provenance?.basis], ["https://oakline.example/", "stated"]);
  assert.equal(entries[0]!.evidence![0]!.form, "Firm feed");
  // Of two firms of its name it is neither.
  const twice = [...firms, firmOf("79", "OAKLINE PARTNERS, LLC")];
  assert.deepEqual(keys({ forms, firms: twice }), ["cik:0000000001"]);
  const given = corrected({ kind: "sponsor", cik: "0000000001", gp: "crd:78" });
  assert.deepEqual(keys({ forms, corrections: [given] }), ["crd:78"]);
});

test("a link below the lowest confidence is none", () => {
  const forms = [{ ...flats, persons: [person("N/A", "Alder Ridge Capital LLC", "Manager")] }];
  assert.equal(resolved({ forms, minConfidence: 0.8 }).gps.length, 1);
  assert.deepEqual(resolved({ forms, minConfidence: 0.85 }).links, [null]);
});

const two = [
  flats,
  formD({ cik: 2, name: "Cedar Point LLC", persons: [ofAlder] }),
  formD({
    cik: 3,
    name: "Pine Court LLC",
    state: "OH",
    persons: [person("N/A", "Harbor Yield LLC", "Manager")],
  }),
];
const alder = "cik:0000000001";
const [ofTwo, ofHarbor] = [`${alder} Alder Ridge Capital`, "cik:0000000003 Harbor Yield"];
const corrections: readonly [what: string, Parameters<typeof corrected>[0], links: string[]][] = [
  [
    "renames a GP",
    { kind: "is", gp: `gp_${alder}`, name: "Alder & Co" },
    [`${alder} Alder & Co`, `${alder} Alder & Co`, ofHarbor],
  ],
  [
    "gives a vehicle a GP",
    { kind: "sponsor", cik: "0000000003", gp: alder },
    [ofTwo, ofTwo, ofTwo],
  ],
  ["makes one GP of two", { kind: "same", gps: [alder, "cik:0000000003"] }, [ofTwo, ofTwo, ofTwo]],
  [
    "parts a GP",
    { kind: "apart", gp: "cik:0000000002", ciks: ["0000000002"] },
    [ofTwo, "cik:0000000002 Alder Ridge Capital", ofHarbor],
  ],
];
for (const [what, correction, expected] of corrections)
  test(`a correction ${what}, by a key or a public id`, () => {
    const { links, unmet } = resolved({ forms: two, corrections: [corrected(correction)] });
    assert.deepEqual(
      links.map((link) => link?.slice(0, 2).join(" ")),
      expected,
    );
    assert.deepEqual([...unmet], []);
  });

test("a GP keeps its name where corrections give it more vehicles than filings do", () => {
  const gives = (cik: string, gp: string) => corrected({ kind: "sponsor", cik, gp });
  const { gps, unmet } = resolved({
    forms: [two[2]!, formD({ cik: 4, name: "Larch LLC" }), formD({ cik: 5, name: "Elm LLC" })],
    advisers: [[adviserOf("77", "OAKLINE REALTY LLC")]],
    corrections: [
      gives("0000000004", "cik:0000000003"),
      gives("0000000005", "cik:0000000003"),
      gives("0000000004", "crd:99"),
    ],
  });
  assert.deepEqual(
    gps.map(({ name, vehicles }) => [name, vehicles.length]),
    [
      ["Harbor Yield", 3],
      ["Oakline Realty LLC", 0],
    ],
  );
  assert.deepEqual(
    [...unmet].map((one) => "gp" in one && one.gp),
    ["crd:99"],
  );
});

test("a correction meets the GP that another one makes, whatever their order", () => {
  const given = corrected({ kind: "sponsor", cik: "0000000003", gp: "crd:78" });
  const renamed = corrected({ kind: "is", gp: "crd:78", name: "Blue" });
  for (const corrections of [
    [given, renamed],
    [renamed, given],
  ]) {
    const firms = [firmOf("78", "BLUE REAL ESTATE LLC")];
    const { links, unmet } = resolved({ forms: two, firms, corrections });
    assert.deepEqual([links[2], unmet.size], [["crd:78", "Blue", "corrected"], 0]);
  }
});

test("a correction that meets nothing is told", () => {
  const correction = corrected({ kind: "is", gp: "crd:9", name: "X" });
  assert.deepEqual([...resolved({ forms: two, corrections: [correction] }).unmet], [correction]);
});

test("a correction of nobody is told once all records were made", () => {
  const ada = `${alder}/ada moss`;
  const accessions = [two[0]!.accession, two[1]!.accession];
  const corrections = [
    corrected({ kind: "personField", person: ada, field: "title", value: "Partner" }),
    corrected({ kind: "personField", person: `${alder}/bo lind`, field: "title", value: "x" }),
    corrected({ kind: "personApart", person: ada, accessions: ["0000000009-26-000001"] }),
    // Nobody is left from whom they could be parted.
    corrected({ kind: "personApart", person: ada, accessions }),
  ];
  assert.deepEqual([...resolved({ forms: two, corrections }).unmet], corrections.slice(1));
});
