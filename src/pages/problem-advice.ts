/** What a client does about each error: send the request again or not, and what it cost. */
import type { ProblemCode } from "#problems.ts";

interface ProblemAdvice {
  /** Is it of use to send the same request again? */
  again: string;
  /** Did the request count against the quota? */
  counted: string;
}

const changed = "No. Change the request first.";
const notCounted = "No.";
const countedOne = "Yes, 1.";

export const problemAdvice: Readonly<Record<ProblemCode, ProblemAdvice>> = {
  "invalid-parameters": { again: changed, counted: countedOne },
  "malformed-request": { again: changed, counted: notCounted },
  "api-key-missing": { again: "No. Send it with your key.", counted: notCounted },
  "api-key-invalid": {
    again:
      "No. Send it with the right key; too many wrong ones from one address are answered with 429.",
    counted: notCounted,
  },
  "api-key-expired": { again: "No. Send it with another key.", counted: notCounted },
  "api-key-revoked": { again: "No. Send it with another key.", counted: notCounted },
  "access-denied": {
    again: "Not until the operator has changed the account.",
    counted: notCounted,
  },
  "unknown-path": { again: changed, counted: notCounted },
  "method-not-allowed": { again: changed, counted: notCounted },
  "not-acceptable": { again: changed, counted: countedOne },
  "request-timeout": { again: "Yes, on a new connection.", counted: notCounted },
  "version-retired": { again: "No. Use the successor.", counted: notCounted },
  "content-too-large": { again: "No. Send it without a body.", counted: notCounted },
  "uri-too-long": { again: changed, counted: notCounted },
  "unsupported-media-type": { again: changed, counted: notCounted },
  "expectation-failed": { again: changed, counted: notCounted },
  "quota-exceeded": {
    again: "Yes, after `retry_after` seconds; the header `Retry-After` says the same.",
    counted: notCounted,
  },
  "headers-too-large": { again: changed, counted: notCounted },
  "internal-error": { again: "Yes, once or twice, a few seconds apart.", counted: countedOne },
  unavailable: {
    again: "Yes, after `retry_after` seconds; the header `Retry-After` says the same.",
    counted: "Only with a `reason` that arises after the key was accepted, such as `no_dataset`.",
  },
};
