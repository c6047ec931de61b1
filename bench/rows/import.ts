/** How many canonical records a second the import command takes in, from its start to its end. */
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { importRecords } from "../data-folders.ts";
import type { Effort } from "../effort.ts";
import type { Ground } from "../ground.ts";
import { inTurn, median } from "../measure.ts";
import { endedChildrenSeconds } from "../process-cost.ts";
import type { Figure } from "../rows.ts";

/** What bare-import.ts takes stands beside it: no program can be quicker on this machine. */
export async function measureImport(ground: Ground, { repeats }: Effort): Promise<Figure[]> {
  const { path, count } = await ground.records(1);
  const candidate = (name: string, fill: (dataDir: string) => Promise<void>) => ({
    name,
    async run(): Promise<Import> {
      const dataDir = ground.emptyFolder();
      const startedAt = performance.now();
      const before = endedChildrenSeconds();
      await fill(dataDir);
      const processorSeconds = endedChildrenSeconds() - before;
      const seconds = (performance.now() - startedAt) / 1000;
      rmSync(dataDir, { recursive: true });
      return { seconds, processorSeconds };
    },
  });
  const imports = await inTurn(repeats, [
    candidate(bare, async (dataDir) => importBare(path, dataDir)),
    ...ground.checkouts.map(({ name, root }) =>
      candidate(name, (dataDir) => importRecords(root, dataDir, path)),
    ),
  ]);
  const rateOf = (name: string) => count / median(imports.get(name)!.map(({ seconds }) => seconds));
  const processorSecondsOf = (name: string) =>
    median(imports.get(name)!.map(({ processorSeconds }) => processorSeconds));
  return ground.checkouts.map(({ name }) => ({
    row: "import",
    checkout: name,
    value: rateOf(name),
    note: `median of ${repeats}; ${processorSecondsOf(name).toFixed(2)} s of processor time; ${(rateOf(bare) / 1000).toFixed(1)}k where Node only parses, hashes and stores`,
  }));
}

interface Import {
  seconds: number;
  processorSeconds: number;
}

const bare = "bare";

function importBare(file: string, folder: string): void {
  const program = join(import.meta.dirname, "../bare-import.ts");
  execFileSync(process.execPath, [program, file, join(folder, "records.sqlite")]);
}
