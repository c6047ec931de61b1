import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { readCsv } from "#importers/csv.ts";
import { readNdjson } from "#importers/json.ts";
import { readMapping } from "#importers/read-mapping.ts";
import { checkRecord } from "#records/check-record.ts";
import { readLines } from "../support/json-lines.ts";
import { csvEntries, writtenFile } from "./written-file.ts";

const mappings = {
  "san-francisco":
    "the mapping for San Francisco makes a project of every row, signals of its dates and GPs of its sponsors",
  "lihtc-awards":
    "the mapping for award lists makes a project and a signal of every row, and GPs of its developers",
  "adviser-report": "the mapping for adviser reports makes a GP of every row, under its legal name",
};
for (const [name, title] of Object.entries(mappings))
  test(title, async () => {
    const mapping = await readMapping(`examples/mappings/${name}.json`);
    const table = `test/fixtures/importers/${name}.csv`;
    const entries = await Array.fromAsync(readCsv([table], mapping));
    for (const { faults, records, namedGps } of entries)
      assert.deepEqual(
        [...faults, ...[...records, ...namedGps].flatMap((record) => checkRecord(record))],
        [],
      );
    assert.deepEqual(
      entries.map(({ line, records, namedGps }) => ({ line, records, namedGps })),
      readLines(readFileSync(table.replace(/csv$/, "ndjson"), "utf8")),
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
      assert.deepEqual([...faults, ...records.flatMap((record) => checkRecord(record))], []);
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
  const schema = readFileSync("examples/mappings/mapping.schema.json", "utf8");
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
