/** The wait for an engine, and the sentence about one that fails. */
import { DomainError } from "#store/domain-error.ts";

/** Parts of a wait. One turn of the event loop uses up at most one of them. */
const waitParts = 5;

/**
 * Waits for a promise. Rejects after this many ms. A busy machine keeps this process from running, too, with the answer
 * unread or the question unsent. However long a turn of the event loop takes, it therefore counts as one part of the wait,
 * and sockets are read once more after the last part.
 */
export async function within<T>(milliseconds: number, promise: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  let left = waitParts;
  const timer = setInterval(() => {
    if (--left === 0) setImmediate(() => late.reject(new TooSlow(milliseconds)));
  }, milliseconds / waitParts);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearInterval(timer);
    late.promise.catch(() => {});
    promise.catch(() => {});
  }
}

class TooSlow extends Error {
  constructor(milliseconds: number) {
    super(`does not answer within ${milliseconds} ms`);
    this.name = "TooSlow";
  }
}

/** Returns a sentence about a fault. @param place URL of the engine, no user and password; a DomainError names it itself. */
export function sentenceOf(fault: Error, place: string): string {
  if (fault instanceof DomainError) return fault.message;
  if (fault instanceof TooSlow) return `${place} ${fault.message}.`;
  return `${place} fails: ${fault.message || (fault as NodeJS.ErrnoException).code}.`;
}
