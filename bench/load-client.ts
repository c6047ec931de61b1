/** A process that asks and waits for answers, so that its own work is counted to nobody. */
import { once } from "node:events";
import { connect } from "node:net";
import { setInterval } from "node:timers/promises";
import type { BurstsOrder, LoadMessage, LoadOrder, LoadResult } from "./load.ts";
import { stealTicks } from "./machine.ts";

/** How long the last answers may take. */
const lastAnswersMilliseconds = 10_000;

const prepared = new Map<string, Buffer[]>();

async function run({ orders, turns, isReversed }: BurstsOrder): Promise<LoadResult[]> {
  const runs = await Promise.all(orders.map(openRun));
  const end = () => runs.forEach((one) => one.end());
  const secondsMax = orders.reduce((sum, one) => sum + one.secondsMax, 0);
  const watch = setTimeout(end, secondsMax * 1000 + lastAnswersMilliseconds);
  try {
    let upcoming = isReversed ? runs.toReversed() : runs;
    for (let turn = 1; turn <= turns; turn++) {
      for (const one of upcoming) await one.askUntil(turn / turns);
      upcoming = upcoming.toReversed();
    }
    return runs.map(({ tally }) => tally.result());
  } finally {
    clearTimeout(watch);
    end();
  }
}

/** The connections to one server and its siblings. */
interface Run {
  tally: Tally;
  /** Until this share of all requests was asked since the beginning, and answered. */
  askUntil(share: number): Promise<void>;
  end(): void;
}

async function openRun(order: LoadOrder): Promise<Run> {
  const ports = [order.port, ...(order.siblingPorts ?? [])];
  const connections = await Promise.all(
    Array.from({ length: Math.min(order.connections, order.count) }, (_, i) =>
      openConnection(ports[i % ports.length]!),
    ),
  );
  const tally = openTally(order);
  const askOnAndOn = async (connection: Connection, until: number) => {
    while (tally.isOpen() && tally.asked() < until) await tally.askNext(connection);
  };
  return {
    tally,
    async askUntil(share) {
      const until = Math.round(order.count * share);
      if (order.perSecond === undefined)
        await Promise.all(connections.map((connection) => askOnAndOn(connection, until)));
      else await askByTheClock(connections, tally, order.perSecond, until);
    },
    end: () => connections.forEach((connection) => connection.end()),
  };
}

interface Tally {
  /** Is one more to be asked? */
  isOpen(): boolean;
  asked(): number;
  /** Marks the requests from this one on. */
  markDisturbed(from: number): void;
  /** Asks the next request and counts its answer. @param since when it was found due, if not now; ms. */
  askNext(connection: Connection, since?: number): Promise<void>;
  result(): LoadResult;
}

function openTally(order: LoadOrder): Tally {
  const { requests, count, firstRequest, secondsMax } = order;
  const texts = prepared.get(requests)!;
  const microseconds = new Float64Array(count);
  const statuses = new Uint16Array(count);
  const disturbed = new Uint8Array(count);
  const startedAt = performance.now();
  let [asked, answered, bytes] = [0, 0, 0];
  const secondsSoFar = () => (performance.now() - startedAt) / 1000;
  return {
    isOpen: () => asked < count && secondsSoFar() < secondsMax,
    asked: () => asked,
    markDisturbed: (from) => void disturbed.fill(1, from, asked),
    async askNext(connection, since = performance.now()) {
      const number = asked++;
      const answer = await connection.ask(texts[(firstRequest + number) % texts.length]!);
      microseconds[number] = (performance.now() - since) * 1000;
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
      disturbed: disturbed.slice(0, answered),
    }),
  };
}

/** Each request when it is due, and if no connection is free then, on the first one that is; it waits from the tick on that found it due. */
async function askByTheClock(
  connections: readonly Connection[],
  tally: Tally,
  perSecond: number,
  until: number,
): Promise<void> {
  const free = [...connections];
  const late: number[] = [];
  const underWay: Promise<void>[] = [];
  const ask = async (connection: Connection, since: number) => {
    await tally.askNext(connection, since);
    const next = late.shift();
    if (next === undefined) free.push(connection);
    else await ask(connection, next);
  };
  const first = tally.asked();
  const count = until - first;
  const ticks = stealTicks();
  const startedAt = performance.now();
  let begun = 0;
  for await (const _ of setInterval(1)) {
    const now = performance.now();
    for (; begun < count && startedAt + (begun * 1000) / perSecond <= now; begun++) {
      // In turn: a server ends connections that are idle for long.
      const connection = free.shift();
      if (connection === undefined) late.push(now);
      else underWay.push(ask(connection, now));
    }
    if (begun === count) break;
  }
  await Promise.all(underWay);
  if (stealTicks() !== ticks) tally.markDisturbed(first);
}

interface Answer {
  status: number;
  bodyBytes: number;
}

/** One connection: asks, and waits for the last byte of the answer. */
interface Connection {
  /** One at a time: the next one only after the answer. Rejects where the connection breaks. */
  ask(request: Buffer): Promise<Answer>;
  end(): void;
}

const endOfHeaders = Buffer.from("\r\n\r\n");
/** Of a body whose length is not told before it. Nothing compressed ends a read in these bytes by chance. */
const endOfChunks = Buffer.from("\r\n0\r\n\r\n");
const nothing = Buffer.alloc(0);

/** HTTP/1.1. */
async function openConnection(port: number): Promise<Connection> {
  let waiting = Promise.withResolvers<Answer>();
  const read = answerReader((answer) => waiting.resolve(answer));
  const socket = connect({
    port,
    host: "127.0.0.1",
    noDelay: true,
    // One buffer for all answers: a client must cost less than what it measures.
    onread: {
      buffer: Buffer.alloc(64 * 1024),
      callback(length, buffer) {
        read((buffer as Buffer).subarray(0, length));
        return true;
      },
    },
  });
  await once(socket, "connect");
  socket.on("error", (fault) => waiting.reject(fault));
  socket.on("close", () => waiting.reject(new Error("A connection ended before the answer.")));
  return {
    ask(request) {
      waiting = Promise.withResolvers<Answer>();
      if (socket.destroyed) waiting.reject(new Error("A connection ended while it was idle."));
      else socket.write(request);
      return waiting.promise;
    },
    end() {
      // Nobody may be waiting any more; to them it is no fault.
      waiting.promise.catch(() => {});
      socket.destroy();
    },
  };
}

/** Reads one answer after the other from the chunks it is given; they may be overwritten when it returns. */
function answerReader(onAnswer: (answer: Answer) => void): (chunk: Buffer) => void {
  let headers = nothing;
  let [status, bodyBytes, bytesLeft] = [0, 0, 0];
  /** The last bytes of a body without a length so far; null while one has a length. */
  let end: Buffer | null = null;
  const readOn = (body: Buffer) => {
    bodyBytes += body.length;
    end = Buffer.concat([end!, body.subarray(-endOfChunks.length)]).subarray(-endOfChunks.length);
    if (!end.equals(endOfChunks)) return;
    end = null;
    onAnswer({ status, bodyBytes });
  };
  return (chunk) => {
    if (end !== null) return readOn(chunk);
    if (bytesLeft > 0) bytesLeft -= chunk.length;
    else {
      const begun = headers.length === 0 ? chunk : Buffer.concat([headers, chunk]);
      const bodyAt = begun.indexOf(endOfHeaders) + endOfHeaders.length;
      if (bodyAt < endOfHeaders.length) return void (headers = Buffer.from(begun));
      headers = nothing;
      const text = begun.toString("latin1", 0, bodyAt - 2);
      status = Number(text.slice(9, 12));
      if (/\r\ntransfer-encoding: chunked\r\n/i.test(text)) {
        [bodyBytes, end] = [0, nothing];
        return readOn(begun.subarray(bodyAt));
      }
      bodyBytes = Number(/\r\ncontent-length: (\d+)\r\n/i.exec(text)?.[1] ?? 0);
      bytesLeft = bodyBytes - (begun.length - bodyAt);
    }
    if (bytesLeft === 0) onAnswer({ status, bodyBytes });
  };
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
    process.send!({ results: await run(message) });
  } catch (error) {
    process.send!({ fault: (error as Error).message });
  }
});
