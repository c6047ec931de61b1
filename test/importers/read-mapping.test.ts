import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test, type TestContext } from "node:test";
import { Compile } from "typebox/compile";
import { readMapping } from "#importers/read-mapping.ts";
import { mappingSchema } from "../../packaging/mapping-schema.ts";
import { faultOf, gpMapping, writtenFile, writtenMapping } from "./written-file.ts";

async function faultsOf(t: TestContext, mapping: object): Promise<Record<string, string>> {
  const { lines } = await faultOf(writtenMapping(t, mapping));
  return Object.fromEntries(lines.slice(1).map((line) => line.trim().split(/: (.*)/, 2)));
}

test("every fault of a mapping is told at once, each with its path in the file", async (t) => {
  const mapping = {
    encoding: "utf8",
    delimiter: "a",
    speed: 1,
    records: [
      {
        record: "project",
        id: { column: "Id", template: "{Id}" },
        fields: {
          stauts: "Status",
          status: { column: "Status", values: { "(1) Begun": "begun", "(2) Done": "completed" } },
          units: { column: "Units", valeus: {} },
          address: { template: "{Street" },
          start_date: { column: "Start", dates: ["MM/DD/YY"], multiply_by: 2 },
          city: ["City"],
          external_ids: { sic: "Sic", cik: { column: "Cik", separator: "" } },
          provenance: { source: "Source" },
        },
      },
      { record: "fund", id: "Id", fields: {} },
      { record: "gp", fields: { name: { constant: 5, missing: [] } } },
    ],
    named_gps: {
      names: { column: "" },
      confidence: 2,
      constants: { tags: "x", founded: 1 },
      split: "words",
      external_ids: { tin: "A" },
    },
  };
  assert.deepEqual(await faultsOf(t, mapping), {
    encoding: "must be one of utf-8, windows-1252, iso-8859-1",
    delimiter: "must be one character other than a letter, digit or quote",
    speed:
      "is an unknown name; the known names are $schema, description, encoding, delimiter, quotes, missing, dates, decimal, records, named_gps",
    "records[0].id": "must have exactly one of column, columns, template, constant",
    "records[0].fields.name": "is required",
    "records[0].fields.stauts": 'is an unknown name; did you mean "status"?',
    'records[0].fields.status.values["(1) Begun"]':
      "must be one of planned, raising, entitled, under_construction, completed, closed, on_hold, cancelled, unknown",
    "records[0].fields.units.valeus": 'is an unknown name; did you mean "values"?',
    "records[0].fields.address.template":
      "must contain columns in braces, as in {First Name} {Last Name}",
    "records[0].fields.start_date.dates[0]":
      "must be one of YYYY-MM-DD, YYYY-MM, YYYY, YYYYMMDD, MM/DD/YYYY, DD/MM/YYYY, MM/YYYY, DD-MON-YYYY, dmy, mdy, ymd",
    "records[0].fields.city": "must be the name of a column or an object",
    "records[0].fields.external_ids.sic":
      "is an unknown name; the known names are cik, crd, lei, sec_number, form_d_file, adv_fund, hud_id, other",
    "records[0].fields.external_ids.cik.separator": "must not be empty",
    "records[0].fields.provenance.source":
      "is an unknown name; the known names are basis, confidence, url",
    "records[1].record": "must be one of gp, principal, signal, project",
    "records[2].id": "is required",
    "records[2].fields.name.constant": "must be text",
    "records[2].fields.name.missing": "cannot be combined with constant; remove one of them",
    "named_gps.names.column": "must not be empty",
    "named_gps.confidence": "must be at most 1",
    "named_gps.split": "must be one of firms",
    "named_gps.external_ids.tin":
      "is an unknown name; the known names are cik, crd, lei, sec_number, form_d_file, adv_fund, hud_id, other",
    "named_gps.constants.tags": "must be a list",
    "named_gps.constants.founded": "is not a member of a gp; correct its name or remove it",
  });
});

test("every field that contradicts itself is told at once, before any file is read", async (t) => {
  const fields = {
    hq_city: { column: "A", multiply_by: 2 },
    founded_year: { column: "A", fold: true, separator: ";" },
    hq_state: { column: "A", values: { nevada: "NV", " NEVADA": "CA" } },
    aum_usd: { constant: "5" },
    legal_name: { constant: ["A"] },
    aum_as_of: { constant: "2031-02-30" },
    strategies: { column: "A", present: "x" },
    description: { column: "A", otherwise: "keep", otherwise_value: "B" },
  };
  const faults = await faultsOf(t, gpMapping(fields));
  const found = Object.entries(faults).map(([path, reason]) => `${path} ${reason}`);
  assert.deepEqual(
    found,
    [
      "hq_city.multiply_by applies only to numbers; remove it",
      "founded_year.fold applies only to text; remove it",
      "founded_year.separator applies only to lists and text; remove it",
      'hq_state.values[" NEVADA"] repeats the cell "nevada"; remove one of them',
      "aum_usd.constant must be a whole number",
      "legal_name.constant must be a single value, because the field takes no list",
      "aum_as_of.constant must be a date that exists, as YYYY, YYYY-MM or YYYY-MM-DD",
      "strategies.present must be one of core, core_plus, value_add, opportunistic, debt, distressed, development, fund_of_funds, secondaries, co_investment",
      "description.otherwise_value cannot be combined with otherwise; remove one of them",
    ].map((fault) => `records[0].fields.${fault}`),
  );
});

test("a mapping that is not a JSON object or repeats a key is refused", async (t) => {
  const refuse = async (text: string) =>
    (await faultOf(readMapping(writtenFile(t, "m.json", text)))).message;
  assert.match(await refuse("{"), /m\.json: is not JSON/);
  assert.match(
    await refuse("[]"),
    /is not a valid mapping; correct these faults\n {2}mapping: must be an object$/,
  );
  assert.match(await refuse('{"records": [], "records": []}'), /gives the key "records" twice/);
  assert.match(await refuse('{"records": []}'), /records: must not be empty$/);
});

test("a missing mapping is refused by name", async () => {
  assert.equal(
    (await faultOf(readMapping("no/map.json"))).message,
    "no/map.json: there is no such file; check the path",
  );
});

const folder = new URL("../../examples/mappings/", import.meta.url);
const published = JSON.parse(readFileSync(new URL("mapping.schema.json", folder), "utf8"));

test("the published schema of mappings is the one the importer goes by", () => {
  const write = `import { mappingSchema } from "./packaging/mapping-schema.ts"; console.log(JSON.stringify(mappingSchema(), null, 2))`;
  assert.deepEqual(
    published,
    mappingSchema(),
    `write it anew: node --input-type=module -e '${write}' > examples/mappings/mapping.schema.json`,
  );
});

test("the published schema accepts the shipped mappings and refuses their misspelt twins", () => {
  const validator = Compile(published);
  for (const name of ["san-francisco.json", "adviser-report.json"]) {
    const text = readFileSync(new URL(name, folder), "utf8");
    assert.equal(validator.Check(JSON.parse(text)), true, name);
    for (const [right, wrong] of [
      ['"column"', '"colum"'],
      ['"name"', '"nmae"'],
      ['"id"', '"ids"'],
    ] as const)
      assert.ok(!validator.Check(JSON.parse(text.replace(right, wrong))), `${name} with ${wrong}`);
  }
});
