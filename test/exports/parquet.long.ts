import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { idPrefixes } from "#datasets/format.ts";
import { writeRecords } from "../../bench/records.ts";
import { hasOutside, importOutside } from "../outside/outside.ts";
import { commandDone } from "../support/command-line.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** A number of each kind that can be added up. */
const summed = {
  gp: "aum_usd",
  principal: null,
  signal: "amount_usd",
  project: "total_amount_usd",
} as const;
const kinds = Object.keys(idPrefixes) as (keyof typeof summed)[];

for (const factor of [1, 10])
  test(`Parquet of ${65 * factor},000 records has the counts and sums of NDJSON, to DuckDB and to hyparquet`, async (t) => {
    if (!hasOutside(t, "hyparquet") || !hasOutside(t, "@duckdb/node-api")) return;
    const { asyncBufferFromFile, parquetReadObjects } = await importOutside<any>("hyparquet");
    const { DuckDBInstance } = await importOutside<any>("@duckdb/node-api");
    const dataDir = temporaryFolder(t);
    const folder = temporaryFolder(t);
    const { path, count } = await writeRecords(join(dataDir, "all.ndjson"), 65_000 * factor);
    await commandDone(dataDir, "import", "ndjson", path, "--source", "invented");
    for (const format of ["ndjson", "parquet"])
      await commandDone(dataDir, "export", "--format", format, "--output", folder);
    const connection = await (await DuckDBInstance.create(":memory:")).connect();
    t.after(() => connection.closeSync());
    let records = 0;
    for (const kind of kinds) {
      const file = join(folder, kind);
      const of = async (source: string) => {
        const sum = summed[kind] === null ? "0" : `sum(${summed[kind]})`;
        const sql = `select count(*)::varchar, count(distinct id)::varchar, (${sum})::varchar from ${source}`;
        return (await connection.runAndReadAll(sql)).getRowsJson()[0] as string[];
      };
      const lines = await of(`read_ndjson('${file}.ndjson', maximum_object_size = 100000000)`);
      assert.deepEqual(await of(`'${file}.parquet'`), lines, kind);
      const columns = ["id", ...(summed[kind] === null ? [] : [summed[kind]])];
      const rows = (await parquetReadObjects({
        file: await asyncBufferFromFile(`${file}.parquet`),
        columns,
      })) as Record<string, bigint | string | null>[];
      const sum = rows.reduce((total, row) => total + BigInt(row[columns[1] ?? ""] ?? 0), 0n);
      const ids = new Set(rows.map(({ id }) => id)).size;
      assert.deepEqual([rows.length, ids, sum].map(String), lines, kind);
      records += rows.length;
    }
    assert.equal(records, count);
  });
