/** Switches an SQLite file to its write-ahead log, in which readers and one writer do not wait for each other. */
import type { DatabaseSync } from "node:sqlite";

const pauseMilliseconds = 10;
const busyCode = 5;

/**
 * The mode is kept in the file: only the first switch writes.
 * Does nothing to a file that is in the mode already. Blocks the thread while another process makes the switch.
 */
export function useWriteAheadLog(connection: DatabaseSync, busyMilliseconds: number): void {
  const deadline = performance.now() + busyMilliseconds;
  for (;;) {
    try {
      connection.exec("pragma journal_mode = wal");
      return;
    } catch (error) {
      // SQLite's own busy timeout does not cover this statement, which turns a read lock into a write lock.
      const isBusy = ((error as { errcode?: number }).errcode ?? 0) % 256 === busyCode;
      if (!isBusy || performance.now() > deadline) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMilliseconds);
    }
  }
}
