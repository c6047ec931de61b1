/** Catalogue of errors: each code's meaning, HTTP status and members, and the only error class that carries them. */
import { list, oneOf, orNull, time } from "#records/fields.ts";
import { Type, type Static, type TObject, type TSchema } from "#records/schema.ts";

const text = (description: string) => Type.String({ description });
const path = (description: string) => Type.String({ description, format: "uri-reference" });
const count = (description: string, minimum = 0) => Type.Integer({ description, minimum });

/** Reasons why a parameter is not valid: the closed list of `errors[].code`. */
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
  "unknown_value",
  "out_of_order",
] as const;

/** Maximum number of faults listed in one response. A query of 8 KB can have thousands. */
export const listedMax = 20;

export const ParameterFault = Type.Object({
  parameter: text("Name of the parameter as it was sent, cut to 50 characters."),
  code: oneOf("Kind of fault, for programs to read.", parameterFaultCodes),
  detail: text("The fault in words, for people to read."),
  suggestion: Type.Optional(text("Parameter or value that was probably meant.")),
  minimum: Type.Optional(Type.Integer({ description: "Smallest value or length accepted." })),
  maximum: Type.Optional(Type.Integer({ description: "Largest value, length or count accepted." })),
  allowed: Type.Optional(
    list("Parameters that the path takes, or values that the parameter takes.", Type.String()),
  ),
  allowed_on: Type.Optional(list("Paths of operations that take the parameter.", Type.String())),
});
export type ParameterFault = Unchanging<Static<typeof ParameterFault>>;

const policyName = oneOf("Name of the quota.", [
  "minute",
  "hour",
  "day",
  "failed-keys",
  "mcp-messages",
]);

export const QuotaPolicy = Type.Object({
  name: policyName,
  quota: count("Number of requests that each window admits.", 1),
  window: count("Length of the window in seconds.", 1),
  remaining: count("Number of requests that the current window still admits."),
  reset: count("Seconds until more requests are admitted."),
});

const accountUrl = orNull(path("Page on which you manage your keys; `null` if there is none."));
const keyHint = text("First characters of the key, to tell it from your other keys.");
const reason = <const V extends readonly string[]>(values: V) =>
  oneOf("Reason for the error, for programs to read.", values);

/** Members of every error, in the order in which they are sent (RFC 9457). Backticks in descriptions mark code. */
export const commonMembers = {
  type: path("URI reference that identifies the kind of error."),
  title: text("The error in one line; the same for every error of this code."),
  status: Type.Integer({ description: "The HTTP status, as in the status line." }),
  detail: text("What went wrong this time, for people to read."),
  code: text("Kind of error, for programs to read. The codes never change."),
  request_id: text(
    "Id of the request, as in the header `X-Request-Id`. Quote the id when you ask the operator about the error.",
  ),
};

export interface ProblemKind {
  status: number;
  title: string;
  /** Members of an error with this code, besides those of every error. */
  members: Readonly<Record<string, TSchema>>;
}

const kinds = {
  "invalid-parameters": {
    status: 400,
    title: "One or more query parameters are not valid",
    members: {
      errors: Type.Array(ParameterFault, {
        description: `The faults in the order of the query, missing parameters last; at most ${listedMax} of them.`,
        maxItems: listedMax,
      }),
      errors_total: Type.Optional(
        count(`Total number of faults, only if more than ${listedMax}.`, listedMax + 1),
      ),
    },
  },
  "malformed-request": { status: 400, title: "The request could not be read", members: {} },
  "api-key-missing": {
    status: 401,
    title: "No API key was sent",
    members: { header: text("Name of the header for the key."), account_url: accountUrl },
  },
  "api-key-invalid": {
    status: 401,
    title: "The API key is not valid",
    members: { reason: reason(["malformed", "checksum", "unknown"]) },
  },
  "api-key-expired": {
    status: 401,
    title: "The API key has expired",
    members: {
      key_hint: keyHint,
      expired_at: time("Time when the key expired."),
      account_url: accountUrl,
    },
  },
  "api-key-revoked": {
    status: 401,
    title: "The API key was revoked",
    members: {
      key_hint: keyHint,
      revoked_at: time("Time when the key was revoked."),
      account_url: accountUrl,
    },
  },
  "access-denied": {
    status: 403,
    title: "The key may not do this",
    members: { reason: reason(["account_suspended", "plan", "origin"]) },
  },
  "unknown-path": {
    status: 404,
    title: "There is nothing at this path",
    members: {
      suggestion: orNull(path("The nearest existing path; `null` if none is similar.")),
      operations: list("Paths of all operations.", Type.String()),
      kept: Type.Optional(list("Below `/changes`: paths of the newest kept steps.", Type.String())),
    },
  },
  "method-not-allowed": {
    status: 405,
    title: "This method is not allowed here",
    members: { allowed: list("Methods that the path accepts.", Type.String()) },
  },
  "not-acceptable": {
    status: 406,
    title: "None of the accepted formats is available",
    members: { available: list("Media types in which the path can answer.", Type.String()) },
  },
  "request-timeout": { status: 408, title: "The request did not arrive in time", members: {} },
  "content-too-large": {
    status: 413,
    title: "The request body is too large",
    members: { maximum: count("Maximum size of the body in bytes.") },
  },
  "uri-too-long": {
    status: 414,
    title: "The request address is too long",
    members: { maximum: count("Maximum length of the address in bytes.") },
  },
  "unsupported-media-type": {
    status: 415,
    title: "The body is of a type that is not read here",
    members: { available: list("Media types that the path accepts.", Type.String()) },
  },
  "range-not-satisfiable": {
    status: 416,
    title: "The range lies beyond the file",
    members: { bytes: count("Size of the file in bytes.") },
  },
  "expectation-failed": { status: 417, title: "The expectation cannot be met", members: {} },
  "quota-exceeded": {
    status: 429,
    title: "Request cannot be satisfied as assigned quota has been exceeded",
    members: {
      "violated-policies": list(
        "Names of the quotas that are used up: `minute`, `hour`, `day`; `failed-keys` for too many wrong keys from your address; `mcp-messages` for too many messages to `/mcp` that call no tool.",
        policyName,
      ),
      retry_after: count("Whole seconds to wait before trying again.", 1),
      policies: list(
        "Each quota: `quota` requests in `window` seconds, `remaining` of them left, and `reset` seconds until more are admitted.",
        QuotaPolicy,
      ),
    },
  },
  "headers-too-large": {
    status: 431,
    title: "The request headers are too large",
    members: { maximum: count("Maximum size of request line and headers together, in bytes.") },
  },
  "internal-error": { status: 500, title: "Something went wrong on our side", members: {} },
  unavailable: {
    status: 503,
    title: "The service cannot answer right now",
    members: {
      reason: reason(["starting", "draining", "overloaded", "timeout", "no_dataset", "store_down"]),
      retry_after: count("Whole seconds to wait before trying again.", 1),
    },
  },
} as const satisfies Record<string, ProblemKind>;

export type ProblemCode = keyof typeof kinds;

export const problemKinds: Readonly<Record<ProblemCode, ProblemKind>> = kinds;
export const problemCodes = Object.keys(kinds) as ProblemCode[];

/** Type that is read-only at every level. */
type Unchanging<T> = T extends readonly (infer Item)[]
  ? readonly Unchanging<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]: Unchanging<T[Name]> }
    : T;

type MembersOf<Code extends ProblemCode> = Unchanging<
  Static<TObject<(typeof kinds)[Code]["members"]>>
>;

type NamesIn<Members> = Members extends unknown ? keyof Members : never;
type ValueIn<Members, Name> = Members extends unknown
  ? Name extends keyof Members
    ? Members[Name]
    : never
  : never;
type EveryMembers = { [Code in ProblemCode]: MembersOf<Code> }[ProblemCode];

/** Extension members of an error whose code is not known: each may be missing. */
type ProblemMembers = {
  readonly [Name in NamesIn<EveryMembers>]?: ValueIn<EveryMembers, Name>;
};

/** Arguments of an error: its code, its detail, and exactly the members of that code. */
type ProblemParts = {
  [Code in ProblemCode]: keyof MembersOf<Code> extends never
    ? readonly [code: Code, detail: string]
    : readonly [code: Code, detail: string, members: MembersOf<Code>];
}[ProblemCode];

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
  new Problem(
    "internal-error",
    "An unexpected error occurred. Try again; if it happens again, give the operator the id of this request (request_id).",
  );

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
