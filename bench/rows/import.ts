/** How many canonical records a second the import command takes in, from its start to its end. */
import { rmSync } from "node:fs";
import { importRecords } from "../data-folders.ts";
import type { Effort } from "../effort.ts";
import type { Ground } from "../ground.ts";
import { inTurn, median } from "../measure.ts";
import { endedChildrenSeconds } from "../process-cost.ts";
import type { Figure } from "../rows.ts";

export async function measureImport(ground: Ground, { repeats }: Effort): Promise<Figure[]> {
  const { path, count } = await ground.records(1);
  const imports = await inTurn(
    repeats,
    ground.checkouts.map(({ name, root }) => ({
      name,
      async run() {
        const dataDir = ground.emptyFolder();
        const startedAt = performance.now();
        const before = endedChildrenSeconds();
        await importRecords(root, dataDir, path);
        const processorSeconds = endedChildrenSeconds() - before;
        const seconds = (performance.now() - startedAt) / 1000;
        rmSync(dataDir, { recursive: true });
        return { seconds, processorSeconds };
      },
    })),
  );
  return Array.from(imports, ([checkout, all]) => ({
    row: "import",
    checkout,
    value: count / median(all.map(({ seconds }) => seconds)),
    note: `median of ${repeats}; ${median(all.map(({ processorSeconds }) => processorSeconds)).toFixed(2)} s of processor time`,
  }));
}
