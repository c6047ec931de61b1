/** How fast the import command takes records in, against what Node itself needs for the same lines, and what memory it takes. */
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { type Fixtures, importRecords } from "../fixtures.ts";
import { inOrderOf, openSession, type Session } from "../rounds.ts";
import { endedChildrenSeconds } from "../servers.ts";
import { median } from "../statistics.ts";

/** The rows that are measured on 65,000 records times `factor`. */
const rowsOf = (factor: 1 | 10) =>
  factor === 1
    ? ({ speed: "import", memory: "import-memory" } as const)
    : ({ speed: "import-650k", memory: "import-memory-650k" } as const);

const bareProgram = join(import.meta.dirname, "../bare-import.ts");

/** In each round bare-import.ts, and what a checkout takes beside it. */
export async function openImport(fixtures: Fixtures, factor: 1 | 10): Promise<Session> {
  const { path, count } = await fixtures.records(factor);
  const names = rowsOf(factor);
  return openSession(fixtures.checkouts, async (checkout) => {
    const cpuSeconds: number[] = [];
    let peak = Number.NaN;
    const bare = {
      seconds: [] as number[],
      async run(dataDir: string) {
        execFileSync(process.execPath, [bareProgram, path, join(dataDir, "records.sqlite")]);
      },
    };
    const own = {
      seconds: [] as number[],
      async run(dataDir: string) {
        const before = endedChildrenSeconds();
        peak = await importRecords(checkout, { dataDir }, path);
        cpuSeconds.push(endedChildrenSeconds() - before);
      },
    };
    const thousands = ({ seconds }: { seconds: readonly number[] }) =>
      `${(count / median(seconds) / 1000).toFixed(1)}k records a second`;
    return {
      async sample(round) {
        for (const { run, seconds } of inOrderOf(round, [bare, own])) {
          const dataDir = fixtures.emptyFolder();
          const startedAt = performance.now();
          await run(dataDir);
          seconds.push((performance.now() - startedAt) / 1000);
          rmSync(dataDir, { recursive: true });
        }
        const speed = bare.seconds.at(-1)! / own.seconds.at(-1)!;
        return { [names.speed]: speed, [names.memory]: peak / 1e6 };
      },
      note: (row) =>
        row === names.memory
          ? "resident, at its greatest"
          : `${thousands(own)}, ${median(cpuSeconds).toFixed(2)} s of processor time; ${thousands(bare)} where Node only parses, hashes and stores`,
      async close() {},
    };
  });
}
