/** What a page deep in a list costs against the first one, with nothing cached (C19). */
import type { Checkout } from "../checkouts.ts";
import type { Effort } from "../effort.ts";
import { fetchOnce } from "../fetch-once.ts";
import type { Ground, Published } from "../ground.ts";
import { allServed } from "../load.ts";
import { inTurn, median } from "../measure.ts";
import { processorMicroseconds } from "../process-cost.ts";
import { requestText } from "../requests.ts";
import type { Figure } from "../rows.ts";
import { type RunningServer, startProgram } from "../servers.ts";
import { costSetups } from "./cost.ts";

const lists = [
  "/fetch-gp?gp_name=partners",
  "/fetch-principals?limit=20",
  "/fetch-signals?limit=20",
  "/fetch-projects?gp_name=capital",
];
const offsetMax = 2_147_483_647;
/** One after another: C19 asks sixty in a row. */
const visitCount = 60;
const roundsPerWait = 4;

const depths = [
  { name: "offset 0", offset: () => 0 },
  { name: "the middle", offset: (total: number) => Math.floor(total / 2) },
  { name: "total - 20", offset: (total: number) => total - 20 },
  { name: "total - 1", offset: (total: number) => total - 1 },
  { name: "total", offset: (total: number) => total },
  { name: "total + 1", offset: (total: number) => total + 1 },
  { name: "the largest offset", offset: () => offsetMax },
];

export async function measureDeepOffset(ground: Ground, effort: Effort): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const checkout of ground.checkouts) figures.push(await ofCheckout(ground, checkout, effort));
  return figures;
}

async function ofCheckout(
  ground: Ground,
  checkout: Checkout,
  { waitRounds }: Effort,
): Promise<Figure> {
  const published = await ground.published(checkout, 1);
  const dataDir = ground.serverFolder(published);
  const { settings } = costSetups.cold;
  const server = await startProgram({ root: checkout.root, dataDir, settings });
  let worst = { ratio: 0, where: "" };
  for (const list of lists) {
    const candidates = await candidatesOf(ground, published, server, list);
    // The first rounds are for V8.
    await inTurn(waitRounds * roundsPerWait, candidates);
    const costs = await inTurn(waitRounds * roundsPerWait, candidates);
    const first = median(costs.get(depths[0]!.name)!);
    for (const [name, all] of costs) {
      const ratio = median(all) / first;
      if (ratio > worst.ratio && name !== depths[0]!.name)
        worst = { ratio, where: `${name} of ${list}, ${first.toFixed(0)} µs at offset 0` };
    }
  }
  await server.stop();
  return {
    row: "deep-offset",
    checkout: checkout.name,
    value: worst.ratio,
    note: `the worst: ${worst.where}`,
  };
}

async function candidatesOf(
  { load }: Ground,
  { keys }: Published,
  server: RunningServer,
  list: string,
) {
  const headers = { "x-api-key": keys[0]! };
  const first = await fetchOnce(server.port, list, headers);
  const total = Number(first.headers["x-total-count"]);
  return depths.map(({ name, offset }) => {
    const requests = `${list} ${name}`;
    load.prepare(requests, [requestText(`${list}&offset=${offset(total)}`, headers)]);
    return {
      name,
      async run() {
        const before = await processorMicroseconds(server);
        const { answered } = allServed(
          await load.run({
            port: server.port,
            requests,
            connections: 1,
            count: visitCount,
            firstRequest: 0,
            secondsMax: 20,
          }),
        );
        return ((await processorMicroseconds(server)) - before) / answered;
      },
    };
  });
}
