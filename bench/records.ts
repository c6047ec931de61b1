/** Files of invented records, since an import is what a checkout of any age understands. */
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { finished } from "node:stream/promises";
import { demoSize, inventRecords, recordCount } from "#demo/invent.ts";
import type { CanonicalGp } from "#records/canonical.ts";

export interface RecordsFile {
  path: string;
  count: number;
  gps: CanonicalGp[];
}

const demoCount = recordCount(demoSize);

/** Writes about `wanted` canonical records, in the demo's proportions, as NDJSON. */
export async function writeRecords(
  path: string,
  wanted: number,
  seed = demoSize.seed,
): Promise<RecordsFile> {
  const share = (kind: number) => Math.max(1, Math.round((kind * wanted) / demoCount));
  const size = {
    seed,
    gps: share(demoSize.gps),
    principals: share(demoSize.principals),
    signals: share(demoSize.signals),
    projects: share(demoSize.projects),
  };
  const file = createWriteStream(path);
  const gps: CanonicalGp[] = [];
  let count = 0;
  for (const { records } of inventRecords(size))
    for (const record of records) {
      if (record.record === "gp") gps.push(record);
      count++;
      if (!file.write(`${JSON.stringify(record)}\n`)) await once(file, "drain");
    }
  file.end();
  await finished(file);
  return { path, count, gps };
}
