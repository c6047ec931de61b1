/** How long the event loop of a server was busy at one go, in the seconds in which the machine was not away. */
import { setTimeout as wait } from "node:timers/promises";
import { askInside } from "../bench/ask-inside.ts";
import { stolenTicks } from "../bench/calm-seconds.ts";
import type { RunningServer } from "../bench/servers.ts";

/** @returns what ends the watch and gives the longest turn of each second, in ms. */
export function watchTurns(server: RunningServer): { end(): Promise<number[]> } {
  const turns: number[] = [];
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      const stolen = stolenTicks();
      await askInside(server, "beginDelay");
      await wait(1000);
      const turn = await askInside<number>(server, "endDelay");
      if (stolenTicks() === stolen) turns.push(turn);
    }
  })();
  return {
    async end() {
      isOver = true;
      await watching;
      return turns;
    },
  };
}
