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
export async function publish(service: TestService, records: readonly unknown[] | "roll back") {
  const folder = openCatalogue(join(service.dataDir, "datasets"));
  const catalogue = keepingSteps(folder, (sentence) => assert.fail(sentence));
  service.clock.advance(1);
  const nowMilliseconds = service.clock.now();
  if (records === "roll back") await rollBack(catalogue, nowMilliseconds);
  else await importRecords(catalogue, records, { nowMilliseconds });
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

const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);

/** All that is served now, read with a key of its own and by nothing of the clients. */
export async function servedBy(service: TestService) {
  const { key } = await service.newKey({ quotas: { minute: 1000 } });
  const read = async (path: string) => {
    const data: any[] = [];
    const versions = new Set<string>();
    for (let next = `${path}limit=100`; next !== "";) {
      const { body } = await service.get(next, { "x-api-key": key });
      data.push(...body.data);
      versions.add(body.meta.dataset_version);
      const { next_offset: offset } = body.pagination;
      next = offset === null ? "" : `${path}limit=100&offset=${offset}`;
    }
    return { data, versions };
  };
  const found = new Map<string, object>();
  for (const { name } of gps)
    for (const gp of (await read(`/fetch-gp?gp_name=${encodeURIComponent(name)}&`)).data) {
      for (const list of ["principals", "principals_total", "signals", "signals_total"])
        delete gp[list];
      found.set(gp.id, gp);
    }
  const [principal, signal, project] = [
    await read("/fetch-principals?"),
    await read("/fetch-signals?"),
    await read("/fetch-projects?"),
  ];
  const [version] = signal.versions;
  return {
    version,
    records: {
      gp: [...found.values()].toSorted(byId as never),
      principal: principal.data.toSorted(byId),
      signal: signal.data.toSorted(byId),
      project: project.data.toSorted(byId),
    },
  };
}
