/** The event loop of this very process, which does nothing meanwhile: what a machine does to all. */
import { monitorEventLoopDelay } from "node:perf_hooks";

/** @returns what ends the watch and gives the longest turn, in ms. */
export function watchOwnDelay(): { end(): number } {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  return {
    end() {
      delay.disable();
      return delay.max / 1e6;
    },
  };
}
