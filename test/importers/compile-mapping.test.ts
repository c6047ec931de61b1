import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { parseTemplate } from "#importers/cells.ts";
import type { RecordFault } from "#records/canonical.ts";
import { csvEntries, gpMapping } from "./written-file.ts";

test("a row makes one record for each block, linked by their ids", async (t) => {
  const mapping = {
    records: [
      { record: "gp", id: "Crd", fields: { name: "Firm" } },
      {
        record: "principal",
        id: { template: "{Crd}/{Person}" },
        fields: { name: "Person", gps: "Crd" },
      },
    ],
  };
  const [entry] = await csvEntries(t, "Crd,Firm,Person\n7,Acme,Ada Moss\n", mapping);
  assert.deepEqual(entry?.records, [
    { record: "gp", id: "7", name: "Acme" },
    { record: "principal", id: "7/Ada Moss", name: "Ada Moss", gps: ["7"] },
  ]);
});

test("a block with a condition makes its record only where the condition holds", async (t) => {
  const mapping = {
    missing: ["-"],
    records: [
      { record: "gp", when: { column: "Kind", is: ["Firm"] }, id: "Id", fields: { name: "Name" } },
      { record: "signal", when: "Date", id: "Id", fields: { title: "Name", date: "Date" } },
    ],
    named_gps: { names: "Name" },
  };
  const text = "Id,Kind,Name,Date\n1,FIRM,Acme,\n2,Deal,Birch,2031\n3,Deal,Cedar,-\n";
  const entries = await csvEntries(t, text, mapping);
  const found = entries.map((entry) => entry.records.map(({ record, id }) => [record, id]));
  assert.deepEqual(found, [[["gp", "1"]], [["signal", "2"]], []]);
  const counts = entries.map((entry) => entry.namedGps.length);
  assert.deepEqual(counts, [1, 1, 0]);
});

test("a row without the columns of its id is rejected", async (t) => {
  const mapping = {
    records: [{ record: "gp", id: { template: "{Id}/{City}" }, fields: { name: "Name" } }],
  };
  const entries = await csvEntries(t, "Id,City,Name\n1,Reno,Acme\n2,,Birch\n", mapping);
  assert.deepEqual(entries[0]?.records[0]?.id, "1/Reno");
  assert.equal(entries[1]?.faults[0]?.field, "id");
});

test("an id may be a folded text, so that its spelling does not matter", async (t) => {
  const mapping = {
    records: [{ record: "gp", id: { column: "Name", fold: true }, fields: { name: "Name" } }],
  };
  const entries = await csvEntries(t, 'Name\n"ACME & CO., L.P."\n—\n', mapping);
  assert.equal(entries[0]?.records[0]?.id, "acme co lp");
  assert.match(entries[1]?.faults[0]?.reason ?? "", /^must contain a letter or a digit/);
});

/** What a project's field becomes from one row of the columns A and B: a value, none, or the words it is refused with. */
type Case = [field: string, source: unknown, cells: string[], becomes: unknown, more?: object];

const status = { column: "A", values: { Complete: "completed", "On Hold": "on_hold", "?": null } };
const missing = { missing: ["N/A", "unknown"] };
const columns = { columns: ["A", "B"] };
const tags = [
  { column: "A", separator: ";" },
  { column: "B", present: "seniors", missing: ["0"] },
  { constant: "pilot" },
];
const ownership = {
  column: "A",
  separator: ",",
  values: { "Ownership, Rental": "mixed", Rental: "rental" },
  otherwise: "keep",
};
const us = { dates: ["MM/DD/YYYY"] };
const address = { template: "{B?} {A}", missing: ["Not yet assigned"] };
const url = { template: "https://example.org/p/{A}" };
const words = ["value_add", "Value-Add", "VALUE ADD", "valueadd", "value \u2013 add"];

const cases: Record<string, Case[]> = {
  "a cell is looked up in values without regard to case and spaces": [
    ["status", status, [" COMPLETE "], "completed"],
    ["status", status, ["on  hold"], "on_hold"],
    ["status", status, ["?"], undefined],
  ],
  "a cell that is not in values rejects the row, unless the mapping says what then": [
    [
      "status",
      status,
      ["Sold"],
      /^must be listed in `values` of the mapping; column "A" holds "Sold"$/,
    ],
    ["status", { ...status, otherwise: "missing" }, ["Sold"], undefined],
    ["status", { ...status, otherwise_value: "unknown" }, ["Sold"], "unknown"],
    ["status", { ...status, otherwise: "keep" }, ["raising"], "raising"],
    ["status", { ...status, otherwise: "keep" }, ["Sold"], /^must be one of planned,/],
  ],
  "blank cells and the words for missing leave the field out; what values says comes first": [
    ["city", "A", [" "], undefined],
    ["city", "A", ["n/a"], undefined, missing],
    ["city", { column: "A", missing: ["-"] }, ["-"], undefined, missing],
    ["city", "A", ["-"], "-", missing],
    ["status", { column: "A", values: { Unknown: "unknown" } }, ["Unknown"], "unknown", missing],
  ],
  "several columns fill a list one by one, and a single value from the first that is not missing": [
    ["tags", columns, ["qof", "reit"], ["qof", "reit"]],
    ["tags", columns, ["", "reit"], ["reit"]],
    ["tags", columns, ["", ""], undefined],
    ["city", columns, ["", "Reno"], "Reno"],
    ["city", columns, ["Elko", "Reno"], "Elko"],
  ],
  "text before a separator fills a field that takes no list": [
    ["city", { column: "A", separator: "," }, ["Reno, Washoe County, NV"], "Reno"],
    ["city", { column: "A", separator: "," }, ["unknown, NV"], undefined, missing],
    ["city", { column: "A", separator: "," }, ["Elko"], "Elko"],
  ],
  "a list is made of several sources, cut at the separator, each value once": [
    ["tags", tags, ["qof; reit;;qof", "12"], ["qof", "reit", "seniors", "pilot"]],
    ["tags", tags, ["qof", "0"], ["qof", "pilot"]],
  ],
  "a whole cell in values comes before its pieces": [
    ["tags", ownership, ["Ownership, rental"], ["mixed"]],
    ["tags", ownership, ["RENTAL, new"], ["rental", "new"]],
  ],
  "dates, numbers and coordinates are read by the kind of the field": [
    ["start_date", "A", ["03/09/2031"], "2031-03-09", us],
    ["start_date", { column: "A", dates: ["YYYY"] }, ["2031"], "2031", us],
    ["start_date", { column: "A", dates: ["mdy"] }, ["Sept. 5, 2031"], "2031-09-05"],
    [
      "start_date",
      "A",
      ["02/30/2031"],
      /^must be a date that exists; the cell was read as MM\/DD\/YYYY; column "A" holds "02\/30\/2031"$/,
      us,
    ],
    ["total_amount_usd", { column: "A", decimal: ".", multiply_by: 1000 }, ["$1,840"], 1_840_000],
    ["latitude", "A", ["37.5"], 37.5],
  ],
  "a template counts a missing word as missing, and escapes cells inside of an address": [
    ["address", address, ["Alder Way", "12"], "12 Alder Way"],
    ["address", address, ["not yet assigned", "12"], undefined],
    ["address", address, ["Alder Way", ""], "Alder Way"],
    ["address", address, ["", "12"], undefined],
    ["provenance", { url }, ["2031/1 a"], { url: "https://example.org/p/2031%2F1%20a" }],
    ["provenance", { url }, [""], undefined],
  ],
  "external ids and provenance are objects of fields": [
    [
      "external_ids",
      { cik: ["A", "B"], other: { template: "x:{A}" } },
      ["1", "2"],
      { cik: ["1", "2"], other: ["x:1"] },
    ],
  ],
  "capitals become title case only where the mapping says so": [
    ["city", "A", ["RENO"], "RENO"],
    ["city", { column: "A", case: "title" }, ["RENO"], "Reno"],
  ],
  "a word of a closed list counts whatever its case, spaces, underscores and hyphens": [
    ...words.map((word): Case => ["strategy", "A", [word], "value_add"]),
    [
      "strategy",
      "A",
      ["value ad"],
      /^must be one of core, .*; the closest match is "value_add"; column "A" holds/,
    ],
  ],
};
for (const [title, ofTitle] of Object.entries(cases))
  test(title, async (t) => {
    for (const [field, source, [a, b = ""], becomes, more] of ofTitle) {
      const fields = { name: "Id", [field]: source };
      const mapping = { records: [{ record: "project", id: "Id", fields }], ...more };
      const [entry] = await csvEntries(t, `Id,A,B\n1,"${a}","${b}"\n`, mapping);
      const [record] = entry!.records;
      const refused = becomes instanceof RegExp;
      assert.deepEqual(
        refused ? record : Reflect.get(record!, field),
        refused ? undefined : becomes,
      );
      if (!refused) continue;
      const [{ reason, word: _, ...fault }] = entry!.faults as [RecordFault];
      assert.deepEqual(fault, { field, isOfCell: true });
      assert.match(reason, becomes);
    }
  });

test("a cell with a formula is refused, and a name that only begins with = is not", async (t) => {
  const rows = ["=SUM(B1:B2)", "=B2", "=1+1", "=HYPERLINK(1)", "= Equals", "=x"];
  const table = `Id,Name\n${rows.map((row, at) => `${at},${row}\n`).join("")}`;
  const entries = await csvEntries(t, table, gpMapping());
  const reasons = entries.map(({ faults }) => faults[0]?.reason);
  for (const reason of reasons.slice(0, 4))
    assert.match(reason ?? "", /^is a formula; save .*; column "Name" holds "=/);
  assert.deepEqual(reasons.slice(4), [undefined, undefined]);
});

test("a template without columns or with braces that do not pair is none", () => {
  for (const text of ["Reno", "{", "}", "{A", "A}", "{}", "{A}}", "{{A}}"])
    assert.equal(parseTemplate(text), undefined, text);
});

test("between digits a separator counts: 510 is not the band from 5 to 10 per cent", async (t) => {
  const bands = {
    records: [{ record: "principal", id: "Id", fields: { name: "Id", ownership_band: "Band" } }],
  };
  const table = "Id,Band\n1,Under 5\n2,5 - 10\n3,510\n";
  const [under, range, number] = await csvEntries(t, table, bands);
  assert.equal(Reflect.get(under!.records[0]!, "ownership_band"), "under_5");
  assert.equal(Reflect.get(range!.records[0]!, "ownership_band"), "5_10");
  assert.match(number!.faults[0]!.reason, /^must be one of under_5, 5_10,/);
});

const mapping = (named: object, fields: object = {}) => ({
  missing: ["TBD"],
  records: [{ record: "project", id: "Id", fields: { name: "Id", ...fields } }],
  named_gps: { names: { columns: ["Lead", "Co"] }, ...named },
});

/** The entries of rows with an id, a lead and a second firm. */
const entriesOf = (t: TestContext, rows: string, ...given: Parameters<typeof mapping>) =>
  csvEntries(t, `Id,Lead,Co\n${rows}\n`, mapping(...given));

const provenance = { basis: "named_sponsor", confidence: 0.5 };

test("a name makes one GP however it is cased and punctuated, under its first spelling", async (t) => {
  const rows = '1,"Bluefin Homes, Inc.",Birch\n2,BLUEFIN HOMES INC,\n3,Birch,BIRCH.';
  const entries = await entriesOf(t, rows, {});
  const id = "named:bluefin homes inc";
  const bluefin = { record: "gp", id, name: "Bluefin Homes, Inc.", provenance };
  const birch = { record: "gp", id: "named:birch", name: "Birch", provenance };
  const named = entries.map((entry) => entry.namedGps);
  assert.deepEqual(named, [[bluefin, birch], [bluefin], [birch]]);
  const linked = entries.map((entry) => Reflect.get(entry.records[0] as object, "gps"));
  assert.deepEqual(linked, [[id, birch.id], [id], [birch.id]]);
});

test("blank cells and words for nobody make no GP and no link", async (t) => {
  const names = { columns: ["Lead", "Co"], missing: ["Developer not yet selected"] };
  const entries = await entriesOf(t, "1,Developer NOT yet selected,tbd\n2,,", { names });
  for (const { namedGps, records, line } of entries) {
    const id = String(line - 1);
    assert.deepEqual([namedGps, records], [[], [{ record: "project", id, name: id }]]);
  }
});

test("a cell may name several GPs, and another spelling stays findable as an alias", async (t) => {
  const names = {
    columns: ["Lead", "Co"],
    separator: ";",
    values: {
      "Birch / Cedar": ["Birch", "Cedar Co"],
      "The Cedar Company": "Cedar Co",
      "CEDAR CO.": "Cedar Co",
    },
    otherwise: "keep",
  };
  const [entry] = await entriesOf(t, "1,Birch / Cedar,Alder; The Cedar Company", { names });
  assert.deepEqual(
    entry?.namedGps.map(({ name, aliases }) => [name, aliases]),
    [
      ["Birch", undefined],
      ["Cedar Co", ["The Cedar Company"]],
      ["Alder", undefined],
    ],
  );
});

test("links by id come first, GPs only named after them", async (t) => {
  const [entry] = await entriesOf(t, "1,Birch,g7", { names: "Lead" }, { gps: "Co" });
  assert.deepEqual(Reflect.get(entry?.records[0] as object, "gps"), ["g7", "named:birch"]);
});

test("the mapping says how sure it is and what else all of them share", async (t) => {
  const constants = { markets: ["Reno, NV"], provenance: { url: "https://example.org/list" } };
  const [entry] = await entriesOf(t, "1,Birch,", { confidence: 0.3, constants });
  const sure = { ...provenance, ...constants.provenance, confidence: 0.3 };
  assert.deepEqual(entry?.namedGps, [
    { record: "gp", id: "named:birch", name: "Birch", ...constants, provenance: sure },
  ]);
});

test("a name without a letter or digit rejects its row", async (t) => {
  const [entry] = await entriesOf(t, "1,—,", {});
  assert.deepEqual(entry?.faults, [
    { field: "gps", reason: 'must contain a letter or a digit, but is "—"', isOfCell: true },
  ]);
});

test("split cells name each firm once, whatever its legal form, and no owner called after the project", async (t) => {
  const rows = [
    'Alder Lofts,"Birch, LLC / Cedar, Inc. (50%)",',
    'Fir Court,"BIRCH L.L.C. dba Birch Homes; Fir Court, LP",',
    "Oak Place,No developer named,birch inc",
  ];
  const entries = await entriesOf(t, rows.join("\n"), { split: "firms", known: "sec" });
  const [birch, cedar] = ["named:birch", "named:cedar"];
  assert.deepEqual(
    entries.map(({ records }) => Reflect.get(records[0] as object, "gps")),
    [[birch, cedar], [birch], [birch]],
  );
  assert.deepEqual(
    entries.map(({ namedGps, known }) => [namedGps.map(({ name }) => name), known]),
    [
      [["Birch, LLC", "Cedar, Inc."], "sec"],
      [["Birch, LLC"], "sec"],
      [["Birch, LLC"], "sec"],
    ],
  );
});

test("a trade name is an alias, and values bring pieces of a split cell to other names", async (t) => {
  const names = { column: "Lead", values: { CHP: "Cedar Homes" }, otherwise: "keep" };
  const row = 'Alder,"Birch Corp., d/b/a Fir / CHP",';
  const [entry] = await entriesOf(t, row, { names, split: "firms" });
  assert.deepEqual(
    entry?.namedGps.map(({ name, aliases }) => [name, aliases]),
    [
      ["Birch Corp.", ["Fir"]],
      ["Cedar Homes", ["CHP"]],
    ],
  );
});

test("a row that names one GP gives it external ids", async (t) => {
  const named = { names: "Lead", split: "firms", external_ids: { cik: "Co" } };
  const rows = "1,Birch,0001900013\n2,Birch,\n3,Birch / Cedar,0001900013";
  const entries = await entriesOf(t, rows, named);
  assert.deepEqual(
    entries.map(({ namedGps }) => namedGps.map((gp) => gp.external_ids)),
    [[{ cik: ["0001900013"] }], [undefined], [undefined, undefined]],
  );
});
