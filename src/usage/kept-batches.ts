/** Batches that wait to be written, within a limit of memory: the oldest are dropped first. */
import type { Batch } from "./writes.ts";

/** Of batches that are not written yet. */
export interface Waiting {
  requests: number;
  /** Of memory, about. */
  bytes: number;
}

interface KeptBatches {
  /** @returns how many requests were dropped for it. */
  add(batch: Batch): number;
  first(): Batch | undefined;
  /** Removes the first, which is written. */
  drop(): void;
  waiting(): Waiting;
}

const keyUseBytes = 200;

/** About how much memory a batch takes. */
export const sizeOf = (batch: Batch): number =>
  batch.kind === "requests"
    ? batch.rows.bytes.byteLength + keyUseBytes * batch.rows.words.length
    : keyUseBytes * batch.rows.length;

export const requestsOf = (batch: Batch): number =>
  batch.kind === "requests" ? batch.rows.count : 0;

export function openKeptBatches(bytesMax: number): KeptBatches {
  const batches: Batch[] = [];
  let bytes = 0;
  const shift = (): number => {
    const gone = batches.shift()!;
    bytes -= sizeOf(gone);
    return requestsOf(gone);
  };
  return {
    add(batch) {
      batches.push(batch);
      bytes += sizeOf(batch);
      let dropped = 0;
      while (bytes > bytesMax) dropped += shift();
      return dropped;
    },
    first: () => batches[0],
    drop: () => void shift(),
    waiting: () => ({
      requests: batches.reduce((sum, batch) => sum + requestsOf(batch), 0),
      bytes,
    }),
  };
}
