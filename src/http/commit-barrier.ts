/** Sends what was counted only once the count is kept: one write for all requests of a turn of the event loop. */

/** @param send is called at the end of this turn. */
export type AfterCommit = (send: () => void) => void;

/** @param keep writes what was counted, as `Counters.keep`. */
export function openCommitBarrier(keep: () => void): AfterCommit {
  let held: (() => void)[] = [];
  const release = () => {
    const sending = held;
    held = [];
    keep();
    for (const send of sending) send();
  };
  return (send) => {
    if (held.length === 0) setImmediate(release);
    held.push(send);
  };
}
