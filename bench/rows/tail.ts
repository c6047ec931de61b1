/** The slowest hundredth of the requests where people ask who do not know of each other: 500 times a second, by the clock. */
import type { Fixtures } from "../fixtures.ts";
import { allServed } from "../load.ts";
import { stealTicks } from "../machine.ts";
import { openSession, type Session } from "../rounds.ts";
import { startBare } from "../servers.ts";
import { median, quantile } from "../statistics.ts";
import { costSetups } from "./cost.ts";

const perSecond = 500;
/** Enough for none to wait for one. */
const connections = 64;
/** Of each server a round, one after the other: what disturbs the machine for longer meets both. */
const seconds = 4;
const disturbedRoundsMax = 2;

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
          ...(isOpenLoop && { perSecond, isOpenLoop }),
        })),
        turns: seconds,
        isReversed,
      });
      return results.map((result) => allServed(result).microseconds);
    };
    // Until V8 has compiled the path of a request and every answer is remembered.
    await ask(warmUp, false, false);
    const rounds: number[][] = [];
    const middle = (figure: (round: number[]) => number) => median(rounds.map(figure)).toFixed(2);
    return {
      async sample(round) {
        let ticks = stealTicks();
        let taken = await ask(perSecond * seconds, round % 2 === 1, true);
        // In which the machine was given to others: once more.
        for (let again = 0; again < disturbedRoundsMax && stealTicks() !== ticks; again++) {
          ticks = stealTicks();
          taken = await ask(perSecond * seconds, round % 2 === 1, true);
        }
        const [own, ofBare] = taken.map((one) => quantile(one, 0.99) / 1000) as [number, number];
        rounds.push([own, ofBare, ...taken.map((one) => quantile(one, 0.5) / 1000)]);
        return { tail: own / ofBare };
      },
      note: () =>
        `${middle(([own]) => own!)} ms against ${middle(([, ofBare]) => ofBare!)}; medians ${middle((round) => round[2]!)} and ${middle((round) => round[3]!)} ms`,
      async close() {
        await Promise.all([program.stop(), bare.stop()]);
      },
    };
  });

const warmUp = 25_000;
