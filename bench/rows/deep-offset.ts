/** What a page deep in a list costs against the first one, with nothing cached (C19). */
import { ask } from "../ask.ts";
import type { Fixtures } from "../fixtures.ts";
import type { LoadClient } from "../load.ts";
import { type Candidate, inTurn, openSession, type Session } from "../rounds.ts";
import type { RunningServer } from "../servers.ts";
import { median } from "../statistics.ts";
import { costCandidate, costSetups } from "./cost.ts";

const lists = [
  "/fetch-gp?gp_name=partners",
  "/fetch-principals?limit=20",
  "/fetch-signals?limit=20",
  "/fetch-projects?gp_name=capital",
];
const offsetMax = 2_147_483_647;
/** One after another: C19 asks sixty in a row. */
const requestCount = 60;
/** Each depth so often for one sample of a list. */
const repeats = 8;

const depths = [
  { name: "offset 0", offset: () => 0 },
  { name: "the middle", offset: (total: number) => Math.floor(total / 2) },
  { name: "total - 20", offset: (total: number) => total - 20 },
  { name: "total - 1", offset: (total: number) => total - 1 },
  { name: "total", offset: (total: number) => total },
  { name: "total + 1", offset: (total: number) => total + 1 },
  { name: "the largest offset", offset: () => offsetMax },
];

export const openDeepOffset = (fixtures: Fixtures): Promise<Session> =>
  openSession(fixtures.checkouts, async (checkout) => {
    const published = await fixtures.published(checkout, 1);
    const dataDir = fixtures.serverFolder(published);
    const { settings } = costSetups.cold;
    const server = await fixtures.start(checkout, { dataDir, settings });
    const candidates = new Map<string, Candidate<number>[]>();
    for (const list of lists)
      candidates.set(list, await candidatesOf(fixtures.load, published.keys[0]!, server, list));
    // The first requests are for V8.
    for (const all of candidates.values()) await inTurn(repeats * 2, all);
    /** Of each list and depth, the ratios of all rounds. */
    const ratios = new Map<string, number[]>();
    const medians = () => Array.from(ratios, ([where, all]) => ({ where, ratio: median(all) }));
    return {
      async sample() {
        let worst = 0;
        for (const [list, all] of candidates) {
          const costs = await inTurn(repeats, all);
          const first = median(costs.get(depths[0]!.name)!);
          for (const [name, figures] of costs) {
            if (name === depths[0]!.name) continue;
            const [where, ratio] = [`${name} of ${list}`, median(figures) / first];
            ratios.set(where, [...(ratios.get(where) ?? []), ratio]);
            worst = Math.max(worst, ratio);
          }
        }
        return { "deep-offset": worst };
      },
      note() {
        const [worst] = medians().toSorted((a, b) => b.ratio - a.ratio);
        return `the worst of each round; most often ${worst!.where}, ${worst!.ratio.toFixed(2)}×`;
      },
      close: () => server.stop(),
    };
  });

async function candidatesOf(
  load: LoadClient,
  key: string,
  server: RunningServer,
  list: string,
): Promise<Candidate<number>[]> {
  const first = await ask({ port: server.port, path: list, key });
  const total = Number(first.headers["x-total-count"]);
  return depths.map(({ name, offset }) =>
    costCandidate(load, server, {
      name,
      targets: [`${list}&offset=${offset(total)}`],
      key,
      connections: 1,
      count: requestCount,
    }),
  );
}
