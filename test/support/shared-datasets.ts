/** Machines that share datasets in a database, and datasets to share. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { Catalogue } from "#datasets/catalogue.ts";
import { openCache } from "#datasets/dataset-cache.ts";
import type { Generation } from "#datasets/generation.ts";
import { openPostgresRemote } from "#datasets/postgres-remote.ts";
import { importRecords, temporaryCatalogue } from "./dataset.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** A machine with an empty cache. @param url of the database. */
export function machine(t: TestContext, url: string) {
  const dataDir = temporaryFolder(t);
  const cache = openCache(join(dataDir, "datasets"));
  const remote = openPostgresRemote(url, cache);
  t.after(() => remote.close());
  return { dataDir, cache, remote };
}

/** Publishes records in the database. */
export async function importShared(
  t: TestContext,
  url: string,
  records: readonly unknown[],
): Promise<void> {
  const { remote } = machine(t, url);
  const [{ path, generation }] = (await buildDatasets(t, records)) as [Built];
  await remote.push(path, generation, "added");
  await remote.publish(generation.version, null);
}

export interface Built {
  path: string;
  generation: Generation;
}

/** Datasets that nobody shares yet, one for each list of records, in files of their own. */
export async function buildDatasets(
  t: TestContext,
  ...deliveries: (readonly unknown[])[]
): Promise<Built[]> {
  const catalogue: Catalogue = temporaryCatalogue(t);
  const built: Built[] = [];
  for (const [i, records] of deliveries.entries()) {
    const nowMilliseconds = Date.UTC(2026, 10, i + 1, 3);
    const { published } = await importRecords(catalogue, records, { nowMilliseconds });
    const generation = { ...published!, published_at: null, published_after: null };
    built.push({ path: catalogue.pathOf(generation.version), generation });
  }
  return built;
}

/** GPs whose descriptions hardly shrink when compressed: some 1.3 KB each, so that a thousand take more than a part. */
export const bulkyGps = (count: number, seed = ""): object[] =>
  Array.from({ length: count }, (_, i) => ({
    record: "gp",
    id: `gp${i}`,
    name: `Bulky ${i}`,
    description: Array.from({ length: 20 }, (__, j) =>
      createHash("sha256").update(`${seed} ${i} ${j}`).digest("hex"),
    ).join(" "),
  }));
