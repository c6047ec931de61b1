import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { readCsv } from "#importers/csv.ts";
import { readNdjson } from "#importers/ndjson.ts";
import { readMapping } from "#importers/read-mapping.ts";
import { checkRecord } from "#records/check-record.ts";
import { csvEntries, writtenFile } from "./written-file.ts";

const entriesOf = async (name: string) => {
  const mapping = await readMapping(`examples/mappings/${name}.json`);
  const entries = await Array.fromAsync(readCsv([`test/fixtures/importers/${name}.csv`], mapping));
  for (const entry of entries) {
    assert.deepEqual(entry.faults, []);
    assert.deepEqual([...entry.records, ...entry.namedGps].flatMap(checkRecord), []);
  }
  return entries;
};

test("the mapping for San Francisco makes a project of every row, signals of its dates and GPs of its sponsors", async () => {
  const entries = await entriesOf("san-francisco");
  const [heron, alder, harbor, cannery, pier] = entries;
  const url = "https://data.sfgov.org/d/aaxw-2cb8";
  const market = "San Francisco-Oakland-Hayward, CA";
  const shared = {
    city: "San Francisco",
    state: "CA",
    zip: "94199",
    country: "US",
    market,
    market_basis: "property_address",
  };
  assert.deepEqual(heron?.records, [
    {
      record: "project",
      id: "2031-001",
      name: "Heron Court",
      type: "development",
      property_type: "affordable_housing",
      status: "planned",
      ...shared,
      external_ids: { other: ["sf_mohcd:2031-001"] },
      provenance: { url },
    },
  ]);
  assert.deepEqual(heron?.namedGps, []);
  const signal = { record: "signal", market, project_ids: ["2031-002"], url, provenance: { url } };
  const gps = ["named:bluefin homes inc", "named:juniper community land trust"];
  assert.deepEqual(alder?.records, [
    {
      record: "project",
      id: "2031-002",
      name: "Alder Lofts",
      type: "rehabilitation",
      property_type: "affordable_housing",
      status: "completed",
      address: "12-18 Alder Way",
      ...shared,
      latitude: 37.70000001,
      longitude: -122.4000001,
      units: 16,
      affordable_units: 16,
      start_date: "2031-05-01",
      completion_date: "2031-12-15",
      tags: ["rental", "small_sites", "families", "seniors"],
      themes: ["affordable_housing", "senior_living"],
      external_ids: { other: ["sf_mohcd:2031-002", "sf_planning:2030-000123PRJ"] },
      provenance: { url },
      gps,
    },
    {
      ...signal,
      id: "permit:2031-002",
      type: "permit_issued",
      title: "Building permit issued: Alder Lofts",
      date: "2031-04-01",
      gps,
    },
    {
      ...signal,
      id: "acquisition:2031-002",
      type: "acquisition",
      title: "Acquired: Alder Lofts",
      date: "2031-03-09",
      gps,
    },
  ]);
  assert.deepEqual(alder?.namedGps[0], {
    record: "gp",
    id: "named:bluefin homes inc",
    name: "Bluefin Homes, Inc.",
    markets: [market],
    provenance: { basis: "named_sponsor", confidence: 0.5, url },
  });
  assert.deepEqual(
    [harbor, cannery, pier].map((entry) => [
      entry?.line,
      Reflect.get(entry?.records[0] ?? {}, "status"),
      entry?.namedGps.map(({ name }) => name),
    ]),
    [
      [5, "under_construction", ["Bluefin Homes, Inc."]],
      [6, "on_hold", ["Kestrel Partners LLC", "Otter Build"]],
      [7, "cancelled", []],
    ],
  );
  assert.equal(harbor?.records[0] && Reflect.get(harbor.records[0], "address"), "1 Broadway");
});

test("the mapping for adviser reports makes a GP of every row, under its legal name", async () => {
  const entries = await entriesOf("adviser-report");
  const shared = {
    hq_state: "CO",
    hq_country: "US",
    aum_as_of: "2019-02",
    tags: ["registered_adviser"],
  };
  assert.deepEqual(
    entries.map((entry) => entry.records),
    [
      [
        {
          record: "gp",
          id: "ptarmigan advisors llc",
          name: "PTARMIGAN CAPITAL PARTNERS",
          legal_name: "PTARMIGAN ADVISORS, LLC",
          website: "http://www.ptarmigan.example/ABOUT",
          hq_city: "Greenwood Village",
          aum_usd: 1_840_000_000,
          ...shared,
        },
      ],
      [
        {
          record: "gp",
          id: "snowberry lp",
          name: "SNOWBERRY, L.P.",
          legal_name: "SNOWBERRY, L.P.",
          hq_city: "Denver",
          aum_usd: 0,
          ...shared,
        },
      ],
      [
        {
          record: "gp",
          id: "tarn cirque co",
          name: "TARN & CIRQUE CO",
          legal_name: "TARN & CIRQUE CO",
          hq_city: "Boulder",
          aum_usd: 12_345_678,
          ...shared,
        },
      ],
    ],
  );
});

const page = readFileSync(new URL("../../docs/importing.md", import.meta.url), "utf8");
const blocks = (language: string) =>
  Array.from(
    page.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "gms")),
    ([, text = ""]) => text,
  );

test("every record on the page is one the service takes", async (t) => {
  for (const text of blocks("ndjson"))
    for await (const { records, faults } of readNdjson([writtenFile(t, "page.ndjson", text)]))
      assert.deepEqual([...faults, ...records.flatMap(checkRecord)], []);
  assert.equal(blocks("ndjson").length, 3);
});

test("the mapping on the page makes of the table on the page the records on the page", async (t) => {
  const [table = ""] = blocks("csv");
  const [mapping = ""] = blocks("json");
  const [, records = ""] = blocks("ndjson");
  const entries = await csvEntries(t, table, JSON.parse(mapping));
  const made = entries.flatMap((entry) => [...entry.namedGps, ...entry.records]);
  const lines = made.map((record) => JSON.stringify(record));
  assert.equal(Array.from(new Set(lines)).join("\n"), records.trim());
});

test("each option and format the page tells of is one of the schema, and none is left out", () => {
  const schema = readFileSync(
    new URL("../../examples/mappings/mapping.schema.json", import.meta.url),
    "utf8",
  );
  const { properties, $defs } = JSON.parse(schema);
  const names = [
    ...Object.keys(properties),
    ...Object.keys($defs.source.properties),
    ...Object.keys(properties.named_gps.properties),
    ...$defs.source.properties.dates.items.enum,
    ...properties.encoding.enum,
  ];
  for (const name of names)
    assert.ok(page.includes(`\`${name}\``) || page.includes(`"${name}"`), name);
});
