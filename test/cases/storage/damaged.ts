/** Datasets whose files are not what was written. */
import assert from "node:assert/strict";
import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openCatalogue } from "#datasets/catalogue.ts";
import { DatasetFault } from "#datasets/dataset-fault.ts";
import { timeOf } from "#datasets/format.ts";
import { loadGeneration } from "#datasets/load.ts";
import { operations } from "#operations/index.ts";
import { answer } from "#operations/page.ts";
import { readQuery } from "#operations/parameters.ts";
import type { DatasetParts } from "#search/dataset-parts.ts";
import { openReadModel } from "#search/read-model.ts";
import { cast } from "../../support/cast.ts";
import { flipByte } from "../../support/damage.ts";
import { importRecords, temporaryCatalogue } from "../../support/dataset.ts";
import { randomFrom } from "../../support/limits-random.ts";
import { assertProblem } from "../../support/problem-answer.ts";
import { ask } from "../../support/raw-client.ts";
import { startService } from "../../support/service.ts";
import { settles } from "../../support/still-well.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const names = ["re", "northwind", "三井"];

/** Every page there is without a name, and some searches. */
function everyAnswer(parts: DatasetParts): string[] {
  const model = openReadModel(parts);
  return operations.flatMap((operation) =>
    [...(operation.filters.gp_name?.isRequired ? [] : [""]), ...names].map((name) => {
      const query = name === "" ? "limit=100" : `limit=100&gp_name=${encodeURIComponent(name)}`;
      return answer(operation, model, readQuery(operation, query, 100, operations)).body.toString();
    }),
  );
}

export function damagedDatasetCases(): void {
  test("C62 · a dataset with one byte flipped, in ten places, is refused or gives every answer as it was (hundreds: npm run faults)", async (t) => {
    const catalogue = temporaryCatalogue(t);
    await importRecords(catalogue, cast);
    const generation = catalogue.current()!;
    const path = catalogue.pathOf(generation.version);
    const right = everyAnswer(loadGeneration(path, generation));
    const random = randomFrom(62);
    let refused = 0;
    for (let i = 0; i < 10; i++) {
      const at = random.between(0, generation.bytes - 1);
      flipByte(path, at);
      try {
        assert.deepEqual(everyAnswer(loadGeneration(path, generation)), right);
      } catch (error) {
        assert.ok(error instanceof DatasetFault, String(error));
        refused++;
      }
      flipByte(path, at);
    }
    assert.ok(refused > 0 && refused < 10, `${refused} of 10 were refused`);
  });

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
