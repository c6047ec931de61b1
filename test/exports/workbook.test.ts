import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { OutputFile } from "#store/whole-file.ts";
import type { RecordSource } from "#exports/record-source.ts";
import { runExport, workbookFormat } from "#exports/run-export.ts";
import { rowsMax, writeWorkbook } from "#exports/workbook.ts";
import { recordKinds } from "#records/kinds.ts";
import { gp, principal, project, signal } from "../datasets/published.ts";
import { importRecords, temporaryCatalogue } from "../support/dataset.ts";
import { hasLibreOffice, openInLibreOffice } from "../support/libreoffice.ts";
import { partOf } from "../support/workbook-part.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const aliases = Array.from({ length: 100 }, (_, i) => `${i} ${"x".repeat(490)}`);

/** What spreadsheets get wrong: formulas, ids with zeros, accents, dates that are half known. */
const hard = [
  gp("a", {
    name: "=1+1",
    legal_name: "=cmd|' /C calc'!A0",
    aliases: ["+SUM(A1)", "@x"],
    description: "-2+3",
    founded_year: 1999,
    aum_usd: 1840000000,
    aum_as_of: "2025-03",
    external_ids: { cik: ["0001912345"] },
  }),
  gp("b", {
    name: "Zoë Ünlü & Söhne <GmbH>",
    description: '_x0041_ "quoted", comma; 三井',
    aum_as_of: "2026-03-31",
    funds: [
      { name: "Small", sold_usd: 5 },
      {
        name: "Söhne Fund I, LP",
        structure: "master",
        gross_assets_usd: 9,
        as_of: "2026-02-28",
        external_ids: { adv_fund: ["805-01"] },
      },
    ],
  }),
  gp("c", { name: "Long", aliases }),
  principal("p", ["a", "b"], { name: "Ana Müller", start_date: "1875-02-01" }),
  signal("s", {
    type: "news",
    title: "-Big",
    date: "2026",
    published_at: "2026-01-02T03:04:05Z",
    amount_usd: -5000000,
    gps: ["a"],
  }),
  project("j", {
    name: "@home",
    type: "other",
    property_type: "office",
    status: "planned",
    zip: "01234",
    address: "＝1+1",
    latitude: 40.5,
    longitude: -73.25,
    start_date: "2024-02-29",
    gps: ["b"],
  }),
];

async function exported(t: TestContext) {
  const catalogue = temporaryCatalogue(t);
  const { published } = await importRecords(catalogue, hard);
  const folder = temporaryFolder(t);
  const path = catalogue.pathOf(published!.version);
  const licence = "CC BY 4.0";
  const order = { path, generation: published!, kinds: recordKinds, folder, licence };
  await runExport({ ...order, format: workbookFormat });
  return { path: join(folder, "records.xlsx"), version: published!.version };
}

test("an export leaves nothing on the signal that could have stopped it", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const { published: generation } = await importRecords(catalogue, hard);
  const path = catalogue.pathOf(generation!.version);
  const { signal } = new AbortController();
  const order = { path, generation: generation!, folder: temporaryFolder(t), licence: null };
  await runExport({ ...order, kinds: ["gp"], format: "csv" }, signal);
  assert.deepEqual(getEventListeners(signal, "abort"), []);
});

test("LibreOffice opens the workbook: every sheet with its rows, accents, zeros and dates, numbers as numbers and no formula", async (t) => {
  if (!hasLibreOffice(t)) return;
  const { path, version } = await exported(t);
  const [opened = []] = await openInLibreOffice(t, [path]);
  const sheet = (name: string): Record<string, string>[] => {
    const [heading = [], ...rows] = opened.find((one) => one.name === name)!.rows;
    return rows.map((row) =>
      Object.fromEntries(heading.map(({ text }, i) => [text, row[i]?.text ?? ""])),
    );
  };
  const cells = opened.flatMap(({ rows }) => rows.flat());
  assert.deepEqual(
    cells.filter(({ formula }) => formula !== null),
    [],
  );
  const numbers = cells.flatMap(({ number }) => number ?? []);
  for (const number of [1999, 1840000000, -5000000, 40.5, -73.25])
    assert.ok(numbers.includes(number), String(number));
  // Ids of others are made of digits, and are no numbers.
  assert.ok(!numbers.includes(1234) && !numbers.includes(1912345));
  const dates = cells.flatMap(({ type, text }) => (type === "date" ? text : []));
  for (const date of ["2026-03-31", "2024-02-29", "2026-01-02 03:04:05"])
    assert.ok(dates.includes(date), date);
  const [formula, long, umlaut] = sheet("GPs");
  assert.equal(formula!["name"], "=1+1");
  assert.equal(formula!["legal_name"], "=cmd|' /C calc'!A0");
  assert.equal(formula!["aliases"], "+SUM(A1); @x");
  assert.equal(formula!["description"], "-2+3");
  assert.equal(formula!["external_ids.cik"], "0001912345");
  assert.equal(formula!["aum_as_of"], "2025-03");
  assert.equal(long!["aliases"]!.length, 32_767);
  assert.ok(long!["aliases"]!.endsWith("…"));
  assert.equal(umlaut!["name"], "Zoë Ünlü & Söhne <GmbH>");
  assert.equal(umlaut!["description"], '_x0041_ "quoted", comma; 三井');
  assert.equal(umlaut!["aum_as_of"], "2026-03-31");
  const [person] = sheet("People");
  assert.equal(person!["start_date"], "1875-02-01");
  assert.equal(person!["gps.name"], "=1+1; Zoë Ünlü & Söhne <GmbH>");
  const [big] = sheet("Signals");
  assert.equal(big!["title"], "-Big");
  assert.equal(big!["published_at"], "2026-01-02 03:04:05");
  assert.equal(big!["date"], "2026");
  const [home] = sheet("Projects");
  assert.deepEqual([home!["name"], home!["zip"]], ["@home", "01234"]);
  assert.equal(home!["address"], "＝1+1");
  assert.deepEqual(
    sheet("Links").map(({ kind, name, gp_name: gp }) => [kind, name, gp]),
    [
      ["principal", "Ana Müller", "=1+1"],
      ["principal", "Ana Müller", "Zoë Ünlü & Söhne <GmbH>"],
      ["signal", "-Big", "=1+1"],
      ["project", "@home", "Zoë Ünlü & Söhne <GmbH>"],
    ],
  );
  const funds = sheet("Funds").map((fund) =>
    ["gp_name", "name", "structure", "gross_assets_usd", "as_of", "external_ids.adv_fund"].map(
      (name) => fund[name],
    ),
  );
  assert.deepEqual(funds, [
    ["Zoë Ünlü & Söhne <GmbH>", "Söhne Fund I, LP", "master", "9", "2026-02-28", "805-01"],
    ["Zoë Ünlü & Söhne <GmbH>", "Small", "", "", "", ""],
  ]);
  const about = new Map(sheet("About").map(({ what, value }) => [what, value]));
  assert.equal(about.get("Dataset version"), version);
  assert.equal(about.get("Filters"), "none: all records");
  assert.equal(about.get("Licence of the data"), "CC BY 4.0");
  assert.match(about.get("Source of the data")!, /^own, imported 2026-/);
});

test("the head of every sheet is frozen, and a text that looks like a formula is marked as quoted, half-width or full-width, and no other", async (t) => {
  const archive = readFileSync((await exported(t)).path);
  const [, formats] = /<cellXfs count="6">([^]*)<\/cellXfs>/.exec(
    partOf(archive, "xl/styles.xml"),
  )!;
  const quoted = formats!
    .trim()
    .split("\n")
    .map((format) => format.includes('quotePrefix="1"'));
  const cells = [1, 2, 3, 4].flatMap((number) => [
    ...partOf(archive, `xl/worksheets/sheet${number}.xml`).matchAll(
      /s="(\d)" t="inlineStr"><is><t xml:space="preserve">([^<]*)</g,
    ),
  ]);
  const marked = cells.flatMap(([, style, text]) => (quoted[Number(style)] ? [text!] : []));
  assert.deepEqual([...new Set(marked)].toSorted(), [
    "+SUM(A1); @x",
    "-2+3",
    "-Big",
    "=1+1",
    "=1+1; Zoë Ünlü &amp; Söhne &lt;GmbH&gt;",
    "=cmd|' /C calc'!A0",
    "@home",
    "＝1+1",
  ]);
  for (const number of [1, 2, 3, 4, 5, 6])
    assert.match(
      partOf(archive, `xl/worksheets/sheet${number}.xml`),
      /<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"\/>/,
    );
});

test("no two sheets have the same name, not even in another case, which spreadsheet programs refuse to open", async (t) => {
  const book = partOf(readFileSync((await exported(t)).path), "xl/workbook.xml");
  const names = Array.from(book.matchAll(/<sheet name="([^"]+)"/g), ([, name]) =>
    name!.toLowerCase(),
  );
  assert.ok(names.length > recordKinds.length);
  assert.deepEqual(names, [...new Set(names)]);
});

test("more records than a sheet has rows are refused before anything is written", async () => {
  const records = { gp: 1, principal: rowsMax, signal: 1, project: 1 };
  const source = { generation: { records }, countLinks: () => 0 } as unknown as RecordSource;
  const output = { write: () => assert.fail() } as unknown as OutputFile;
  await assert.rejects(
    writeWorkbook(source, recordKinds, null, output),
    /The sheet People would have 1,048,576 rows, .* for 1,048,575 .* --kind/,
  );
});
