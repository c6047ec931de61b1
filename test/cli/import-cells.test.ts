import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { allCommands } from "../support/all-commands.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const columns = [
  "Id",
  "Name",
  "Status",
  "City",
  "State",
  "Country",
  "Latitude",
  "Units",
  "Amount",
  "Raised (million)",
  "Start",
] as const;
type Column = (typeof columns)[number];

const members: Partial<Record<Column, unknown>> = {
  Name: "name",
  Status: "status",
  City: "city",
  State: "state",
  Country: "country",
  Latitude: "latitude",
  Units: "units",
  Amount: "total_amount_usd",
  "Raised (million)": "raised_amount_usd",
  Start: "start_date",
};

/** A cell of a file in windows-1252, as its bytes, and what is published of it or why its row is not. */
type Case = [
  column: Column,
  cell: string,
  becomes: string | number | null | RegExp,
  country?: string,
];

const withDecimalComma: Case[] = [
  ["Amount", "1.234,56", 1235],
  ["Amount", "12.500", 12_500],
  ["Amount", "1.200.000", 1_200_000],
  ["Amount", "1\xa0234\xa0567,00", 1_234_567],
  ["Amount", "1\x92234\x92567", 1_234_567],
  ["Amount", "$ 12.500,00", 12_500],
  ["Amount", "12.500 USD", 12_500],
  ["Amount", "(12.500)", /^must be at least 0$/],
  ["Amount", "12.50", /^must be a number such as 1\.234,50; column "Amount" holds "12\.50"$/],
  ["Amount", "1,234.56", /^must be a number such as 1\.234,50/],
  ["Amount", "12,5", /^is neither whole dollars nor cents; say in multiply_by/],
  ["Amount", "\x8012.500", /^must be a number .* holds "€12\.500"$/],
  ["Amount", "1,2E+09", /^must be a number with all its digits/],
  ["Raised (million)", "1,2", 1_200_000],
  ["Units", "1.200", 1200],
  ["Units", "12,5", /^must be a whole number/],
  ["Latitude", "37,775", 37.775],
  ["Latitude", "37.775", /^must be a number such as 37,775/],
  ["State", "Texas", "TX"],
  ["State", " NEW  YORK", "NY"],
  ["State", "d.c.", "DC"],
  ["State", "ZZ", /^must be a state of the US, unless country names another country; it is "ZZ"$/],
  ["State", "Texass", /; it is "Texass"; the nearest is "Texas"$/],
  ["State", "Ontario", /^must be a state of the US/],
  ["State", "Ontario", "Ontario", "CA"],
  ["State", "ON", /^must be a state of the US/, "United States"],
  ["Status", "Under Construction", "under_construction"],
  ["Status", "ON-HOLD", "on_hold"],
  ["Status", "onhold", "on_hold"],
  ["Status", "Under Constuction", /; the nearest is "under_construction"; column "Status"/],
  ["City", "Orl\xe9ans", "Orléans"],
  ["City", "Coeur d\x92Alene", "Coeur d’Alene"],
  ["Start", "2024-02-29", "2024-02-29"],
  ["Start", "12/31/1999", "1999-12-31"],
  ["Start", "2024-02", "2024-02"],
  ["Start", "", null],
  ["Start", "2031-02-30", /^must be a date that exists/],
  ["Start", "02/30/2024", /^must be a date that exists/],
  ["Start", "2024-13-01", /^must be a date that exists/],
  ["Start", "0000-00-00", /from the year 1600 to 2200/],
  ["Start", "12/31/99", /^must be a date written/],
  ["Start", "soon", /^must be a date written/],
  ["Id", "row 2", /^'row 2' is the id of the project at .*\.csv:2 too$/],
];

const withoutDeclaration: Case[] = [
  ["Amount", "12.500", /^could be 12\.500 or 12500; say "decimal": "\." or "decimal": ","/],
  ["Amount", "1,200", /^could be 1\.200 or 1200/],
  ["Amount", "1.234,56", /^is written with a decimal comma; .* say "decimal": ","/],
  ["Amount", "1,234.56", 1235],
  ["Amount", "1,234,567", 1_234_567],
  ["Amount", "$5", 5],
  ["Amount", "1e6", /^must be a number with all its digits/],
  ["Amount", "Infinity", /^must be a number such as/],
  ["Amount", "$1.2M", /^must be a number such as/],
  ["Amount", "9007199254740993", /below 2\^53/],
  ["Amount", "TBD", null],
  ["Amount", "N/A", /^must be a number such as/],
  ["Units", "4.0", 4],
  ["Units", "1,200", /^could be 1\.200 or 1200/],
  ["Units", "1,234.56", /^must be a whole number/],
  ["Units", "0x10", /^must be a whole number/],
  ["Units", "NaN", /^must be a whole number/],
  ["Latitude", "(12.5)", -12.5],
  ["Latitude", "-12.5", -12.5],
  ["Latitude", "1e2", /^must be a number with all its digits/],
  ["Latitude", "inf", /^must be a number/],
  ["Latitude", "12°", /^must be a number/],
];

const cellOf = (column: Column, line: number, [changed, cell, , country = ""]: Case) => {
  if (column === changed) return cell;
  if (column === "Country") return country;
  return column === "Id" || column === "Name" ? `row ${line}` : "";
};

test("a messy table publishes no value that its author did not mean", async (t) => {
  const folder = temporaryFolder(t);
  const { start, text } = allCommands(join(folder, "data"));
  for (const [source, cases, more] of [
    ["comma", withDecimalComma, { decimal: "," }],
    ["undeclared", withoutDeclaration, {}],
  ] as const) {
    const file = join(folder, `${source}.csv`);
    const rows = cases.map((one, i) => columns.map((column) => cellOf(column, i + 2, one)));
    const lines = [columns, ...rows].map((cells) => `${cells.join(";")}\r\n`);
    writeFileSync(file, lines.join(""), "latin1");
    const map = join(folder, `${source}.json`);
    const raised = { column: "Raised (million)", multiply_by: 1e6 };
    const fields = Object.fromEntries(
      Object.entries(members).map(([column, member]) => [member, column]),
    );
    writeFileSync(
      map,
      JSON.stringify({
        encoding: "windows-1252",
        delimiter: ";",
        dates: ["YYYY-MM-DD", "YYYY-MM", "MM/DD/YYYY"],
        missing: ["TBD"],
        ...more,
        records: [
          { record: "project", id: "Id", fields: { ...fields, raised_amount_usd: raised } },
        ],
      }),
    );
    const args = ["import", "csv", file, "--map", map, "--source", source];
    const imported = await start(...args, "--max-rejected", "100%", "--json");
    const { rejections } = JSON.parse(imported.out);
    await text("export", "--format", "ndjson", "--kind", "project", "-o", folder);
    const published = readFileSync(join(folder, "project.ndjson"), "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line))
      .filter(({ provenance }) => provenance.source === source);
    for (const [i, [column, cell, becomes]] of cases.entries()) {
      const line = i + 2;
      const where = `${column} ${JSON.stringify(cell)} (${source})`;
      const record = published.find(({ name }) => name === `row ${line}`);
      const reasons = rejections.filter((one: any) => one.line === line);
      if (becomes instanceof RegExp) {
        assert.match(reasons.map(({ reason }: any) => reason).join("\n"), becomes, where);
        assert.equal(record, undefined, where);
      } else {
        assert.deepEqual(reasons, [], where);
        assert.equal(record[String(members[column])], becomes, where);
      }
    }
  }
});
