/** The one error class for what a client is told (RFC 9457), its common cases, and how texts of callers are masked. */
import {
  type MembersOf,
  type ProblemCode,
  problemKinds,
  type ProblemMembers,
  type ProblemParts,
} from "./problems/kinds.ts";

/** An error response (RFC 9457). */
export class Problem extends Error {
  readonly code: ProblemCode;
  /** Extension members of the code. */
  readonly members: ProblemMembers;

  constructor(...[code, detail, members]: ProblemParts) {
    // An expected response needs no stack, which would cost more than the rest of the error.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(detail);
    Error.stackTraceLimit = stackTraceLimit;
    this.name = "Problem";
    this.code = code;
    this.members = members ?? {};
  }

  get status(): number {
    return problemKinds[this.code].status;
  }
}

/** Returns the problem for an internal error. The cause is logged, not sent. */
export const internalError = () =>
  new Problem("internal-error", problemKinds["internal-error"].example!.detail);

export const malformed = (detail: string) => new Problem("malformed-request", detail);

/** Details of the problem for a service that is not ready, by reason. */
export const notReadyDetails = {
  starting: "The service is starting. Try again in a few seconds.",
  draining: "The service is stopping or restarting. Try again in a few seconds.",
  no_dataset: "The service has no records yet. Try again once its operator has published some.",
} as const;

/** Returns the problem for a request that cannot be answered now. @param retryAfter seconds to wait. */
export const unavailable = (
  reason: MembersOf<"unavailable">["reason"],
  detail: string,
  retryAfter = 1,
) => new Problem("unavailable", detail, { reason, retry_after: retryAfter });

/** Registered type of an exceeded quota (draft-ietf-httpapi-ratelimit-headers-11). Other types are our own pages. */
const quotaType = "https://iana.org/assignments/http-problem-types#quota-exceeded";

/** Returns the body of a problem (RFC 9457), with its members in order. */
export function problemBody({ code, message, members }: Problem, requestId: string) {
  const { status, title } = problemKinds[code];
  return {
    type: code === "quota-exceeded" ? quotaType : `/errors/${code}`,
    title,
    status,
    detail: message,
    code,
    request_id: requestId,
    ...members,
  };
}

// Matches more than a key: a damaged, cut, lengthened, doubled or percent-encoded key still has most of the secret.
const keyLike = /gpr(?:_|%5f)[0-9a-z_]{12,}/gi;
const hintLength = 8;

/**
 * Replaces everything that looks like a key with its first 8 characters and `…`, for errors and logs. Decodes
 * percent-escapes only if they hid a key.
 */
export function maskKeys(text: string): string {
  const masked = cutKeys(text);
  if (!text.includes("%")) return masked;
  const plain = masked.replace(/%([0-9a-f]{2})/gi, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
  const cut = cutKeys(plain);
  return cut === plain ? masked : cut;
}

const cutKeys = (text: string) => text.replace(keyLike, (key) => `${key.slice(0, hintLength)}…`);

const echoedMax = 50;

/**
 * Returns a caller's text in a form that can be sent back: at most 50 characters, then `…` if there were more, and
 * nothing that could be an API key.
 */
export function echo(text: string): string {
  const characters = [...maskKeys(text)];
  return characters.length <= echoedMax
    ? characters.join("")
    : `${characters.slice(0, echoedMax).join("")}…`;
}
