/** What the machine does to every process alike: cores that are wanted and not given. */
import { readFileSync } from "node:fs";

/** Hundredths of a second in which a virtual machine wanted a core and was not given it, "steal time" (proc(5)); 0 where nobody counts them. */
export function stealTicks(): number {
  if (process.platform !== "linux") return 0;
  const [, ...columns] = readFileSync("/proc/stat", "utf8").split("\n", 1)[0]!.split(/\s+/);
  return Number(columns[7] ?? 0);
}

export interface UndisturbedSeconds {
  /** Of the seconds without steal time. */
  figures: number[];
  undisturbed: number;
  disturbed: number;
}

export interface StealWatch {
  /** Seconds so far without steal time. */
  readonly undisturbed: number;
  end(): UndisturbedSeconds;
}

/**
 * Sorts figures that come in one after the other into those of seconds with and without steal time.
 * @param figures is added to meanwhile, by whoever measures.
 */
export function watchSteal(
  figures: readonly number[],
  readTicks: () => number = stealTicks,
): StealWatch {
  const kept: UndisturbedSeconds = { figures: [], undisturbed: 0, disturbed: 0 };
  let next = figures.length;
  let ticks = readTicks();
  const endSecond = () => {
    const before = ticks;
    ticks = readTicks();
    if (ticks === before) {
      kept.undisturbed++;
      kept.figures.push(...figures.slice(next));
    } else kept.disturbed++;
    next = figures.length;
  };
  const timer = setInterval(endSecond, 1000);
  return {
    get undisturbed() {
      return kept.undisturbed;
    },
    end() {
      clearInterval(timer);
      return kept;
    },
  };
}
