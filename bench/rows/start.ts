/** How long it takes from the start of the program to its first answer, and what memory it holds then. */
import type { Checkout } from "../checkouts.ts";
import type { Effort } from "../effort.ts";
import { fetchOnce } from "../fetch-once.ts";
import type { Ground } from "../ground.ts";
import { inTurn, median } from "../measure.ts";
import { residentBytes } from "../process-cost.ts";
import type { Figure } from "../rows.ts";
import { startProgram } from "../servers.ts";

interface Start {
  seconds: number;
  megabytes: number;
}

export async function measureStart(ground: Ground, { repeats }: Effort): Promise<Figure[]> {
  for (const checkout of ground.checkouts) await ground.published(checkout, 1);
  const starts = await inTurn(
    repeats,
    ground.checkouts.map((checkout) => ({
      name: checkout.name,
      run: () => startOnce(ground, checkout),
    })),
  );
  return [...starts].flatMap(([checkout, all]) => {
    const seconds = all.map((start) => start.seconds);
    const note = `median of ${repeats}, ${Math.min(...seconds).toFixed(2)} to ${Math.max(...seconds).toFixed(2)} s`;
    return [
      { row: "start" as const, checkout, value: median(seconds), note },
      {
        row: "memory" as const,
        checkout,
        value: median(all.map((start) => start.megabytes)),
        note: "right after the first answer",
      },
    ];
  });
}

async function startOnce(ground: Ground, checkout: Checkout): Promise<Start> {
  const published = await ground.published(checkout, 1);
  const dataDir = ground.serverFolder(published);
  const startedAt = performance.now();
  const server = await startProgram({ root: checkout.root, dataDir });
  const headers = { "x-api-key": published.keys[0]! };
  const { status } = await fetchOnce(server.port, "/fetch-signals?limit=20", headers);
  const seconds = (performance.now() - startedAt) / 1000;
  if (status !== 200) throw new Error(`The first answer after a start was a ${status}.`);
  const megabytes = (await residentBytes(server)) / 1e6;
  await server.stop();
  return { seconds, megabytes };
}
