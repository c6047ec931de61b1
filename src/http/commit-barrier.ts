/** Holds responses back until the quota counts they report are committed: one commit for each turn of the event loop. */
import type { Counters } from "#limits/counters.ts";
import { Problem } from "#problems.ts";

/**
 * @param send is called once the counts of this turn of the event loop are committed.
 * @param refuse is called instead where they could not be: what may be forgotten must not be served.
 */
export type AfterCommit = (send: () => void, refuse: () => void) => void;

export function openCommitBarrier(commit: Counters["commit"]): AfterCommit {
  let waiting: { send: () => void; refuse: () => void }[] = [];
  const release = () => {
    const released = waiting;
    waiting = [];
    const sendAll = () => {
      for (const { send } of released) send();
    };
    const committed = commit();
    if (committed instanceof Promise)
      committed.then(sendAll, () => {
        for (const { refuse } of released) refuse();
      });
    else sendAll();
  };
  return (send, refuse) => {
    if (waiting.length === 0) setImmediate(release);
    waiting.push({ send, refuse });
  };
}

export const notCommitted = () =>
  new Problem("unavailable", "The request could not be counted against its quota.", {
    reason: "store_down",
    retry_after: 1,
  });
