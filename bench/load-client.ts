/** A process that asks and waits for answers, so that its own work is counted to nobody. */
import { setInterval } from "node:timers/promises";
import { type Connection, openConnection } from "./connection.ts";
import type { LoadMessage, LoadOrder, LoadResult } from "./load.ts";
import { watchRequests } from "./request-waits.ts";

/** How long the last answers may take. */
const patienceMilliseconds = 10_000;

const prepared = new Map<string, Buffer[]>();

async function run(order: LoadOrder): Promise<LoadResult> {
  const connections = await Promise.all(
    Array.from({ length: Math.min(order.connections, order.count) }, () =>
      openConnection(order.port),
    ),
  );
  const end = () => connections.forEach((connection) => connection.end());
  const watch = setTimeout(end, order.secondsMax * 1000 + patienceMilliseconds);
  const tally = openTally(order);
  try {
    await (order.perSecond === undefined
      ? Promise.all(connections.map((connection) => askOnAndOn(connection, tally)))
      : askAtPace(connections, tally, order.perSecond));
    return tally.result();
  } finally {
    clearTimeout(watch);
    end();
  }
}

interface Tally {
  /** Is one more to be asked? */
  isOpen(): boolean;
  secondsSoFar(): number;
  asked(): number;
  /** Asks the next request and counts its answer. */
  askNext(connection: Connection): Promise<void>;
  result(): LoadResult;
}

function openTally(order: LoadOrder): Tally {
  const { requests, count, firstRequest, secondsMax, watchedPid } = order;
  const texts = prepared.get(requests)!;
  const microseconds = new Float64Array(count);
  const statuses = new Uint16Array(count);
  const startedAt = performance.now();
  const watch = watchedPid === undefined ? null : watchRequests(watchedPid);
  let [asked, answered, bytes] = [0, 0, 0];
  const secondsSoFar = () => (performance.now() - startedAt) / 1000;
  return {
    isOpen: () => asked < count && secondsSoFar() < secondsMax,
    secondsSoFar,
    asked: () => asked,
    async askNext(connection) {
      const number = asked++;
      watch?.begin(number);
      const askedAt = performance.now();
      const answer = await connection.ask(texts[(firstRequest + number) % texts.length]!);
      microseconds[number] = (performance.now() - askedAt) * 1000;
      watch?.end(number);
      statuses[number] = answer.status;
      bytes += answer.bodyBytes;
      answered++;
    },
    result: () => ({
      answered,
      bytes,
      seconds: secondsSoFar(),
      microseconds: microseconds.slice(0, answered),
      statuses: statuses.slice(0, answered),
      waits: watch?.waits ?? null,
    }),
  };
}

async function askOnAndOn(connection: Connection, tally: Tally): Promise<void> {
  while (tally.isOpen()) await tally.askNext(connection);
}

/** What is due waits for a free connection; there should be enough of them. */
async function askAtPace(
  connections: readonly Connection[],
  tally: Tally,
  perSecond: number,
): Promise<void> {
  const free = [...connections];
  const underWay: Promise<void>[] = [];
  const ask = async (connection: Connection) => {
    await tally.askNext(connection);
    free.push(connection);
  };
  for await (const _ of setInterval(1)) {
    const due = tally.secondsSoFar() * perSecond;
    while (tally.isOpen() && tally.asked() < due && free.length > 0)
      underWay.push(ask(free.pop()!));
    if (!tally.isOpen()) break;
  }
  await Promise.all(underWay);
}

process.on("disconnect", () => process.exit());
process.on("message", async (message: LoadMessage) => {
  if ("texts" in message) {
    const { name, texts } = message;
    prepared.set(
      name,
      texts.map((text) => Buffer.from(text, "latin1")),
    );
    return;
  }
  try {
    process.send!({ result: await run(message) });
  } catch (error) {
    process.send!({ fault: (error as Error).message });
  }
});
