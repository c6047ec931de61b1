/** What memory an export takes, and how long, in each format. */
import { rmSync } from "node:fs";
import { type Fixtures, runCommand } from "../fixtures.ts";
import { openSession, type Session } from "../rounds.ts";

const formats = ["ndjson", "csv", "parquet", "xlsx"] as const;

/** Of one format. */
interface Taken {
  format: (typeof formats)[number];
  bytes: number;
  seconds: number;
}

/** The first round measures every format, the others the one that took most: with many records each takes a minute. */
export const openExport = (fixtures: Fixtures, factor: 1 | 10): Promise<Session> =>
  openSession(fixtures.checkouts, async (checkout) => {
    const row = factor === 1 ? "export-memory" : "export-memory-650k";
    const { dataDir } = await fixtures.published(checkout, factor);
    const run = async (format: Taken["format"]): Promise<Taken> => {
      const folder = fixtures.emptyFolder();
      const startedAt = performance.now();
      const args = ["export", "--format", format, "--output", folder];
      const bytes = await runCommand(checkout, { dataDir }, args);
      const seconds = (performance.now() - startedAt) / 1000;
      rmSync(folder, { recursive: true });
      return { format, bytes, seconds };
    };
    let first: readonly Taken[] = [];
    return {
      async sample() {
        if (first.length > 0) return { [row]: (await run(first[0]!.format)).bytes / 1e6 };
        const all: Taken[] = [];
        for (const format of formats) all.push(await run(format));
        first = all.toSorted((one, other) => other.bytes - one.bytes);
        return { [row]: first[0]!.bytes / 1e6 };
      },
      note: () =>
        first
          .map(
            ({ format, bytes, seconds }) =>
              `${format} ${(bytes / 1e6).toFixed(0)} MB, ${seconds.toFixed(1)} s`,
          )
          .join("; "),
      async close() {},
    };
  });
