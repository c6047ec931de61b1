/** How an engine is waited for, and what is said of one that fails. */
import { DomainError } from "#store/domain-error.ts";

/** Parts of a wait, so that one turn of the event loop uses up no more than one of them. */
const waitParts = 5;

/**
 * Rejects after this many ms. A busy machine keeps this process from running, too, with the answer unread or the question
 * unsent: however long a turn of the event loop takes, it counts as one part, and sockets are read once more after the last.
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

/** @param place of the engine, as a URL without user and password; faults of the domain name it themselves. */
export function sentenceOf(fault: Error, place: string): string {
  if (fault instanceof DomainError) return fault.message;
  if (fault instanceof TooSlow) return `${place} ${fault.message}.`;
  return `${place} fails: ${fault.message || (fault as NodeJS.ErrnoException).code}.`;
}
