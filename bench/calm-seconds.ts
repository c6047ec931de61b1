/** Sorts what is measured second by second into those the machine was ours and those it was away, at work for others. */
import { readFileSync } from "node:fs";

export interface CalmSeconds {
  /** Of the seconds in which the machine was not away. */
  figures: number[];
  calm: number;
  away: number;
}

/** Keeps the books of figures that come in one after the other. */
export interface CalmWatch {
  readonly calm: number;
  end(): CalmSeconds;
}

/**
 * @param figures is added to meanwhile, by whoever measures.
 * @param readStolen grows with the time in which a core was wanted and not given.
 */
export function watchCalmSeconds(
  figures: readonly number[],
  readStolen: () => number = stolenTicks,
): CalmWatch {
  const kept: CalmSeconds = { figures: [], calm: 0, away: 0 };
  let next = figures.length;
  let stolen = readStolen();
  const endSecond = () => {
    const before = stolen;
    stolen = readStolen();
    if (stolen === before) {
      kept.calm++;
      kept.figures.push(...figures.slice(next));
    } else kept.away++;
    next = figures.length;
  };
  const timer = setInterval(endSecond, 1000);
  return {
    get calm() {
      return kept.calm;
    },
    end() {
      clearInterval(timer);
      return kept;
    },
  };
}

/** Hundredths of a second in which a virtual machine wanted a core and was not given it (proc(5)); 0 where nobody counts them. */
export function stolenTicks(): number {
  if (process.platform !== "linux") return 0;
  const [, ...columns] = readFileSync("/proc/stat", "utf8").split("\n", 1)[0]!.split(/\s+/);
  return Number(columns[7] ?? 0);
}
