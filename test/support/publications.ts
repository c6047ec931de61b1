/** A service over datasets that were published one after the other, with the steps between them. */
import assert from "node:assert/strict";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { openCatalogue } from "#datasets/catalogue.ts";
import { day } from "../datasets/published.ts";
import { importRecords, keepingSteps } from "./dataset.ts";
import { startService } from "./service.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** @param deliveries of a source, each published a day after the one before. */
export async function startPublished(t: TestContext, deliveries: readonly (readonly unknown[])[]) {
  const dataDir = temporaryFolder(t);
  const folder = openCatalogue(join(dataDir, "datasets"));
  const catalogue = keepingSteps(folder, (sentence) => assert.fail(sentence));
  const versions: string[] = [];
  for (const [i, records] of deliveries.entries()) {
    const order = { nowMilliseconds: day(i + 1), shrinkPercentMax: 100 };
    versions.push((await importRecords(catalogue, records, order)).published!.version);
  }
  const service = await startService(t, { records: null, dataDir });
  return { service, folder, catalogue, versions };
}
