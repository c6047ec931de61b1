/** Load from a process of its own: what is asked of whom, how often, and what came back. */
import { fork } from "node:child_process";
import { join } from "node:path";
import { endWithUs } from "./clean-up.ts";
import { messageFrom } from "./servers.ts";

export interface LoadOrder {
  port: number;
  /** Of other servers that are asked as much: the connections are dealt out among all. */
  siblingPorts?: readonly number[];
  /** Name of requests that were prepared. */
  requests: string;
  connections: number;
  /** How many requests, counted on from `firstRequest` through the list and round again. */
  count: number;
  firstRequest: number;
  /** No request is begun later than this. */
  secondsMax: number;
  /**
   * Asks at this rate, whatever the answers do, and counts the time of a request from when it was due, also where it had to wait for
   * a connection: what people notice who do not know of each other. How late the client itself finds it due is left out. Without it
   * each connection asks when it has its answer.
   */
  perSecond?: number;
}

/** Several servers asked in turn, a part of their requests at a time: whatever else the machine does meets all of them alike. */
export interface BurstsOrder {
  orders: readonly LoadOrder[];
  /** How often it is each one's turn. */
  turns: number;
  /** Begins with the last one; the order is reversed with every burst anyway (A B, B A, A B …). */
  isReversed: boolean;
}

export interface LoadResult {
  answered: number;
  /** Of bodies, all together. */
  bytes: number;
  seconds: number;
  /** From asking to the last byte, in the order they were asked. */
  microseconds: Float64Array;
  /** In the same order. */
  statuses: Uint16Array;
  /** In the same order: 1 where steal time fell into its turn. Only where a rate is given is it looked for. */
  disturbed: Uint8Array;
}

/** What a load client is told. */
export type LoadMessage = { name: string; texts: string[] } | BurstsOrder;

export interface LoadClient {
  /** Keeps whole HTTP requests under a name. */
  prepare(name: string, texts: readonly string[]): void;
  /** @throws Error where a connection breaks or an answer does not come. */
  run(order: LoadOrder): Promise<LoadResult>;
  /** The result of each order, likewise. */
  runInBursts(order: BurstsOrder): Promise<LoadResult[]>;
  close(): void;
}

/** How long the last answers may take. */
const lastAnswersSecondsMax = 60;

export function startLoadClient(): LoadClient {
  const child = endWithUs(
    fork(join(import.meta.dirname, "load-client.ts"), { serialization: "advanced" }),
  );
  const runInBursts = async (order: BurstsOrder): Promise<LoadResult[]> => {
    const secondsMax = order.orders.reduce((sum, one) => sum + one.secondsMax, 0);
    const answer = messageFrom<{ results: LoadResult[] } | { fault: string }>(
      child,
      secondsMax + lastAnswersSecondsMax,
    );
    child.send(order);
    const message = await answer;
    if ("results" in message) return message.results;
    throw new Error(`ports ${order.orders.map(({ port }) => port).join(", ")}: ${message.fault}`);
  };
  return {
    prepare: (name, texts) => void child.send({ name, texts: [...texts] } satisfies LoadMessage),
    async run(order) {
      const [result] = await runInBursts({
        orders: [order],
        turns: 1,
        isReversed: false,
      });
      return result!;
    },
    runInBursts,
    close: () => child.disconnect(),
  };
}

/** @throws Error where an answer is not a 200: what was measured would not be what was meant. */
export function allServed(result: LoadResult): LoadResult {
  const other = result.statuses.find((status) => status !== 200);
  if (other !== undefined) throw new Error(`A request was answered with ${other} instead of 200.`);
  return result;
}
