import assert from "node:assert/strict";
import { test } from "node:test";
import { parseTemplate } from "#importers/cells.ts";
import { csvEntries } from "./written-file.ts";

/** What a project's field becomes from one row of the columns A and B. */
async function fieldFrom(
  t: Parameters<typeof csvEntries>[0],
  field: string,
  source: unknown,
  cells: [a: string, b?: string],
  more = {},
) {
  const [a, b = ""] = cells.map((cell) => (cell === undefined ? "" : `"${cell}"`));
  const mapping = {
    records: [{ record: "project", id: "Id", fields: { name: "Id", [field]: source } }],
    ...more,
  };
  const [entry] = await csvEntries(t, `Id,A,B\n1,${a},${b}\n`, mapping);
  return entry?.faults.length === 0
    ? Reflect.get(entry.records[0] as object, field)
    : entry?.faults[0];
}

const values = { Complete: "completed", "On Hold": "on_hold", "?": null };

test("a cell is looked up in values without regard to case and spaces", async (t) => {
  const status = { column: "A", values };
  assert.equal(await fieldFrom(t, "status", status, [" COMPLETE "]), "completed");
  assert.equal(await fieldFrom(t, "status", status, ["on  hold"]), "on_hold");
  assert.equal(await fieldFrom(t, "status", status, ["?"]), undefined);
});

test("a cell that is not in values rejects the row, unless the mapping says what then", async (t) => {
  const source = { column: "A", values };
  assert.deepEqual(await fieldFrom(t, "status", source, ["Sold"]), {
    field: "status",
    reason: 'has no meaning in `values` of the mapping; column "A" holds "Sold"',
    isOfCell: true,
  });
  assert.equal(
    await fieldFrom(t, "status", { ...source, otherwise: "missing" }, ["Sold"]),
    undefined,
  );
  assert.equal(
    await fieldFrom(t, "status", { ...source, otherwise_value: "unknown" }, ["Sold"]),
    "unknown",
  );
  assert.equal(
    await fieldFrom(t, "status", { ...source, otherwise: "keep" }, ["raising"]),
    "raising",
  );
  assert.match(
    (await fieldFrom(t, "status", { ...source, otherwise: "keep" }, ["Sold"])).reason,
    /^must be one of planned,/,
  );
});

test("blank cells and the words for missing leave the field out; what values says comes first", async (t) => {
  const missing = { missing: ["N/A", "unknown"] };
  assert.equal(await fieldFrom(t, "city", "A", [" "]), undefined);
  assert.equal(await fieldFrom(t, "city", "A", ["n/a"], missing), undefined);
  assert.equal(
    await fieldFrom(t, "city", { column: "A", missing: ["-"] }, ["-"], missing),
    undefined,
  );
  assert.equal(await fieldFrom(t, "city", "A", ["-"], missing), "-");
  const status = { column: "A", values: { Unknown: "unknown" } };
  assert.equal(await fieldFrom(t, "status", status, ["Unknown"], missing), "unknown");
});

test("several columns fill a list one by one, and a single value from the first that is not missing", async (t) => {
  const columns = { columns: ["A", "B"] };
  assert.deepEqual(await fieldFrom(t, "tags", columns, ["qof", "reit"]), ["qof", "reit"]);
  assert.deepEqual(await fieldFrom(t, "tags", columns, ["", "reit"]), ["reit"]);
  assert.equal(await fieldFrom(t, "tags", columns, ["", ""]), undefined);
  assert.equal(await fieldFrom(t, "city", columns, ["", "Reno"]), "Reno");
  assert.equal(await fieldFrom(t, "city", columns, ["Elko", "Reno"]), "Elko");
});

test("a list is made of several sources, cut at the separator, each value once", async (t) => {
  const sources = [
    { column: "A", separator: ";" },
    { column: "B", present: "seniors", missing: ["0"] },
    { constant: "pilot" },
  ];
  assert.deepEqual(await fieldFrom(t, "tags", sources, ["qof; reit;;qof", "12"]), [
    "qof",
    "reit",
    "seniors",
    "pilot",
  ]);
  assert.deepEqual(await fieldFrom(t, "tags", sources, ["qof", "0"]), ["qof", "pilot"]);
});

test("a whole cell in values comes before its pieces", async (t) => {
  const source = {
    column: "A",
    separator: ",",
    values: { "Ownership, Rental": "mixed", Rental: "rental" },
    otherwise: "keep",
  };
  assert.deepEqual(await fieldFrom(t, "tags", source, ["Ownership, rental"]), ["mixed"]);
  assert.deepEqual(await fieldFrom(t, "tags", source, ["RENTAL, new"]), ["rental", "new"]);
});

test("dates, numbers and coordinates are read by the kind of the field", async (t) => {
  const us = { dates: ["MM/DD/YYYY"] };
  assert.equal(await fieldFrom(t, "start_date", "A", ["03/09/2031"], us), "2031-03-09");
  assert.equal(
    await fieldFrom(t, "start_date", { column: "A", dates: ["YYYY"] }, ["2031"], us),
    "2031",
  );
  assert.deepEqual(await fieldFrom(t, "start_date", "A", ["02/30/2031"], us), {
    field: "start_date",
    reason: 'must be a date that exists; column "A" holds "02/30/2031"',
    isOfCell: true,
  });
  assert.equal(
    await fieldFrom(t, "total_amount_usd", { column: "A", decimal: ".", multiply_by: 1000 }, [
      "$1,840",
    ]),
    1_840_000,
  );
  assert.equal(await fieldFrom(t, "latitude", "A", ["37.5"]), 37.5);
});

test("a template counts a missing word as missing, and escapes cells inside of an address", async (t) => {
  const address = { template: "{B?} {A}", missing: ["Not yet assigned"] };
  assert.equal(await fieldFrom(t, "address", address, ["Alder Way", "12"]), "12 Alder Way");
  assert.equal(await fieldFrom(t, "address", address, ["not yet assigned", "12"]), undefined);
  assert.equal(await fieldFrom(t, "address", address, ["Alder Way", ""]), "Alder Way");
  assert.equal(await fieldFrom(t, "address", address, ["", "12"]), undefined);
  const provenance = { url: { template: "https://example.org/p/{A}" } };
  assert.deepEqual(await fieldFrom(t, "provenance", provenance, ["2031/1 a"]), {
    url: "https://example.org/p/2031%2F1%20a",
  });
  assert.equal(await fieldFrom(t, "provenance", provenance, [""]), undefined);
});

test("a template without columns or with braces that do not pair is none", () => {
  for (const text of ["Reno", "{", "}", "{A", "A}", "{}", "{A}}", "{{A}}"])
    assert.equal(parseTemplate(text), undefined, text);
});

test("external ids and provenance are objects of fields", async (t) => {
  const ids = { cik: ["A", "B"], other: { template: "x:{A}" } };
  assert.deepEqual(await fieldFrom(t, "external_ids", ids, ["1", "2"]), {
    cik: ["1", "2"],
    other: ["x:1"],
  });
});

test("capitals become title case only where the mapping says so", async (t) => {
  assert.equal(await fieldFrom(t, "city", "A", ["RENO"]), "RENO");
  assert.equal(await fieldFrom(t, "city", { column: "A", case: "title" }, ["RENO"]), "Reno");
});

test("a word of a closed list counts whatever its case, spaces, underscores and hyphens", async (t) => {
  for (const word of ["value_add", "Value-Add", "VALUE ADD", "valueadd", "value \u2013 add"])
    assert.equal(await fieldFrom(t, "strategy", "A", [word]), "value_add", word);
  const { reason } = await fieldFrom(t, "strategy", "A", ["value ad"]);
  assert.match(reason, /^must be one of core, .*; the nearest is "value_add"; column "A" holds/);
});

test("between digits a separator counts: 510 is not the band from 5 to 10 per cent", async (t) => {
  const bands = {
    records: [{ record: "principal", id: "Id", fields: { name: "Id", ownership_band: "Band" } }],
  };
  const [under, range, number] = await csvEntries(
    t,
    "Id,Band\n1,Under 5\n2,5 - 10\n3,510\n",
    bands,
  );
  assert.equal(Reflect.get(under!.records[0]!, "ownership_band"), "under_5");
  assert.equal(Reflect.get(range!.records[0]!, "ownership_band"), "5_10");
  assert.match(number!.faults[0]!.reason, /^must be one of under_5, 5_10,/);
});
