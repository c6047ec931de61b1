/** How many canonical records a second the import command takes in, from its start to its end. */
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { type Fixtures, importRecords } from "../fixtures.ts";
import { inOrderOf, type Sample, type Session } from "../rounds.ts";
import { endedChildrenSeconds } from "../servers.ts";
import { median } from "../statistics.ts";

/** What bare-import.ts takes stands beside it: no program can be quicker on this machine. */
export async function openImport(fixtures: Fixtures): Promise<Session> {
  const { path, count } = await fixtures.records(1);
  const fills: Fill[] = [
    { name: bare, run: async (dataDir) => importBare(path, dataDir), rates: [], cpuSeconds: [] },
    ...fixtures.checkouts.map((checkout) => ({
      name: checkout.name,
      run: (dataDir: string) => importRecords(checkout, dataDir, path),
      rates: [],
      cpuSeconds: [],
    })),
  ];
  return {
    async round(round) {
      const samples: Sample[] = [];
      for (const { name, run, rates, cpuSeconds } of inOrderOf(round, fills)) {
        const dataDir = fixtures.emptyFolder();
        const startedAt = performance.now();
        const before = endedChildrenSeconds();
        await run(dataDir);
        cpuSeconds.push(endedChildrenSeconds() - before);
        const value = count / ((performance.now() - startedAt) / 1000);
        rates.push(value);
        rmSync(dataDir, { recursive: true });
        if (name !== bare) samples.push({ row: "import", checkout: name, value });
      }
      return samples;
    },
    note(_, checkout) {
      const of = (name: string) => fills.find((fill) => fill.name === name)!;
      return `${median(of(checkout).cpuSeconds).toFixed(2)} s of processor time; ${(median(of(bare).rates) / 1000).toFixed(1)}k where Node only parses, hashes and stores`;
    },
    async close() {},
  };
}

/** One that fills an empty data folder. */
interface Fill {
  name: string;
  run(dataDir: string): Promise<void>;
  rates: number[];
  cpuSeconds: number[];
}

const bare = "bare";

function importBare(file: string, folder: string): void {
  const program = join(import.meta.dirname, "../bare-import.ts");
  execFileSync(process.execPath, [program, file, join(folder, "records.sqlite")]);
}
