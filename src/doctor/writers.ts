/** Does another process keep a database locked, so that no key can be made or revoked? */
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { type Check, fail, faultsOr, type Finding } from "./check.ts";
import { findHolder, type Holder, holderText } from "./locks.ts";

/** A write takes a few milliseconds. */
const looks = 10;
const pauseMilliseconds = 100;

export const writers: Check = {
  name: "writers",
  async look({ dataDir }) {
    const files = ["control.sqlite", "usage.sqlite"].map((name) => join(dataDir, name));
    const faults = await Promise.all(files.map(lockedForLong));
    return faultsOr(
      faults.filter((fault) => fault !== null),
      process.platform === "linux"
        ? "nobody keeps a database locked"
        : "who keeps a database locked cannot be told on this system",
    );
  },
};

async function lockedForLong(file: string): Promise<Finding | null> {
  let holder: Holder | null = null;
  for (let look = 0; look < looks; look++) {
    const seen = findHolder(`${file}-shm`) ?? findHolder(file);
    if (seen === null || (holder !== null && seen.pid !== holder.pid)) return null;
    holder = seen;
    await setTimeout(pauseMilliseconds);
  }
  return fail(
    `${holderText(holder!)} has kept ${file} locked for a second: nobody else can write it`,
    `Let it finish, or end it: kill ${holder!.pid}`,
  );
}
