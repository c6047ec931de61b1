import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  columnsOf,
  type RecordColumn,
  recordColumns,
  type RecordMembers,
} from "#records/columns.ts";
import { declarations } from "#records/declarations.ts";
import { list, text } from "#records/fields.ts";
import { fold } from "#records/fold.ts";
import { gpMembers } from "#records/gp.ts";
import { recordKinds } from "#records/kinds.ts";
import { Type } from "#records/schema.ts";
import { fold as referenceFold } from "../support/reference.ts";

const namesOf = (columns: readonly RecordColumn[]) => columns.map(({ name }) => name);

test("columns stand in the order of the declaration, and objects are spread over fixed columns", () => {
  assert.deepEqual(
    namesOf(recordColumns.signal).filter((name) => name.includes(".")),
    [
      ...["source", "basis", "confidence", "url"].map((name) => `provenance.${name}`),
      "gps.id",
      "gps.name",
    ],
  );
  for (const kind of recordKinds) {
    const members = namesOf(recordColumns[kind]).map((name) => name.split(".")[0]);
    assert.deepEqual(
      [...new Set(members)],
      Object.keys(declarations[kind].schema.properties),
      kind,
    );
  }
});

test("what a GP embeds becomes names, titles and totals", () => {
  const own = namesOf(columnsOf(gpMembers));
  assert.deepEqual(namesOf(recordColumns.gp), [
    ...own,
    "principals.name",
    "principals_total",
    "signals.title",
    "signals_total",
  ]);
  assert.deepEqual(
    own.filter((name) => name.startsWith("funds")),
    ["funds.name", "funds_total"],
  );
  assert.deepEqual(
    own.filter((name) => name.startsWith("external_ids")),
    ["cik", "crd", "lei", "sec_number", "form_d_file", "adv_fund", "hud_id", "other"].map(
      (key) => `external_ids.${key}`,
    ),
  );
});

test("a column says whether its texts are dates or times", () => {
  const dates = Object.values(recordColumns)
    .flat()
    .flatMap(({ name, isDate }) => (isDate ? [name] : []));
  for (const name of ["date", "aum_as_of", "first_sale_date", "updated_at", "published_at"])
    assert.ok(dates.includes(name), name);
  for (const name of ["name", "website", "tags", "founded_year", "gps.name", "zip"])
    assert.ok(!dates.includes(name), name);
});

test("a column reads what JSON says: unknown is null, a list without members is empty", () => {
  const project: RecordMembers = {
    id: "p",
    units: null,
    latitude: -33.5,
    tags: ["a", "b"],
    themes: [],
    external_ids: { hud_id: ["1"] },
    provenance: { source: "own", basis: "stated", confidence: 1, url: null },
    gps: [
      { id: "k", name: "KKR" },
      { id: "g", name: "GEM" },
    ],
  };
  const cellsOf = (...names: string[]) =>
    names.map((one) => recordColumns.project.find(({ name }) => name === one)!.of(project));
  assert.deepEqual(cellsOf("id", "units", "latitude", "provenance.url"), ["p", null, -33.5, null]);
  assert.deepEqual(cellsOf("tags", "themes"), [["a", "b"], []]);
  assert.deepEqual(cellsOf("external_ids.hud_id", "external_ids.cik"), [["1"], []]);
  assert.deepEqual(cellsOf("gps.id", "gps.name"), [
    ["k", "g"],
    ["KKR", "GEM"],
  ]);
});

test("a list of objects is refused until it is said what of them a table shows", () => {
  const lender = Type.Object({ name: text("Its name.") });
  assert.throws(() => columnsOf({ lenders: list("Who lends.", lender) }), /lenders/);
});

test("the examples of the rule fold as it says", () => {
  const examples: Record<string, string> = {
    "Société Générale": "societe generale",
    "J.P. Morgan & Co.": "jp morgan co",
    ＫＫＲ: "kkr",
    "O'Brien’s ‘Ranch’ʼ": "obriens ranch",
    "Straße Ærø Œuvre Łódź Þór Đà ılık Ħamrun": "strasse aero oeuvre lodz thor da ilik hamrun",
    ΟΔΟΣ: "οδοσ",
    "A  --  B_C": "a b c",
    "Black\u00adstone": "black stone",
    "%%": "",
  };
  for (const [text, folded] of Object.entries(examples)) assert.equal(fold(text), folded, text);
});

test("folding twice changes nothing, for every character there is", () => {
  for (let start = 0; start < 0x110000; start += 256) {
    const letters = Array.from({ length: 256 }, (_, i) => start + i)
      .filter((codePoint) => codePoint < 0xd800 || codePoint > 0xdfff)
      .map((codePoint) => String.fromCodePoint(codePoint));
    const folded = fold(letters.join(" a"));
    assert.equal(fold(folded), folded, start.toString(16));
  }
});

test("the fold agrees with the plain reference on any text", () => {
  const agrees = (text: string) => assert.equal(fold(text), referenceFold(text));
  fc.assert(fc.property(fc.string({ unit: "binary" }), agrees), { numRuns: 2000 });
  fc.assert(fc.property(fc.string({ unit: "binary-ascii" }), agrees), { numRuns: 2000 });
});
