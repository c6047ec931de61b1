/** Hashes and checks passwords, a few at a time: each costs 19 MiB and 30 ms, which would make a flood of them a weapon. */
import { StoreFault } from "#store/store-fault.ts";
import { type Argon2Cost, hashPassword, isOutdated, isPassword, usualCost } from "./argon2.ts";

export interface Hasher {
  hash(password: string): Promise<string>;
  /** @param stored null where there is nobody; it takes as long. */
  isPassword(password: string, stored: string | null): Promise<boolean>;
  /** Whether a stored password is to be hashed anew, now that it is known. */
  isOutdated(stored: string): boolean;
}

export interface Passwords {
  /**
   * Does its work once a place is free.
   * @throws StoreFault `busy` at once where too many wait already; nothing of the work was done then.
   */
  inTurn<R>(work: (hasher: Hasher) => Promise<R>): Promise<R>;
}

interface PasswordOptions extends Argon2Cost {
  /** At a time. The system's pool has four threads, which files and names need too. */
  runningMax: number;
  waitingMax: number;
}

export function openPasswords(options: Partial<PasswordOptions> = {}): Passwords {
  const { runningMax, waitingMax, ...cost } = {
    ...usualCost,
    runningMax: 2,
    waitingMax: 8,
    ...options,
  };
  const hasher: Hasher = {
    hash: (password) => hashPassword(password, cost),
    isPassword: (password, stored) => isPassword(password, stored, cost),
    isOutdated: (stored) => isOutdated(stored, cost),
  };
  const waiting: (() => void)[] = [];
  let running = 0;

  /** A place that becomes free goes to the next that waits, and is not free in between. */
  const leave = () => {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  };
  const enter = async () => {
    if (running < runningMax) running += 1;
    else if (waiting.length < waitingMax)
      await new Promise<void>((resolve) => waiting.push(resolve));
    else
      throw new StoreFault(
        "busy",
        "Too many people are signing in at this moment. Try again in a few seconds.",
      );
  };

  return {
    async inTurn(work) {
      await enter();
      try {
        return await work(hasher);
      } finally {
        leave();
      }
    },
  };
}
