/** Load from a process of its own: what is asked of whom, how often, and what came back. */
import { fork } from "node:child_process";
import { join } from "node:path";
import { endWithUs } from "./clean-up.ts";
import { messageFrom } from "./message-from.ts";
import type { RequestWaits } from "./request-waits.ts";

export interface LoadOrder {
  port: number;
  /** Name of requests that were prepared. */
  requests: string;
  connections: number;
  /** How many requests, counted on from `firstRequest` through the list and round again. */
  count: number;
  firstRequest: number;
  /** No request is begun later than this. */
  secondsMax: number;
  /** Asks at this rate, whatever the answers do; without it each connection asks when it has its answer. */
  perSecond?: number;
  /** A process whose waits for a core are told, and the client's own (Linux). */
  watchedPid?: number;
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
  /** In the same order; null where no process is watched. */
  waits: RequestWaits | null;
}

/** What a load client is told. */
export type LoadMessage = { name: string; texts: string[] } | LoadOrder;

export interface LoadClient {
  /** Keeps whole HTTP requests under a name. */
  prepare(name: string, texts: readonly string[]): void;
  /** @throws Error where a connection breaks or an answer does not come. */
  run(order: LoadOrder): Promise<LoadResult>;
}

export function startLoadClient(): LoadClient {
  const child = endWithUs(
    fork(join(import.meta.dirname, "load-client.ts"), { serialization: "advanced" }),
  );
  return {
    prepare: (name, texts) => void child.send({ name, texts: [...texts] } satisfies LoadMessage),
    async run(order) {
      const answer = messageFrom<{ result: LoadResult } | { fault: string }>(
        child,
        order.secondsMax + 60,
      );
      child.send(order);
      const message = await answer;
      if ("fault" in message) throw new Error(`port ${order.port}: ${message.fault}`);
      return message.result;
    },
  };
}

/** @throws Error where an answer is not a 200: what was measured would not be what was meant. */
export function allServed(result: LoadResult): LoadResult {
  const other = result.statuses.find((status) => status !== 200);
  if (other !== undefined) throw new Error(`A request was answered with ${other} instead of 200.`);
  return result;
}
