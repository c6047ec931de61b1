/** What processor time the import command takes, against what Node itself needs for the same lines, and what memory. */
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
    let peak = Number.NaN;
    const bare = {
      seconds: [] as number[],
      cpuSeconds: [] as number[],
      async run(dataDir: string) {
        execFileSync(process.execPath, [bareProgram, path, join(dataDir, "records.sqlite")]);
      },
    };
    const own = {
      seconds: [] as number[],
      cpuSeconds: [] as number[],
      async run(dataDir: string) {
        peak = await importRecords(checkout, { dataDir }, path);
      },
    };
    const told = ({ seconds, cpuSeconds }: typeof bare) =>
      `${(count / median(seconds) / 1000).toFixed(1)}k records a second, ${median(cpuSeconds).toFixed(2)} s of processor time`;
    return {
      async sample(round) {
        for (const { run, seconds, cpuSeconds } of inOrderOf(round, [bare, own])) {
          const dataDir = fixtures.emptyFolder();
          const cpuBefore = endedChildrenSeconds();
          const startedAt = performance.now();
          await run(dataDir);
          seconds.push((performance.now() - startedAt) / 1000);
          cpuSeconds.push(endedChildrenSeconds() - cpuBefore);
          rmSync(dataDir, { recursive: true });
        }
        const speed = bare.cpuSeconds.at(-1)! / own.cpuSeconds.at(-1)!;
        return { [names.speed]: speed, [names.memory]: peak / 1e6 };
      },
      note: (row) =>
        row === names.memory
          ? "resident, at its greatest"
          : `${told(own)}; ${told(bare)} where Node only parses, hashes and stores`,
      async close() {},
    };
  });
}
