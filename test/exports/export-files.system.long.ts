import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { crc32 } from "node:zlib";
import { hashFile } from "#datasets/dataset-hash.ts";
import { demoSize, inventRecords } from "#demo/invent.ts";
import { fileFormats, runExport, workbookFormat } from "#exports/run-export.ts";
import { fetches } from "#operations/fetches.ts";
import { operations } from "#operations/index.ts";
import { answer } from "#operations/page.ts";
import { readQuery } from "#operations/parameters.ts";
import { type RecordKind, recordKinds } from "#records/kinds.ts";
import { recordColumns } from "#records/columns.ts";
import { documents, gp, rows, signal } from "../datasets/published.ts";
import { hasOutside, importOutside } from "../outside/outside.ts";
import { awkwardRecords } from "../support/awkward.ts";
import { changeDataset } from "../support/damage.ts";
import { importRecords, openCurrent, temporaryCatalogue } from "../support/dataset.ts";
import { filledCells, readTable, rowOf } from "../support/tables.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

type Json = any;

async function dataset(t: TestContext, records: readonly unknown[]) {
  const catalogue = temporaryCatalogue(t);
  const { published, collected } = await importRecords(catalogue, records);
  assert.ok(published, JSON.stringify(collected.rejections.listed));
  const folder = temporaryFolder(t);
  const run = (
    format: (typeof fileFormats)[number] | typeof workbookFormat,
    signal?: AbortSignal,
  ) =>
    runExport(
      {
        path: catalogue.pathOf(published.version),
        generation: published,
        kinds: recordKinds,
        format,
        folder,
        licence: null,
      },
      signal,
    );
  const pathOf = (kind: RecordKind, format: string) => join(folder, `${kind}.${format}`);
  const lines = (kind: RecordKind) =>
    readFileSync(pathOf(kind, "ndjson"), "utf8").split("\n").slice(0, -1);
  return { catalogue, folder, run, pathOf, lines, published };
}

const awkward = () =>
  awkwardRecords(20261123, { gps: 60, principals: 350, signals: 350, projects: 60 });

const hundredFunds = Array.from({ length: 100 }, (_, i) => ({
  name: `Fund ${i}`,
  sold_usd: i * 1e6,
}));

/** Enough of one kind for more than one row group of Parquet. */
const invented = () =>
  [...inventRecords({ ...demoSize, gps: 500, principals: 9000, signals: 400, projects: 300 })]
    .flatMap(({ records }) => records)
    .map((record) => record as unknown);

test("a line of NDJSON has a record byte for byte as the API has it in data, crowded GPs included", async (t) => {
  const { catalogue, run, lines, published } = await dataset(t, awkward());
  await run("ndjson");
  const model = openCurrent(catalogue);
  let crowded = 0;
  for (const operation of Object.values(fetches)) {
    const ofKind = lines(operation.kind);
    assert.equal(ofKind.length, published.records[operation.kind]);
    const dataOf = (text: string) => {
      const query = readQuery(operation, text, 1000, operations);
      return /^\{"data":\[(.*)\],"pagination":\{"limit".*$/s.exec(
        answer(operation, model, query).body.toString(),
      )![1]!;
    };
    if (operation.kind !== "gp") assert.equal(ofKind.join(","), dataOf("limit=1000"));
    else
      for (const line of ofKind) {
        const { id, signals_total: total } = JSON.parse(line) as Json;
        assert.equal(line, dataOf(`gp_name=${id}`));
        if (total > 100) crowded++;
      }
  }
  assert.ok(crowded > 0);
});

test("a dataset made before GPs had funds serves and exports them without any, and the next import writes so", async (t) => {
  const { catalogue, run, lines, pathOf, published } = await dataset(t, [gp("a")]);
  const members = ',"funds":[],"funds_total":0';
  const [{ document } = {}] = rows(catalogue, "select document from gp");
  // Spaces, so that lengths stay right.
  const older = document.replace(members, " ".repeat(members.length));
  assert.notEqual(older, document);
  const checksum = crc32(older).toString(16).padStart(8, "0");
  changeDataset(
    catalogue,
    published.version,
    `update gp set document = '${older}';
     update meta set value = '${checksum}' where key = 'documents_crc32'`,
  );
  Object.assign(published, hashFile(catalogue.pathOf(published.version)));
  const model = openCurrent(catalogue);
  const query = readQuery(fetches.gp, `gp_name=${JSON.parse(older).id}`, 100, operations);
  const { data } = JSON.parse(answer(fetches.gp, model, query).body.toString());
  assert.deepEqual([data[0].funds, data[0].funds_total], [[], 0]);
  for (const format of [...fileFormats, workbookFormat] as const) await run(format);
  assert.deepEqual(
    lines("gp").map((line) => JSON.parse(line)),
    data,
  );
  const [row] = readTable(readFileSync(pathOf("gp", "csv"), "utf8")).rows;
  assert.equal(row!["funds_total"], "0");
  await importRecords(catalogue, [gp("b")], { source: "other" });
  for (const { funds, funds_total } of documents(catalogue, "gp"))
    assert.deepEqual([funds, funds_total], [[], 0]);
});

test("what is said of a file is true, its name appears with the whole of it, and the same dataset gives the same bytes", async (t) => {
  const { run, folder } = await dataset(t, awkward());
  for (const format of [...fileFormats, workbookFormat] as const) {
    const files = await run(format);
    for (const { file, bytes, sha256 } of files) {
      const content = readFileSync(file);
      assert.equal(content.length, bytes);
      assert.equal(createHash("sha256").update(content).digest("hex"), sha256);
      assert.equal(statSync(file).mode & 0o777, 0o600);
    }
    assert.deepEqual(await run(format), files);
  }
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.endsWith(".tmp")),
    [],
  );
});

test("an export that fails or is stopped leaves the file that was there", async (t) => {
  const { run, pathOf } = await dataset(t, awkward());
  writeFileSync(pathOf("gp", "csv"), "mine");
  const stop = new AbortController();
  const stopped = run("csv", stop.signal);
  stop.abort();
  await assert.rejects(stopped, /stopped before it was complete/);
  assert.equal(readFileSync(pathOf("gp", "csv"), "utf8"), "mine");
  mkdirSync(pathOf("gp", "parquet"));
  await assert.rejects(
    run("parquet"),
    (error: NodeJS.ErrnoException) => error.syscall === "rename",
  );
});

test("CSV has what JSON says of every record under its columns, in the order of NDJSON", async (t) => {
  const { run, pathOf, lines } = await dataset(t, awkward());
  await run("ndjson");
  await run("csv");
  for (const kind of recordKinds) {
    const { columns, rows } = readTable(readFileSync(pathOf(kind, "csv"), "utf8"));
    assert.deepEqual(
      columns,
      recordColumns[kind].map(({ name }) => name),
    );
    assert.deepEqual(
      rows,
      lines(kind).map((line) => filledCells(rowOf(JSON.parse(line)))),
    );
  }
});

/** A record as Parquet has it: text, numbers and lists, with what is not known left out. */
function comparable(value: Json): Json {
  if (typeof value === "bigint") return Number(value);
  if (value instanceof Date) return value.toISOString().replace(".000Z", "Z");
  if (Array.isArray(value)) return value.map(comparable);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => inner !== null && inner !== undefined)
      .map(([name, inner]) => [name, comparable(inner)]),
  );
}

test("Parquet is read back by hyparquet with every member of every record, over several row groups", async (t) => {
  if (!hasOutside(t, "hyparquet")) return;
  const { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } =
    await importOutside<Json>("hyparquet");
  const { run, pathOf, lines, published } = await dataset(t, [
    ...invented(),
    ...awkwardRecords(7, { gps: 40, principals: 60, signals: 60, projects: 30 }),
    ...Array.from({ length: 45 }, (_, i) => gp(`crowded ${i}`, { funds: hundredFunds })),
  ]);
  await run("ndjson");
  await run("parquet");
  for (const kind of recordKinds) {
    const file = await asyncBufferFromFile(pathOf(kind, "parquet"));
    const metadata = await parquetMetadataAsync(file);
    assert.equal(Number(metadata.num_rows), published.records[kind]);
    const rows = (await parquetReadObjects({ file })) as Json[];
    const expected = lines(kind).map((line) => {
      const { principals: _, signals: __, ...own } = JSON.parse(line) as Json;
      return own;
    });
    assert.deepEqual(rows.map(comparable), expected.map(comparable));
    // Funds count too: there may be a hundred times as many as GPs.
    if (["gp", "principal"].includes(kind)) assert.ok(metadata.row_groups.length > 1);
  }
});

test("Parquet of thousands of the longest texts needs no more memory than there is", async (t) => {
  const summary = "ж".repeat(10_000);
  const signals = Array.from({ length: 4500 }, (_, i) => signal(`s${i}`, { summary }));
  await (await dataset(t, signals)).run("parquet");
});

test("DuckDB reads Parquet without a hint: types, counts and sums are those of NDJSON, and the query in the docs finds something", async (t) => {
  if (!hasOutside(t, "@duckdb/node-api")) return;
  const { DuckDBInstance } = await importOutside<Json>("@duckdb/node-api");
  const { folder, run, pathOf, lines } = await dataset(t, invented());
  await run("ndjson");
  await run("parquet");
  const instance = await DuckDBInstance.create(":memory:");
  const connection = await instance.connect();
  t.after(() => {
    connection.closeSync();
    instance.closeSync();
  });
  const rows = async (sql: string): Promise<Json[][]> =>
    (await connection.runAndReadAll(sql)).getRowsJson();
  const typesOf = async (kind: RecordKind) =>
    Object.fromEntries(
      (await rows(`describe select * from '${pathOf(kind, "parquet")}'`)).map(([name, type]) => [
        name,
        type,
      ]),
    );
  const gp = await typesOf("gp");
  assert.equal(gp["aum_usd"], "BIGINT");
  assert.equal(gp["updated_at"], "TIMESTAMP WITH TIME ZONE");
  assert.equal(gp["tags"], "VARCHAR[]");
  assert.match(gp["external_ids"], /^STRUCT\(cik VARCHAR\[\], crd VARCHAR\[\]/);
  const project = await typesOf("project");
  assert.equal(project["latitude"], "DOUBLE");
  assert.match(project["gps"], /^STRUCT\(id VARCHAR, "?name"? VARCHAR\)\[\]$/);
  for (const [kind, column] of [
    ["gp", "aum_usd"],
    ["signal", "amount_usd"],
    ["project", "total_amount_usd"],
    ["principal", "len(gps)"],
  ] as const) {
    const records = lines(kind).map((line) => JSON.parse(line) as Json);
    const sum = records.reduce(
      (total, record) =>
        total + BigInt(record[column] ?? (kind === "principal" ? record.gps.length : 0)),
      0n,
    );
    assert.deepEqual(
      await rows(
        `select count(*), sum(${column}), count(distinct id) from '${pathOf(kind, "parquet")}'`,
      ),
      [[String(records.length), String(sum), String(records.length)]],
    );
  }
  await rows(`set file_search_path = '${folder}'`);
  const [, sample] = /```sql\n([\s\S]+?)```/.exec(readFileSync("docs/exports.md", "utf8"))!;
  const [first] = await rows(sample!);
  assert.equal(first!.length, 3);
  const example = await rows(readFileSync("examples/capital-by-gp.sql", "utf8"));
  const offered = lines("signal")
    .map((line) => JSON.parse(line) as Json)
    .filter((signal) => signal.amount_basis === "offering_total" && signal.amount_usd !== null);
  const totals = new Map<string, number>();
  for (const { gps, amount_usd } of offered)
    for (const { id } of gps) totals.set(id, (totals.get(id) ?? 0) + amount_usd);
  const most = [...totals.values()].toSorted((a, b) => b - a).slice(0, 20);
  assert.ok(most.length > 0);
  const found = example.slice(0, most.length).map((row) => Number(row[3]));
  assert.deepEqual(found, most);
});
