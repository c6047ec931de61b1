/** Converts the times of requests that earlier runs counted to the clock of this run. */
import { dayMicroseconds } from "./policy.ts";

/** Segment that is no longer written to. */
export interface FinishedSegment {
  path: string;
  /** Time of the newest record on this run's monotonic clock; -Infinity if there is no record. */
  newestMicroseconds: number;
}

/**
 * Returns the segments, and the sorted times of the last day's requests by account. Times are in µs on this run's
 * monotonic clock; times before its boot are negative.
 * @param contents segments by path.
 * @param bootId boot of this run. Times of this boot are exact; times of other boots are estimates.
 */
export function inTimeOfThisRun(
  contents: Map<string, SegmentContent>,
  bootId: string,
  now: Moment,
) {
  const lasts = lastOfEachBoot(contents.values());
  const collected = new Map<number, number[]>();
  const segments: FinishedSegment[] = [];
  for (const [path, content] of contents) {
    const last = lasts.get(content.bootId) ?? content.last;
    /** Offset in µs that converts times of another boot to this run's monotonic clock. */
    const shift =
      last === null || content.bootId === bootId
        ? 0
        : now.monotonicMicroseconds - elapsedMicroseconds(last, now) - last.monotonicMicroseconds;
    for (let place = 0; place < content.count; place++) {
      const converted = content.monotonicMicroseconds[place]! + shift;
      // Capped at now, because a window would count a request from the future for longer than its own length.
      const time = Math.min(now.monotonicMicroseconds, converted);
      if (now.monotonicMicroseconds - time >= dayMicroseconds) continue;
      collected.getOrInsertComputed(content.accounts[place]!, () => []).push(time);
    }
    const newest = (content.last?.monotonicMicroseconds ?? Number.NEGATIVE_INFINITY) + shift;
    segments.push({ path, newestMicroseconds: Math.min(now.monotonicMicroseconds, newest) });
  }
  const times = new Map<number, Float64Array>();
  for (const [account, found] of collected) times.set(account, Float64Array.from(found).sort());
  return { times, segments };
}

/** Returns the last moment of each boot. Leaves out a segment without a readable boot id: its clock is unknown. */
function lastOfEachBoot(contents: Iterable<SegmentContent>): Map<string | null, Moment> {
  const lasts = new Map<string | null, Moment>();
  for (const { bootId, last } of contents) {
    if (bootId === null || last === null) continue;
    const known = lasts.get(bootId);
    if (known === undefined || last.monotonicMicroseconds >= known.monotonicMicroseconds)
      lasts.set(bootId, last);
  }
  return lasts;
}

/** Readings of both clocks at one moment. */
interface Moment {
  monotonicMicroseconds: number;
  wallMilliseconds: number;
}

/**
 * Returns the shortest time, in µs, that can have passed since the last record of another boot. Too short a time makes
 * the limits refuse for too long, at most for one window. Too long a time would give quota away.
 *
 * The wall clock gives the time to the millisecond, unless it was set back. Even then, the monotonic clock gives a
 * lower bound. It was restarted if it is behind the last record, so all the time that it shows has passed since.
 * Otherwise it may be the same clock, because a container can get its own boot id but not its own clock. In that case,
 * only the difference is certain.
 *
 * A limitation: a wall clock set *forward* between the last record and now is trusted, so requests leave their windows
 * too early by as much as it was set. Within one boot the wall clock is not used.
 */
function elapsedMicroseconds(last: Moment, now: Moment): number {
  const byWall = (now.wallMilliseconds - last.wallMilliseconds - 1) * 1000;
  const difference = now.monotonicMicroseconds - last.monotonicMicroseconds;
  const certain = difference >= 0 ? difference : now.monotonicMicroseconds;
  return Math.max(certain, byWall);
}

export interface SegmentContent {
  /** Null if the header is damaged, or if the file is too short for a record. */
  bootId: string | null;
  count: number;
  /** Account of each request, in the first `count` elements. */
  accounts: Uint32Array;
  monotonicMicroseconds: Float64Array;
  /** Both clocks at the newest record; null if there is none. */
  last: Moment | null;
}
