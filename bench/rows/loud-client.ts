/** What a client notices of another one that asks as fast as it can. */
import type { Checkout } from "../checkouts.ts";
import type { Effort } from "../effort.ts";
import type { Ground } from "../ground.ts";
import { allServed, type LoadClient, startLoadClient } from "../load.ts";
import { median, quantile } from "../measure.ts";
import { requestsOf, sizesOf } from "../requests.ts";
import type { Figure } from "../rows.ts";
import { type RunningServer, startBare, startProgram } from "../servers.ts";

const loudConnections = 8;
const quietPerSecond = 100;
const secondsPerRound = 3;
/** More than can be asked in that time. */
const loudCountMax = 500_000;

export async function measureLoudClient(ground: Ground, effort: Effort): Promise<Figure[]> {
  const loud = startLoadClient();
  const figures: Figure[] = [];
  for (const checkout of ground.checkouts)
    figures.push(await beside(ground, checkout, loud, effort));
  return figures;
}

async function beside(
  ground: Ground,
  checkout: Checkout,
  loud: LoadClient,
  { waitRounds }: Effort,
): Promise<Figure> {
  const published = await ground.published(checkout, 1);
  const mix = await ground.mix();
  const [loudKey = "", quietKey = ""] = published.keys;
  loud.prepare("loud", requestsOf(mix, [loudKey]));
  ground.load.prepare("quiet", requestsOf(mix, [quietKey]));
  const dataDir = ground.serverFolder(published);
  const program = await startProgram({ root: checkout.root, dataDir });
  // Asked by nobody else, so that what it is late by is the machine's doing.
  const bare = await startBare(await sizesOf(mix, program.port, quietKey));
  const askQuietly = async ({ port }: RunningServer) => {
    const { microseconds } = allServed(
      await ground.load.run({
        port,
        requests: "quiet",
        connections: 4,
        count: quietPerSecond * secondsPerRound,
        firstRequest: 0,
        secondsMax: secondsPerRound * 2,
        perSecond: quietPerSecond,
      }),
    );
    return quantile(microseconds, 0.99);
  };
  const askLoudly = async (seconds: number) =>
    allServed(
      await loud.run({
        port: program.port,
        requests: "loud",
        connections: loudConnections,
        count: loudCountMax,
        firstRequest: 0,
        secondsMax: seconds,
      }),
    );
  await askLoudly(secondsPerRound);
  const askBoth = (server: RunningServer) =>
    Promise.all([askQuietly(server), askLoudly(secondsPerRound)]);
  const rounds: { alone: number; beside: number; bare: number; loudPerSecond: number }[] = [];
  for (let round = 0; round < waitRounds; round++) {
    const alone = await askQuietly(program);
    const [besideIt, { answered, seconds }] = await askBoth(program);
    const [besideBare] = await askBoth(bare);
    rounds.push({ alone, beside: besideIt, bare: besideBare, loudPerSecond: answered / seconds });
  }
  await Promise.all([program.stop(), bare.stop()]);
  const middle = (figure: (round: (typeof rounds)[number]) => number) => median(rounds.map(figure));
  const milliseconds = (of: "alone" | "beside" | "bare") =>
    (middle((round) => round[of]) / 1000).toFixed(2);
  return {
    row: "loud-client",
    checkout: checkout.name,
    value: middle((round) => round.beside / round.alone),
    note: `${milliseconds("beside")} ms against ${milliseconds("alone")}; ${milliseconds("bare")} at a bare server that the other does not ask; it asks ${middle((round) => round.loudPerSecond).toFixed(0)} times a second`,
  };
}
