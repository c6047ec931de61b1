/** How fast the import command takes records in, against what Node itself needs for the same lines, and what memory it takes. */
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { type Fixtures, importRecords } from "../fixtures.ts";
import { inOrderOf, type Sample, type Session } from "../rounds.ts";
import { endedChildrenSeconds } from "../servers.ts";
import { median } from "../statistics.ts";

export type ImportRow = "import" | "import-memory" | "import-650k" | "import-memory-650k";

/** The rows that are measured on 65,000 records times `factor`. */
const rowsOf = (factor: 1 | 10) =>
  factor === 1
    ? ({ speed: "import", memory: "import-memory" } as const)
    : ({ speed: "import-650k", memory: "import-memory-650k" } as const);

/** In each round bare-import.ts, and what each checkout takes beside it. */
export async function openImport(fixtures: Fixtures, factor: 1 | 10): Promise<Session> {
  const { path, count } = await fixtures.records(factor);
  const names = rowsOf(factor);
  const fills: Fill[] = [
    { name: bare, run: async (dataDir) => importBare(path, dataDir), seconds: [], cpuSeconds: [] },
    ...fixtures.checkouts.map((checkout) => ({
      name: checkout.name,
      run: (dataDir: string) => importRecords(checkout, { dataDir }, path),
      seconds: [],
      cpuSeconds: [],
    })),
  ];
  return {
    async round(round) {
      const peaks = new Map<string, number>();
      for (const { name, run, seconds, cpuSeconds } of inOrderOf(round, fills)) {
        const dataDir = fixtures.emptyFolder();
        const startedAt = performance.now();
        const before = endedChildrenSeconds();
        peaks.set(name, await run(dataDir));
        cpuSeconds.push(endedChildrenSeconds() - before);
        seconds.push((performance.now() - startedAt) / 1000);
        rmSync(dataDir, { recursive: true });
      }
      const [ofNode, ...ofCheckouts] = fills;
      return ofCheckouts.flatMap(({ name: checkout, seconds }): Sample[] => [
        { row: names.speed, checkout, value: ofNode!.seconds.at(-1)! / seconds.at(-1)! },
        { row: names.memory, checkout, value: peaks.get(checkout)! / 1e6 },
      ]);
    },
    note(row, checkout) {
      if (row === names.memory) return "resident, at its greatest";
      const of = (name: string) => fills.find((fill) => fill.name === name)!;
      const thousands = (name: string) =>
        `${(count / median(of(name).seconds) / 1000).toFixed(1)}k records a second`;
      return `${thousands(checkout)}, ${median(of(checkout).cpuSeconds).toFixed(2)} s of processor time; ${thousands(bare)} where Node only parses, hashes and stores`;
    },
    async close() {},
  };
}

/** One that fills an empty data folder. */
interface Fill {
  name: string;
  /** @returns the most memory it took, in bytes. */
  run(dataDir: string): Promise<number>;
  seconds: number[];
  cpuSeconds: number[];
}

const bare = "bare";

/** @returns NaN: nobody asks what memory it takes. */
function importBare(file: string, folder: string): number {
  const program = join(import.meta.dirname, "../bare-import.ts");
  execFileSync(process.execPath, [program, file, join(folder, "records.sqlite")]);
  return Number.NaN;
}
