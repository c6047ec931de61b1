/** Requests whose record had to be given up: how many, told when it begins and once it is over. */

interface LostRequests {
  /** Since the process started. */
  count(): number;
  lose(requests: number): void;
  /** Nothing is lost any more: what was lost since it began is told. */
  end(): void;
}

/** @param tell with the requests lost so far where it begins, with all of them and `isOver` at its end. */
export function openLostRequests(tell: (requests: number, isOver: boolean) => void): LostRequests {
  let all = 0;
  let sinceBegun = 0;
  return {
    count: () => all,
    lose(requests) {
      all += requests;
      const hasBegun = sinceBegun > 0;
      sinceBegun += requests;
      if (!hasBegun) tell(requests, false);
    },
    end() {
      if (sinceBegun > 0) tell(sinceBegun, true);
      sinceBegun = 0;
    },
  };
}
