/** How an engine is waited for, and what is said of one that fails. */
import { DomainError } from "#store/domain-error.ts";

/**
 * Rejects after this many ms. A timer that is due at once with the answer, as after a long turn of the event loop, must
 * not win: the answer that has already arrived is read first.
 */
export async function within<T>(milliseconds: number, promise: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    setImmediate(() => late.reject(new TooSlow(milliseconds)));
  }, milliseconds);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
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
