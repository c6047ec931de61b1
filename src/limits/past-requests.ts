/** Requests that earlier runs counted: converts their times to the clock of this run. */
import { dayMicroseconds } from "./policy.ts";

/** A segment no longer written to, and the time of its newest record in µs. */
export interface FinishedSegment {
  path: string;
  newestMicroseconds: number;
}

/**
 * Returns the sorted times of the requests of the last day by account, in µs on this run's monotonic clock, which are below
 * zero before its boot; and the segments.
 * @param contents segments by their paths.
 * @param bootId boot of this run. Times of the same boot are exact; all others are converted by the wall clock.
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
    /** Added to a time of another boot to convert it to our monotonic clock. */
    const shift =
      last === null || content.bootId === bootId
        ? 0
        : now.monotonicMicroseconds - elapsedMicroseconds(last, now) - last.monotonicMicroseconds;
    collect(content, shift, now.monotonicMicroseconds, collected);
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

function collect(
  content: SegmentContent,
  shift: number,
  now: number,
  into: Map<number, number[]>,
): void {
  for (let place = 0; place < content.count; place++) {
    // Never later than now: a window would count such a request for longer than its own length.
    const time = Math.min(now, content.monotonicMicroseconds[place]! + shift);
    if (now - time >= dayMicroseconds) continue;
    const account = content.accounts[place]!;
    const times = into.get(account);
    if (times === undefined) into.set(account, [time]);
    else times.push(time);
  }
}

/** Both clocks, read together. */
export interface Moment {
  monotonicMicroseconds: number;
  wallMilliseconds: number;
}

/**
 * Returns the least µs that can have passed from the last record of another boot until now. Too little makes the limits
 * refuse for too long, at most one window. Too much would give quota away.
 *
 * The wall clock tells it to a millisecond. Two things stay certain if that clock was set back. A monotonic clock below
 * the last record was restarted, and all that it shows has passed since. One above it may be the same clock, because a
 * container gets its own boot id but not its own clock; then only the difference is certain.
 *
 * This has a limit: a wall clock set *forward* between the last record and now is believed, and forgives requests by as
 * much as it was set. The wall clock is not used within one boot.
 */
function elapsedMicroseconds(last: Moment, now: Moment): number {
  const byWall = (now.wallMilliseconds - last.wallMilliseconds - 1) * 1000;
  const difference = now.monotonicMicroseconds - last.monotonicMicroseconds;
  const certain = difference >= 0 ? difference : now.monotonicMicroseconds;
  return Math.max(certain, byWall);
}

export interface SegmentContent {
  /** null if the header is damaged. */
  bootId: string | null;
  count: number;
  /** Account of each request, in the first `count` elements. */
  accounts: Uint32Array;
  monotonicMicroseconds: Float64Array;
  /** Both clocks at the newest record; null if there is none. */
  last: Moment | null;
}
