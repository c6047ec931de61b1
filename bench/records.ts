/** The demo's invented records as files, since an import is what a checkout of any age understands. */
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { demoSize, inventRecords, type DemoSize } from "#demo/invent.ts";
import type { CanonicalGp } from "#records/canonical.ts";

/** Under which name they are imported; public ids are made from it. */
export const benchSource = "bench";

/** @param factor 1 gives 65,000 records, 10 ten times as many of every kind. */
export function sizeTimes(factor: number, seed = demoSize.seed): DemoSize {
  const { gps, principals, signals, projects } = demoSize;
  return {
    seed,
    gps: gps * factor,
    principals: principals * factor,
    signals: signals * factor,
    projects: projects * factor,
  };
}

export interface RecordsFile {
  path: string;
  count: number;
  gps: CanonicalGp[];
}

export async function writeRecords(path: string, size: DemoSize): Promise<RecordsFile> {
  const file = createWriteStream(path);
  const gps: CanonicalGp[] = [];
  let text = "";
  let count = 0;
  for (const { records } of inventRecords(size)) {
    for (const record of records) {
      if (record.record === "gp") gps.push(record);
      count++;
      text += `${JSON.stringify(record)}\n`;
    }
    if (text.length < 1 << 20) continue;
    if (!file.write(text)) await once(file, "drain");
    text = "";
  }
  file.end(text);
  await once(file, "finish");
  return { path, count, gps };
}
