/** Turns a `DomainError` into a response: its status, and when to try again. */
import { TooOften } from "#accounts/throttle.ts";
import { DomainError, StoreFault } from "#store/domain-error.ts";
import { page, type Reply, withHeader } from "./reply.ts";

const statusOf: Readonly<Record<DomainError["kind"], number>> = {
  invalid: 400,
  refused: 403,
  not_found: 404,
  conflict: 409,
  too_often: 429,
  busy: 503,
  unusable: 503,
  full: 503,
};

/** @param markup a whole page that says why. */
export function refusal(fault: DomainError, markup: string): Reply {
  const reply = page(markup, statusOf[fault.kind]);
  const wait = waitOf(fault);
  return wait === null ? reply : withHeader(reply, "retry-after", String(wait));
}

/** For the person who asked: where a store is, and what is wrong with it, is for the operator. */
export const wordsFor = (fault: DomainError): string =>
  fault instanceof StoreFault
    ? "The service cannot read or write its accounts at the moment. Try again in a moment."
    : fault.message;

/** Does what a form asks for, or shows the form again with the error. @param again makes the whole page. */
export async function orAgain(
  act: () => Promise<Reply>,
  again: (fault: string) => string | Promise<string>,
): Promise<Reply> {
  try {
    return await act();
  } catch (fault) {
    if (fault instanceof DomainError) return refusal(fault, await again(wordsFor(fault)));
    throw fault;
  }
}

/** Seconds, where waiting helps. */
function waitOf(fault: DomainError): number | null {
  if (fault instanceof TooOften) return fault.retryAfterSeconds;
  return statusOf[fault.kind] === 503 ? 1 : null;
}
