/** Datasets whose files are not what was written. */
import assert from "node:assert/strict";
import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openCatalogue } from "#datasets/catalogue.ts";
import { timeOf } from "#datasets/format.ts";
import { cast } from "../../support/cast.ts";
import { importRecords } from "../../support/dataset.ts";
import { assertProblem } from "../../support/problem-answer.ts";
import { ask } from "../../support/raw-client.ts";
import { startService } from "../../support/service.ts";
import { settles } from "../../support/still-well.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

export function damagedDatasetCases(): void {
  test("C62 · a dataset cut in half, empty or a text file is a 503 and a line of the log with its path, until it is mended", async (t) => {
    const dataDir = temporaryFolder(t);
    const catalogue = openCatalogue(join(dataDir, "datasets"));
    await importRecords(catalogue, cast);
    const { version, bytes } = catalogue.current()!;
    const path = catalogue.pathOf(version);
    const sound = readFileSync(path);
    truncateSync(path, Math.floor(bytes / 2));
    const { port, key, log } = await startService(t, { dataDir, records: null });
    const get = () => ask(port, "/fetch-gp?gp_name=kkr", { key });
    const faults = () => log.filter((line) => line.includes('"dataset cannot be served"'));
    const damages = ["", "This is no dataset.\n".repeat(500)];
    for (let told = 1; ; told++) {
      await settles(() => faults().length >= told);
      assert.equal(faults().length, told);
      assert.ok(faults().at(-1)!.includes(path));
      assert.equal(assertProblem(await get(), 503, "unavailable").reason, "no_dataset");
      const damage = damages.shift();
      writeFileSync(path, damage ?? sound);
      // Published anew, so that it is tried anew.
      catalogue.publish(version, timeOf(Date.parse("2026-12-01T00:00:00Z") + told * 1000));
      if (damage === undefined) break;
    }
    await settles(() => log.some((line) => line.includes('"dataset is served"')));
    assert.equal((await get()).status, 200);
  });
}
