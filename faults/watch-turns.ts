/** How long the event loop of a server was busy at one go, second by second. */
import { setTimeout as wait } from "node:timers/promises";
import { stealTicks } from "../bench/machine.ts";
import { askInside, type RunningServer } from "../bench/servers.ts";

/** The longest turn of about a second. */
export interface WatchedSecond {
  longestTurn: number;
  /** By `performance.now()`. */
  begunAt: number;
  endedAt: number;
  /** Was the machine there all the time? */
  isCalm: boolean;
}

export interface TurnWatch {
  /** Those that have ended so far. */
  readonly seconds: readonly WatchedSecond[];
  /** Waits for the last one. */
  end(): Promise<void>;
}

export function watchTurns(server: RunningServer): TurnWatch {
  const seconds: WatchedSecond[] = [];
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      const ticks = stealTicks();
      const begunAt = performance.now();
      await askInside(server, "beginDelay");
      await wait(1000);
      const longestTurn = await askInside(server, "endDelay");
      const endedAt = performance.now();
      seconds.push({ longestTurn, begunAt, endedAt, isCalm: stealTicks() === ticks });
    }
  })();
  return {
    seconds,
    async end() {
      isOver = true;
      await watching;
    },
  };
}
