/** How long the event loop stands still when another process changes one of 10,000 keys, which are all read again. */
import { askInside } from "../ask-inside.ts";
import type { Checkout } from "../checkouts.ts";
import { addKeys, issueKeys } from "../issue-keys.ts";
import type { Effort } from "../effort.ts";
import { fetchOnce } from "../fetch-once.ts";
import type { Ground } from "../ground.ts";
import { median } from "../measure.ts";
import type { Figure } from "../rows.ts";
import { startProgram } from "../servers.ts";

const keyCount = 10_000;
const changesPerRound = 4;

export async function measureKeyReload(ground: Ground, effort: Effort): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const checkout of ground.checkouts) {
    const gaps = await gapsOf(ground, checkout, effort);
    const [changed, unchanged] = [gaps.map((gap) => gap.changed), gaps.map((gap) => gap.unchanged)];
    figures.push({
      row: "key-reload",
      checkout: checkout.name,
      value: median(changed),
      note: `median of ${gaps.length} changes, at most ${Math.max(...changed).toFixed(1)} ms; without a change ${median(unchanged).toFixed(1)}, at most ${Math.max(...unchanged).toFixed(1)} ms`,
    });
  }
  return figures;
}

/** ms of the longest turn while one request is answered, after a change of a key and without one. */
async function gapsOf(ground: Ground, { root }: Checkout, { waitRounds }: Effort) {
  const dataDir = ground.emptyFolder();
  const [key] = await issueKeys(root, dataDir, 1);
  await addKeys(root, dataDir, keyCount - 1);
  const server = await startProgram({ root, dataDir, isWatched: true });
  const gapOfRequest = async () => {
    await askInside(server, "beginDelay");
    const headers = { "x-api-key": key! };
    // There are no records: what is measured is what comes before them.
    const { status } = await fetchOnce(server.port, "/fetch-signals?limit=1", headers);
    if (status !== 503) throw new Error(`A key of 10,000 was answered with ${status}.`);
    return askInside<number>(server, "endDelay");
  };
  const gaps: { changed: number; unchanged: number }[] = [];
  for (let change = 0; change < changesPerRound * waitRounds; change++) {
    const unchanged = await gapOfRequest();
    await addKeys(root, dataDir, 1);
    gaps.push({ unchanged, changed: await gapOfRequest() });
  }
  await server.stop();
  return gaps;
}
