/** Batches on their way to the thread that writes, which has not answered them yet. */

interface Unsettled {
  add(bytes: number, requests: number): void;
  /** The oldest was answered. */
  settle(): void;
  /** None will be answered any more. @returns how many requests they held. */
  abandon(): number;
  bytes(): number;
  /** Resolves when there are none. */
  none(): Promise<void>;
}

export function openUnsettled(): Unsettled {
  let batches: { bytes: number; requests: number }[] = [];
  let bytes = 0;
  let waiting: (() => void)[] = [];

  const tellIfNone = () => {
    if (batches.length > 0) return;
    for (const resolve of waiting) resolve();
    waiting = [];
  };
  return {
    add(more, requests) {
      batches.push({ bytes: more, requests });
      bytes += more;
    },
    settle() {
      bytes -= batches.shift()!.bytes;
      tellIfNone();
    },
    abandon() {
      const requests = batches.reduce((sum, batch) => sum + batch.requests, 0);
      batches = [];
      bytes = 0;
      tellIfNone();
      return requests;
    },
    bytes: () => bytes,
    async none() {
      if (batches.length > 0) await new Promise<void>((resolve) => waiting.push(resolve));
    },
  };
}
