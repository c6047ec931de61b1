/** Files of invented records to import, as large as an attempt wants them. */
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { finished } from "node:stream/promises";
import { demoSize, inventRecords } from "#demo/invent.ts";

const demoCount = demoSize.gps + demoSize.principals + demoSize.signals + demoSize.projects;

/** Writes about `count` canonical records, in the demo's proportions, as NDJSON. */
export async function writeRecords(path: string, count: number, seed: number): Promise<void> {
  const share = (kind: number) => Math.max(1, Math.round((kind * count) / demoCount));
  const size = {
    seed,
    gps: share(demoSize.gps),
    principals: share(demoSize.principals),
    signals: share(demoSize.signals),
    projects: share(demoSize.projects),
  };
  const file = createWriteStream(path);
  for (const { records } of inventRecords(size))
    for (const record of records)
      if (!file.write(`${JSON.stringify(record)}\n`)) await once(file, "drain");
  file.end();
  await finished(file);
}
