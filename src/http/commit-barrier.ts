/** Holds responses back until the quota counts they report are committed: one commit for each turn of the event loop. */
import type { Counters } from "#limits/counters.ts";

/**
 * @param send is called with the response once the counts of this turn of the event loop are committed.
 * @param refuse is called instead where they could not be: what may be forgotten must not be served.
 */
export type AfterCommit = <R>(
  response: R,
  send: (response: R) => void,
  refuse: (response: R) => void,
) => void;

/** A response of any kind, with its own `send` and `refuse`. */
interface Waiting {
  response: unknown;
  send(response: unknown): void;
  refuse(response: unknown): void;
}

export function openCommitBarrier(commit: Counters["commit"]): AfterCommit {
  let waiting: Waiting[] = [];
  const release = () => {
    const released = waiting;
    waiting = [];
    const sendAll = () => {
      for (const { response, send } of released) send(response);
    };
    const committed = commit();
    if (committed instanceof Promise)
      committed.then(sendAll, () => {
        for (const { response, refuse } of released) refuse(response);
      });
    else sendAll();
  };
  return (response, send, refuse) => {
    if (waiting.length === 0) setImmediate(release);
    waiting.push({ response, send, refuse } as Waiting);
  };
}
