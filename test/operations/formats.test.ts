import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { formats } from "#operations/formats.ts";
import { operations } from "#operations/index.ts";
import { readQuery } from "#operations/parameters.ts";
import { recordColumns } from "#records/columns.ts";
import { recordKinds } from "#records/kinds.ts";
import type { ReadModel } from "#search/read-model.ts";
import { gp, principal, project, signal } from "../datasets/published.ts";
import { hasOutside, outsideCommand } from "../outside/outside.ts";
import { cast } from "../support/cast.ts";
import { modelOf } from "../support/dataset.ts";
import { heapBytes } from "../support/heap-bytes.ts";
import { filledCells, readTable, rowOf } from "../support/tables.ts";

/** One page in each format, as text. */
function pageOf(model: ReadModel, path: string, text: string) {
  const operation = operations.find((one) => one.path === path)!;
  const query = readQuery(operation, text, 100, operations);
  const [page, lines, table] = formats.map((format) => {
    const { body, total } = format.write(operation, model, query);
    return { text: body.toString(), total };
  });
  return { operation, page: page!, lines: lines!, table: table! };
}

function assertSamePage(model: ReadModel, path: string, text: string): number {
  const { operation, page, lines, table } = pageOf(model, path, text);
  const { data, pagination } = JSON.parse(page.text);
  // JSON escapes line breaks: those of the text are between the members of `data`, and behind the last.
  const members = lines.text.split("\n").slice(0, -1);
  assert.equal(members.length, data.length);
  assert.ok(page.text.startsWith(`{"data":[${members.join()}],"pagination":`));

  const { columns, rows } = readTable(table.text);
  const names = recordColumns[operation.kind].map(({ name }) => name);
  assert.deepEqual(
    columns,
    // A GP in a list comes without its principals and signals.
    operation.name === "list-gps"
      ? names.filter((name) => !["principals.name", "signals.title"].includes(name))
      : names,
  );
  assert.deepEqual(
    rows,
    data.map((record: object) => filledCells(rowOf(record))),
  );
  assert.ok(table.text.endsWith("\r\n"));
  assert.equal(pagination.returned, data.length);
  for (const { total } of [page, lines, table]) assert.equal(total, pagination.total);
  return data.length;
}

/** Texts that mean something to JSON, to CSV or to a spreadsheet. */
const awkward = fc
  .array(
    fc.oneof(
      fc.constantFrom("=", "+", "-", "@", "\t", "\n", "\r", '"', "'", ",", ";", "; ", "\\", "é"),
      fc
        .string({ unit: "grapheme", minLength: 1 })
        .filter((one) => !/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/.test(one)),
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map((parts) => parts.join(""));
/** With a word by which all are found. */
const label = awkward.map((one) => `${[...one].slice(0, 60).join("")} aa`);
const amount = fc.oneof(fc.maxSafeInteger(), fc.constantFrom(0, -1, -4_500_000));

const records = fc
  .array(
    fc.record({
      name: label,
      text: awkward,
      labels: fc.array(label, { maxLength: 3 }),
      amount,
      latitude: fc.double({ min: -90, max: 90, noNaN: true }),
    }),
    { minLength: 1, maxLength: 12 },
  )
  .map((all) =>
    all.flatMap(({ name, text, labels, amount, latitude }, i) => {
      const external_ids = { cik: [[...text].slice(0, 20).join("")], other: [] };
      return [
        gp(`${i}`, { name, description: text, tags: labels, aliases: labels }),
        principal(`${i}`, [`${i}`, "0"], { name, title: text }),
        signal(`${i}`, { title: text, amount_usd: amount, gps: ["0"] }),
        project(`${i}`, { name, address: text, latitude, external_ids, gps: [] }),
      ];
    }),
  );

test("whatever stands in a record, CSV reads back as JSON says it, and a line of NDJSON is one record", async (t) => {
  await fc.assert(
    fc.asyncProperty(records, async (all) => {
      const model = await modelOf(t, all);
      for (const { path } of operations) {
        const query = path === "/fetch-gp" ? "gp_name=aa&limit=100" : "limit=100";
        assert.equal(assertSamePage(model, path, query), all.length / recordKinds.length);
      }
    }),
    { numRuns: 25 },
  );
});

test("a page without records is no line of NDJSON, and the heading alone in CSV", async (t) => {
  const model = await modelOf(t, cast);
  for (const { path } of operations) {
    const { lines, table } = pageOf(model, path, "gp_name=nobody");
    assert.equal(lines.text, "");
    assert.match(table.text, /^id,[^\r\n]+\r\n$/);
  }
});

test("principals and signals of a GP are names, titles and true totals in CSV, though only a hundred are embedded", async (t) => {
  const model = await modelOf(t, [
    gp("g", { name: "Crowd Capital" }),
    ...Array.from({ length: 103 }, (_, i) => principal(`P ${String(i).padStart(3, "0")}`, ["g"])),
    signal("s", { title: "=Opened, with a party", gps: ["g"] }),
  ]);
  const [row] = readTable(pageOf(model, "/fetch-gp", "gp_name=crowd").table.text).rows;
  const names = row!["principals.name"]!.split("; ");
  assert.deepEqual([names.length, names[0], names[99]], [100, "P 000", "P 099"]);
  assert.equal(row!["principals_total"], "103");
  assert.equal(row!["signals.title"], "'=Opened, with a party");
  assert.equal(row!["signals_total"], "1");
});

test("a GP has its largest funds in every format, and in lists too", async (t) => {
  const all = Array.from({ length: 103 }, (_, i) => ({ name: `Fund ${i}`, sold_usd: i }));
  const funds = [{ name: "Fund A" }, ...all, { name: "Fund B", gross_assets_usd: 50 }];
  const model = await modelOf(t, [
    gp("a", { name: "Acme Capital", funds, funds_total: 7 }),
    gp("b", { name: "Birch Capital" }),
  ]);
  for (const [path, query] of [
    ["/fetch-gp", "gp_name=capital"],
    ["/list-gps", "sort=name"],
  ] as const) {
    assert.equal(assertSamePage(model, path, query), 2);
    const { page, table } = pageOf(model, path, query);
    const [acme, birch] = JSON.parse(page.text).data;
    assert.equal(acme.funds_total, 105);
    assert.equal(acme.funds.length, 100);
    const names = acme.funds.map(({ name }: { name: string }) => name);
    const at = names.indexOf("Fund B");
    assert.deepEqual(
      [names[0], ...names.slice(at - 1, at + 2)],
      ["Fund 102", "Fund 50", "Fund B", "Fund 49"],
    );
    const { gross_assets_usd: assets, sold_usd: sold, external_ids: ids } = acme.funds[at];
    assert.deepEqual([assets, sold, ids], [50, null, {}]);
    assert.deepEqual([birch.funds, birch.funds_total], [[], 0]);
    const [row] = readTable(table.text).rows;
    assert.equal(row!["funds.name"], names.join("; "));
    assert.equal(row!["funds_total"], "105");
  }
});

test("a dataset whose GPs were answered is freed once nothing refers to it", async (t) => {
  const documents = await modelOf(t, cast).then((model) => {
    pageOf(model, "/fetch-gp", "gp_name=stone");
    return new WeakRef(model.parts.documents.gp);
  });
  await setImmediate();
  heapBytes();
  assert.ok(documents.deref() === undefined);
});

test("a document beyond 4 GiB is read on the library's Node, too", (t) => {
  if (!hasOutside(t, "node-24")) return;
  const program = `import { recordText } from "#operations/page.ts";
const bytes = new Uint8Array(2 ** 32 + 2).fill(0x40, 2 ** 32), project = { bytes, starts: [2 ** 32], lengths: [2] };
process.stdout.write(recordText({ documents: { project } }, "project", 0, true));`;
  const args = ["--input-type=module", "--eval", program];
  const { stdout, stderr } = spawnSync(outsideCommand("node"), args, { encoding: "utf8" });
  assert.equal(stdout, "@@", stderr);
});
