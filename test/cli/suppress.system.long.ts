import assert from "node:assert/strict";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { exitCodes } from "#cli/command-fault.ts";
import { mainPath, outcomeOf } from "../support/command-line.ts";
import { eventually } from "../support/eventually.ts";
import { freshDatabase, onPostgres } from "../support/postgres.ts";
import { startService } from "../support/service.ts";
import { later, openPlace, openWorld, placesOf } from "../support/suppressed.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const preload = import.meta.resolve("../support/kill-at-change.ts");
const order = ["suppress", "add", "Jane Roe", "--reason", "asked"];
/** More changes of files than the command makes. */
const changesMax = 60;

test("a command that is killed at any change of a file is finished by the next one, whichever it is", async (t) => {
  const place = { dataDir: temporaryFolder(t), databaseUrl: null };
  const { current, pinned } = await openWorld(t, place);
  const exports = join(place.dataDir, "datasets/exports", pinned);
  mkdirSync(exports, { recursive: true });
  writeFileSync(join(exports, "principal.ndjson"), '{"name":"Jane Roe"}\n');
  for (let i = 0; i < changesMax; i++) {
    const dataDir = temporaryFolder(t);
    cpSync(place.dataDir, dataDir, { recursive: true });
    const environment = { ...process.env, DATA_DIR: dataDir, KILL_AT: String(i) };
    const command = ["--import", preload, mainPath, ...order];
    const { exitCode, err } = await outcomeOf(process.execPath, command, environment);
    const copy = openPlace({ dataDir, databaseUrl: null }, temporaryFolder(t));
    if (exitCode === 0) {
      assert.ok(i > 10);
      return assert.deepEqual(await placesOf(t, copy), ["suppression"]);
    }
    assert.deepEqual([exitCode, err], [null, ""]);
    const next = [
      () => copy.importOf(later),
      () => copy.text(order.slice(0, 2).join(" "), ...order.slice(2)),
      () => copy.refusal(exitCodes.conflict, "datasets publish", current),
    ];
    await next[i % next.length]!();
    assert.deepEqual(await placesOf(t, copy), ["suppression"], `killed before change ${i}`);
    const [{ applied_at, number }, ...others] = await copy.json("suppress list");
    assert.deepEqual([number, others], [1, []]);
    assert.notEqual(applied_at, null);
  }
  assert.fail("the command never came to its end");
});

onPostgres("no machine of a database keeps whoever another one has suppressed", async (t) => {
  const databaseUrl = await freshDatabase(t);
  const folders = [temporaryFolder(t), temporaryFolder(t), temporaryFolder(t)] as const;
  const { pinned } = await openWorld(t, { dataDir: folders[0], databaseUrl });
  const [one, other, idle] = folders.map((dataDir) =>
    openPlace({ dataDir, databaseUrl }, temporaryFolder(t)),
  ) as [ReturnType<typeof openPlace>, ReturnType<typeof openPlace>, ReturnType<typeof openPlace>];
  const settings = { EXPORTS: "on" };
  const services = [
    await startService(t, { records: null, place: one, settings }),
    await startService(t, { records: null, place: other, settings }),
  ];
  // A machine without a server has copies of what its commands have read.
  await idle.text("export --format ndjson --output", temporaryFolder(t), "--version", pinned);
  for (const service of services)
    await eventually(async () => {
      const { text } = await service.get("/list-principals");
      assert.match(text, /Jane Roe/);
      assert.equal((await service.get(`/exports/${pinned}/principal.csv`)).status, 200);
    }, 60_000);
  for (const { dataDir } of [one, other, idle])
    assert.ok((await placesOf(t, { dataDir, databaseUrl: null })).length > 0, dataDir);

  await one.text("suppress add", "Jane Roe", "--reason", "asked");
  for (const [i, service] of services.entries())
    await eventually(async () => {
      assert.ok(!/Jane Roe/.test((await service.get("/list-principals")).text));
      const { dataDir } = [one, other][i]!;
      assert.deepEqual(await placesOf(t, { dataDir, databaseUrl: null }), []);
    }, 60_000);
  await idle.refusal(exitCodes.conflict, "datasets publish", pinned);
  assert.deepEqual(await placesOf(t, { dataDir: idle.dataDir, databaseUrl: null }), []);
  assert.deepEqual(await placesOf(t, { dataDir: idle.dataDir, databaseUrl }), ["suppression"]);
});
