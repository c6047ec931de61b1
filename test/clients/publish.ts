/** Publishes beside a running service of a test, or goes back, and tells what is served. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { openCatalogue } from "#datasets/catalogue.ts";
import { signal } from "../datasets/published.ts";
import { cast } from "../support/cast.ts";
import { importRecords, keepingSteps, rollBack } from "../support/dataset.ts";
import { eventually } from "../support/eventually.ts";
import type { TestService } from "../support/service.ts";

/** Waits until it is served. @returns its version. */
export async function publish(
  service: TestService,
  records: readonly unknown[] | "roll back",
  source = "own",
) {
  const catalogue = keepingSteps(openCatalogue(join(service.dataDir, "datasets")), assert.fail);
  service.clock.advance(1);
  const nowMilliseconds = service.clock.now();
  if (records === "roll back") await rollBack(catalogue, nowMilliseconds);
  else await importRecords(catalogue, records, { source, nowMilliseconds });
  const version = catalogue.currentVersion()!;
  const { key } = await service.newKey();
  await eventually(async () => {
    const { headers } = await service.get("/fetch-signals?limit=1", { "x-api-key": key });
    assert.equal(headers.get("dataset-version"), version);
  });
  return version;
}
const gps = cast.filter((one) => one.record === "gp");

/** The cast with `count` signals more, and something of every GP's. */
export const records = (count: number, title = "A fund closes") => [
  ...cast,
  ...Array.from({ length: count }, (_, i) =>
    signal(`more-${i}`, {
      title: `${title}, number ${i}`,
      date: "2026-11-19",
      gps: [gps[i % gps.length]!.id],
    }),
  ),
];

/** All that is served now, read with a key of its own and by nothing of the clients. */
export async function servedBy(service: TestService) {
  const { key } = await service.newKey({ quotas: { minute: 1000 } });
  let version = "";
  const read = async (list: string) => {
    const found: { id: string }[] = [];
    for (let offset: number | null = 0; offset !== null;) {
      const path = `/list-${list}?limit=100&offset=${offset}`;
      const { body } = await service.get(path, { "x-api-key": key });
      for (const { principals_total: _, signals_total: __, ...record } of body.data)
        found.push(record);
      version = body.meta.dataset_version;
      offset = body.pagination.next_offset;
    }
    return found.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  };
  const records = {
    gp: await read("gps"),
    principal: await read("principals"),
    signal: await read("signals"),
    project: await read("projects"),
  };
  return { version, records };
}
