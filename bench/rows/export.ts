/** What memory an export takes, and how long, in each format. */
import { rmSync } from "node:fs";
import { type Checkout, type Fixtures, runCommand } from "../fixtures.ts";
import type { Session } from "../rounds.ts";

const formats = ["ndjson", "csv", "parquet", "xlsx"] as const;

/** Of one format, on one checkout. */
interface Taken {
  format: (typeof formats)[number];
  bytes: number;
  seconds: number;
}

/** The first round measures every format, the others the one that took most: with many records each takes a minute. */
export async function openExport(fixtures: Fixtures, factor: 1 | 10): Promise<Session> {
  const row = factor === 1 ? "export-memory" : "export-memory-650k";
  const first = new Map<string, readonly Taken[]>();
  const run = async (checkout: Checkout, format: Taken["format"]): Promise<Taken> => {
    const { dataDir } = await fixtures.published(checkout, factor);
    const folder = fixtures.emptyFolder();
    const startedAt = performance.now();
    const args = ["export", "--format", format, "--output", folder];
    const bytes = await runCommand(checkout, { dataDir }, args);
    const seconds = (performance.now() - startedAt) / 1000;
    rmSync(folder, { recursive: true });
    return { format, bytes, seconds };
  };
  const runAll = async (checkout: Checkout): Promise<Taken[]> => {
    const all: Taken[] = [];
    for (const format of formats) all.push(await run(checkout, format));
    return all.toSorted((one, other) => other.bytes - one.bytes);
  };
  return {
    async round() {
      const samples = [];
      for (const checkout of fixtures.checkouts) {
        const { name } = checkout;
        const known = first.get(name);
        const all =
          known === undefined ? await runAll(checkout) : [await run(checkout, known[0]!.format)];
        if (known === undefined) first.set(name, all);
        samples.push({ row, checkout: name, value: all[0]!.bytes / 1e6 } as const);
      }
      return samples;
    },
    note: (_, checkout) =>
      first
        .get(checkout)!
        .map(
          ({ format, bytes, seconds }) =>
            `${format} ${(bytes / 1e6).toFixed(0)} MB, ${seconds.toFixed(1)} s`,
        )
        .join("; "),
    async close() {},
  };
}
