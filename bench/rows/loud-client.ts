/** What a client notices of another one that asks as fast as it can. */
import type { Fixtures } from "../fixtures.ts";
import { allServed, startLoadClient } from "../load.ts";
import { requestsOf } from "../requests.ts";
import { openSession, type Session } from "../rounds.ts";
import { type RunningServer, startBare } from "../servers.ts";
import { median, quantile } from "../statistics.ts";

const loudConnections = 8;
const quietPerSecond = 100;
const secondsPerRound = 3;
/** More than can be asked in that time. */
const loudCountMax = 500_000;

export const openLoudClient = (fixtures: Fixtures): Promise<Session> =>
  openSession(fixtures.checkouts, async (checkout) => {
    const published = await fixtures.published(checkout, 1);
    const mix = await fixtures.mix();
    const [quietKey = "", ...loudKeys] = published.keys;
    const [loud, quiet] = [startLoadClient(), startLoadClient()];
    let timesLoud = 0;
    quiet.prepare("quiet", requestsOf(mix, [quietKey]));
    const program = await fixtures.start(checkout, { dataDir: fixtures.serverFolder(published) });
    // Asked by nobody else, so that what it is late by is the machine's doing.
    const bare = await startBare(await fixtures.answers());
    /** p99 in ms. */
    const askQuietly = async ({ port }: RunningServer) => {
      const { microseconds } = allServed(
        await quiet.run({
          port,
          requests: "quiet",
          connections: 4,
          count: quietPerSecond * secondsPerRound,
          firstRequest: 0,
          secondsMax: secondsPerRound * 2,
          perSecond: quietPerSecond,
        }),
      );
      return quantile(microseconds, 0.99) / 1000;
    };
    /** With another key each time, since one asks enough in a row to use up the greatest quota there is. */
    const askLoudly = async () => {
      const requests = `loud ${timesLoud}`;
      loud.prepare(requests, requestsOf(mix, [loudKeys[timesLoud++ % loudKeys.length]!]));
      return allServed(
        await loud.run({
          port: program.port,
          requests,
          connections: loudConnections,
          count: loudCountMax,
          firstRequest: 0,
          secondsMax: secondsPerRound,
        }),
      );
    };
    await askLoudly();
    const rounds: { alone: number; beside: number; bare: number; loudPerSecond: number }[] = [];
    const middle = (figure: (round: (typeof rounds)[number]) => number) =>
      median(rounds.map(figure));
    return {
      async sample() {
        const alone = await askQuietly(program);
        const [beside, { answered, seconds }] = await Promise.all([
          askQuietly(program),
          askLoudly(),
        ]);
        const [besideBare] = await Promise.all([askQuietly(bare), askLoudly()]);
        rounds.push({ alone, beside, bare: besideBare, loudPerSecond: answered / seconds });
        return { "loud-client": beside / alone };
      },
      note: () =>
        `${middle(({ beside }) => beside).toFixed(2)} ms against ${middle(({ alone }) => alone).toFixed(2)}; ${middle((round) => round.bare).toFixed(2)} ms at a bare server that the other does not ask; it asks ${middle(({ loudPerSecond }) => loudPerSecond).toFixed(0)} times a second`,
      async close() {
        await Promise.all([program.stop(), bare.stop()]);
        loud.close();
        quiet.close();
      },
    };
  });
