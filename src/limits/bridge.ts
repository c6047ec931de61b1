/** How much time passed since another run, whose clock cannot be compared with ours. */

/** Both clocks, read together. */
export interface Moment {
  monotonicMicroseconds: number;
  wallMilliseconds: number;
}

/**
 * µs that passed, at the least, from the last record of another boot until now. Too little makes the limits refuse
 * too long, at most one window; too much would give quota away.
 *
 * The wall clock says it, to a millisecond. Where it was set back, two things are still sure: a monotonic clock that
 * stands below the last record was started anew and all it shows has passed since; one that stands above may be the
 * same clock (a container gets a boot id of its own, but not a clock of its own), so only the difference is sure.
 *
 * The limit of bridging: a wall clock set *forward* between the last record and now is believed, and forgives
 * requests by as much as it was set. Within one boot no wall clock is asked.
 */
export function elapsedMicroseconds(last: Moment, now: Moment): number {
  const byWall = (now.wallMilliseconds - last.wallMilliseconds - 1) * 1000;
  const difference = now.monotonicMicroseconds - last.monotonicMicroseconds;
  const sure = difference >= 0 ? difference : now.monotonicMicroseconds;
  return Math.max(sure, byWall);
}
