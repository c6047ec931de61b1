/** The slowest hundredth of the requests where people ask who do not know of each other: 500 times a second, by the clock. */
import type { Fixtures } from "../fixtures.ts";
import { allServed, type LoadResult } from "../load.ts";
import { openSession, type Session } from "../rounds.ts";
import { startBare } from "../servers.ts";
import { median, quantile } from "../statistics.ts";
import { costSetups, settled } from "./cost.ts";

const perSecond = 500;
/** Enough for none to wait for one. */
const connections = 64;
/** Of each server a round. */
const seconds = 6;
/** Short, so that what disturbs the machine for longer meets both, and little is left out with the steal time of one. */
const turnSeconds = 0.2;

export const openTail = (fixtures: Fixtures): Promise<Session> =>
  openSession(fixtures.checkouts, async (checkout) => {
    const published = await fixtures.published(checkout, 1);
    const { settings } = costSetups.all;
    const program = await fixtures.start(checkout, {
      dataDir: fixtures.serverFolder(published),
      settings,
    });
    const bare = await startBare(await fixtures.answers());
    const ask = async (count: number, isReversed: boolean, isOpenLoop: boolean) => {
      const results = await fixtures.load.runInBursts({
        orders: [program, bare].map(({ port }) => ({
          port,
          requests: published.requests,
          connections,
          count,
          firstRequest: 0,
          secondsMax: 120,
          ...(isOpenLoop && { perSecond }),
        })),
        turns: Math.round(seconds / turnSeconds),
        isReversed,
      });
      return results.map((result) => undisturbed(allServed(result)));
    };
    await ask(settled.before, false, false);
    const rounds: { own: Float64Array; ofBare: Float64Array }[] = [];
    const middle = (of: "own" | "ofBare", share: number) =>
      (median(rounds.map((round) => quantile(round[of], share))) / 1000).toFixed(2);
    return {
      async sample(round) {
        const [own, ofBare] = await ask(perSecond * seconds, round % 2 === 1, true);
        rounds.push({ own: own!, ofBare: ofBare! });
        return { tail: quantile(own!, 0.99) / quantile(ofBare!, 0.99) };
      },
      note: () =>
        `${middle("own", 0.99)} ms against ${middle("ofBare", 0.99)}; medians ${middle("own", 0.5)} and ${middle("ofBare", 0.5)} ms`,
      async close() {
        await Promise.all([program.stop(), bare.stop()]);
      },
    };
  });

/** Times of the requests without steal time in their turn; of all, where every turn had some. */
function undisturbed({ microseconds, disturbed }: LoadResult): Float64Array {
  const kept = microseconds.filter((_, i) => disturbed[i] === 0);
  return kept.length > 0 ? kept : microseconds;
}
