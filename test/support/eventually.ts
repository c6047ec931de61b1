/** Waits for what another process, or another machine, does in its own time. */
import { setTimeout as wait } from "node:timers/promises";

/**
 * Tries again until `check` throws nothing; how fast that is to be is measured in faults/ and bench/.
 * @returns what it returned, and after how many milliseconds.
 * @throws what it threw last, once the time is over.
 */
export async function eventually<R>(
  check: () => R | Promise<R>,
  withinMilliseconds = 30_000,
  betweenMilliseconds = 10,
): Promise<{ result: R; milliseconds: number }> {
  const start = performance.now();
  for (;;) {
    try {
      const result = await check();
      return { result, milliseconds: performance.now() - start };
    } catch (error) {
      const waited = performance.now() - start;
      if (waited > withinMilliseconds) throw error;
      // What takes long is asked for less often: it needs the processor more than we do.
      await wait(Math.max(betweenMilliseconds, Math.min(waited / 10, 100)));
    }
  }
}
