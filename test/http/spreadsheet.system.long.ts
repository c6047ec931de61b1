import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { byteOrderMark } from "#csv.ts";
import { operations } from "#operations/index.ts";
import { recordColumns, type RecordMembers } from "#records/columns.ts";
import { gp, principal, project, signal } from "../datasets/published.ts";
import { cast } from "../support/cast.ts";
import {
  csvCutAtSemicolons,
  csvCutAtTabs,
  csvInUtf8,
  hasLibreOffice,
  openInLibreOffice,
} from "../support/libreoffice.ts";
import { startService } from "../support/service.ts";
import { readTable, type Row } from "../support/tables.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** What a spreadsheet might run, each where a person would look at it. */
const dangerous = [
  gp("f", { name: "=1+1 Realty", description: '=HYPERLINK("http://x","y")' }),
  gp("s", { name: "Realty;=1+1;x", legal_name: "\u00a0 =1+1 Realty" }),
  gp("t", { name: "Realty\t=1+1\tx", aliases: ["x", "=1+1", 'a;"=1+1'] }),
  gp("l", { name: "Re", description: "Two lines\n=1+1;x\t=2+2" }),
  gp("p", { name: "+1 Realty", aliases: ["@SUM(1)", "x"], aum_usd: 7_000_000 }),
  principal("d", ["f"], { name: "-2 Person", title: "=cmd|' /C calc'!A0" }),
  signal("m", {
    title: "@SUM(1+1)*cmd",
    summary: '\tTab, "quoted"\nand a second line',
    date: "2026-03",
    amount_usd: -4_500_000,
    gps: ["f"],
  }),
  project("n", {
    name: "-1 Société",
    address: "+49 30 1",
    city: "＝1+1",
    units: 12,
    latitude: -33.5,
    longitude: 151.25,
    gps: ["f"],
  }),
];

/** LibreOffice drops tabs from a cell of several lines. */
const withoutTabs = (text: string) => text.replaceAll("\t", "");

test("CSV of each operation opens in a spreadsheet with its rows and accents, numbers as numbers and no formula", async (t) => {
  if (!hasLibreOffice(t)) return;
  const service = await startService(t, { records: [...cast, ...dangerous] });
  const folder = temporaryFolder(t);
  const tables: { columns: string[]; rows: Row[]; records: RecordMembers[] }[] = [];
  const files: string[] = [];
  for (const { name, path } of operations) {
    const query = path === "/fetch-gp" ? "gp_name=re&limit=100" : "limit=100";
    const { text } = await service.get(`${path}?${query}`, { accept: "text/csv" });
    const file = join(folder, `${name}.csv`);
    writeFileSync(file, text);
    files.push(file);
    const { body } = await service.get(`${path}?${query}`);
    tables.push({ ...readTable(text), records: body.data });
  }
  const opened = await openInLibreOffice(t, files, csvInUtf8);
  let numbers = 0;
  for (const [i, { kind }] of operations.entries()) {
    const { columns, rows, records } = tables[i]!;
    const [heading, ...cells] = opened[i]![0]!.rows;
    const texts = heading!.map(({ text }) => text);
    assert.deepEqual(texts, columns);
    assert.equal(cells.length, rows.length);
    assert.ok(rows.length > 1);
    for (const [at, row] of rows.entries())
      for (const [column, name] of columns.entries()) {
        const cell = cells[at]![column] ?? { type: "empty", text: "", number: null, formula: null };
        const value = recordColumns[kind].find((one) => one.name === name)!.of(records[at]!);
        const expected = row[name] ?? "";
        const where = `${kind} ${name}: ${expected}`;
        assert.equal(cell.formula, null, where);
        if (expected === "") assert.equal(cell.type, "empty", where);
        else if (typeof value === "number") {
          assert.deepEqual([cell.type, cell.number], ["float", Number(expected)], where);
          numbers++;
        } else if (cell.type === "string")
          assert.equal(withoutTabs(cell.text), withoutTabs(expected), where);
        // Ids of others are made of digits, and a whole date is one to a spreadsheet, too.
        else assert.match(expected, cell.type === "date" ? /^\d{4}-\d{2}-\d{2}/ : /^\d+$/, where);
      }
  }
  assert.ok(numbers > 10);
  assert.ok(opened.flat().some(({ rows }) => rows.flat().some(({ text }) => /Société/.test(text))));
});

test("CSV that a spreadsheet cuts at semicolons or tabs runs no formula either", async (t) => {
  if (!hasLibreOffice(t)) return;
  const service = await startService(t, { records: dangerous });
  const { text } = await service.get("/fetch-gp?gp_name=re", { accept: "text/csv" });
  const file = join(temporaryFolder(t), "gps.csv");
  writeFileSync(file, text);
  for (const filter of [csvCutAtSemicolons, csvCutAtTabs]) {
    const [[sheet] = []] = await openInLibreOffice(t, [file], filter);
    const cells = sheet!.rows.flat();
    assert.ok(cells.some(({ text }) => text.includes("'=1+1")));
    assert.deepEqual(
      cells.filter(({ formula }) => formula !== null),
      [],
    );
  }
});

test("the mark at the beginning of a table that a page hands out is no part of its first cell, and what is not made harmless runs", async (t) => {
  if (!hasLibreOffice(t)) return;
  const file = join(temporaryFolder(t), "marked.csv");
  writeFileSync(file, `${byteOrderMark}name\r\nSociété 三井\r\n=1+1\r\n`);
  const [[sheet] = []] = await openInLibreOffice(t, [file], csvInUtf8);
  assert.deepEqual(
    sheet!.rows.flat().map(({ text, formula }) => [text, formula]),
    [
      ["name", null],
      ["Société 三井", null],
      ["2", "of:=1+1"],
    ],
  );
});
