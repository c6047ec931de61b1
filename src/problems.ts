/** The catalogue of errors: what each code means, its HTTP status, and the one error class that carries it. */

export interface ProblemKind {
  status: number;
  title: string;
}

const kinds = {
  "invalid-parameters": { status: 400, title: "One or more query parameters are not valid" },
  "malformed-request": { status: 400, title: "The request could not be read" },
  "api-key-missing": { status: 401, title: "No API key was sent" },
  "api-key-invalid": { status: 401, title: "The API key is not valid" },
  "api-key-expired": { status: 401, title: "The API key has expired" },
  "api-key-revoked": { status: 401, title: "The API key was revoked" },
  "access-denied": { status: 403, title: "The key may not do this" },
  "unknown-path": { status: 404, title: "There is nothing at this path" },
  "method-not-allowed": { status: 405, title: "This method is not allowed here" },
  "not-acceptable": { status: 406, title: "None of the accepted formats is available" },
  "request-timeout": { status: 408, title: "The request did not arrive in time" },
  "version-retired": { status: 410, title: "This API version is no longer served" },
  "content-too-large": { status: 413, title: "The request body is too large" },
  "uri-too-long": { status: 414, title: "The request address is too long" },
  "unsupported-media-type": { status: 415, title: "The body is of a type that is not read here" },
  "expectation-failed": { status: 417, title: "The expectation cannot be met" },
  "quota-exceeded": {
    status: 429,
    title: "Request cannot be satisfied as assigned quota has been exceeded",
  },
  "headers-too-large": { status: 431, title: "The request headers are too large" },
  "internal-error": { status: 500, title: "Something went wrong on our side" },
  unavailable: { status: 503, title: "The service cannot answer right now" },
} as const satisfies Record<string, ProblemKind>;

export type ProblemCode = keyof typeof kinds;

export const problemKinds: Readonly<Record<ProblemCode, ProblemKind>> = kinds;
export const problemCodes = Object.keys(kinds) as ProblemCode[];

/** Why one parameter is not valid; the closed list of `errors[].code`. */
export const parameterFaultCodes = [
  "missing",
  "too_short",
  "too_long",
  "empty_value",
  "not_an_integer",
  "out_of_range",
  "unknown_parameter",
  "repeated_parameter",
  "too_many_values",
  "invalid_encoding",
] as const;

export interface ParameterFault {
  parameter: string;
  code: (typeof parameterFaultCodes)[number];
  detail: string;
  suggestion?: string;
  minimum?: number;
  maximum?: number;
  allowed?: readonly string[];
  allowed_on?: readonly string[];
}

/** An answer that is a problem (RFC 9457); `members` are the extension members of its code. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly members: Readonly<Record<string, unknown>>;
  /** Whole seconds for `Retry-After`, where the code has one. */
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ProblemCode, detail: string, members: Readonly<Record<string, unknown>> = {}) {
    // An answer, not a mistake of ours: where it was made is of no interest, and a stack costs more than the rest of it.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(detail);
    Error.stackTraceLimit = stackTraceLimit;
    this.name = "Problem";
    this.code = code;
    this.members = members;
    const retryAfter = members["retry_after"];
    this.retryAfterSeconds = typeof retryAfter === "number" ? retryAfter : undefined;
  }

  get status(): number {
    return problemKinds[this.code].status;
  }
}

/** What nobody meant to happen: told to the operator's log, not to the caller. */
export const internalError = () =>
  new Problem(
    "internal-error",
    "The service made a mistake; it has been logged under this request_id.",
  );

/** The registered type of a used-up quota (draft-ietf-httpapi-ratelimit-headers-11); all others are pages of ours. */
const quotaType = "https://iana.org/assignments/http-problem-types#quota-exceeded";

/** The members of the answer (RFC 9457), in their order. */
export function problemBody(
  { code, message, members }: Problem,
  requestId: string,
): Record<string, unknown> {
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

// Wider than a key: a damaged, cut, lengthened, doubled or percent-encoded one still tells most of the secret.
const keyLike = /gpr(?:_|%5f)[0-9a-z_]{12,}/gi;
const hintLength = 8;

/**
 * Text with everything in it that looks like a key cut to 8 characters and `…`, for errors and logs; with its
 * percent-escapes resolved where only they kept a key from being seen.
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

/** Text of a caller as it may be shown back: at most 50 characters, and nothing that could be an API key. */
export function echo(text: string): string {
  const letters = [...maskKeys(text)];
  return letters.length <= echoedMax
    ? letters.join("")
    : `${letters.slice(0, echoedMax).join("")}…`;
}
