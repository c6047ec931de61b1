/** Catalogue of errors: the status, title and members of each code, and the texts on its page. */
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

/** Members of an error of one code, besides those of every error. */
type Members = Readonly<Record<string, TSchema>>;

/** Status, title and members of a code, and the texts on its page. Backticks mark code. */
export interface ProblemKind<M extends Members = Members> {
  status: number;
  title: string;
  members: M;
  /** The error's causes, and what to do about each. */
  meaning: string;
  /** Answer to "Send the same request again?"; "No. Change the request first." by default. */
  again?: string;
  /** Answer to "Did the request count against the quota?"; "No." by default. */
  counted?: string;
  /** Example, as the service sends it; null if it depends on the operations. */
  example: { detail: string; members: Unchanging<Static<TObject<M>>> } | null;
}

/** Checks the example of a code by its members. */
const kind = <M extends Members>(one: ProblemKind<M>) => one;

const kinds = {
  "invalid-parameters": kind({
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
    meaning: `At least one query parameter is missing, misspelt, repeated, out of range, or has a value that it does not take. \`errors\` lists all faults of the request at once, each with the parameter, a code and what would be right; of more than ${listedMax} it lists the first ${listedMax}, and \`errors_total\` says how many there are. Correct the faults and send the request again. The faulty request counted 1 against your quota.`,
    counted: "Yes, 1.",
    example: null,
  }),
  "malformed-request": kind({
    status: 400,
    title: "The request could not be read",
    members: {},
    meaning:
      "The bytes that arrived are not an HTTP/1.1 request that this server accepts: for instance two `Host` lines, a `Host` that is not a host name or address, a header without a colon, or a path with a broken percent-encoding. Send the request with an ordinary HTTP client. On `/mcp` the error also means a body that is not a message, or two different keys in `x-api-key` and `Authorization`. `detail` says what is wrong.",
    example: {
      detail: "The request has more than one Host header. Send exactly one.",
      members: {},
    },
  }),
  "api-key-missing": kind({
    status: 401,
    title: "No API key was sent",
    members: { header: text("Name of the header for the key."), account_url: accountUrl },
    meaning:
      "Send your key in the header `x-api-key`, exactly once. A key in the query string, in a cookie or, except on `/mcp`, in `Authorization` is not read.",
    again: "No. Send it with your key.",
    example: {
      detail:
        "Send your API key in the header x-api-key. If you have no key, sign in at /account and create one; if you have no account, ask the operator of this service for one.",
      members: { header: "x-api-key", account_url: "/account" },
    },
  }),
  "api-key-invalid": kind({
    status: 401,
    title: "The API key is not valid",
    members: { reason: reason(["malformed", "checksum", "unknown"]) },
    meaning:
      "`reason` says why: `malformed`: the text does not have the form of a key (`gpr_` and 36 letters and digits); `checksum`: the key has a typing error; `unknown`: this service never issued the key. Copy the key again. If it is still refused, use another one, or ask the operator of the service for one.",
    again:
      "No. Send it with the right key; too many wrong keys from one address are answered with 429.",
    example: {
      detail:
        "The key contains a typing error: its last 6 characters do not match the rest. Copy the whole key again.",
      members: { reason: "checksum" },
    },
  }),
  "api-key-expired": kind({
    status: 401,
    title: "The API key has expired",
    members: {
      key_hint: keyHint,
      expired_at: time("Time when the key expired."),
      account_url: accountUrl,
    },
    meaning:
      "The key was valid until `expired_at`. Create a new key at `account_url`, or ask the operator of the service for one.",
    again: "No. Send it with another key.",
    example: {
      detail: "The key gpr_R7mQ… expired at 2026-10-31T00:00:00Z. Use another key.",
      members: {
        key_hint: "gpr_R7mQ",
        expired_at: "2026-10-31T00:00:00Z",
        account_url: "/account",
      },
    },
  }),
  "api-key-revoked": kind({
    status: 401,
    title: "The API key was revoked",
    members: {
      key_hint: keyHint,
      revoked_at: time("Time when the key was revoked."),
      account_url: accountUrl,
    },
    meaning:
      "Somebody with access to the account, or the operator, revoked the key at `revoked_at`. Use another key of the account, or ask the operator.",
    again: "No. Send it with another key.",
    example: {
      detail: "The key gpr_R7mQ… was revoked at 2026-10-31T14:02:11Z. Use another key.",
      members: {
        key_hint: "gpr_R7mQ",
        revoked_at: "2026-10-31T14:02:11Z",
        account_url: "/account",
      },
    },
  }),
  "access-denied": kind({
    status: 403,
    title: "The key may not do this",
    members: { reason: reason(["account_suspended", "plan", "origin"]) },
    meaning:
      "`account_suspended`: the account of the key is suspended or closed. `plan`: the plan of the account does not include what was asked for. `origin`: a page of another site called `/mcp`, and the operator has not listed that origin by name in `CORS_ORIGINS`. Ask the operator of the service.",
    again: "Not until the operator has changed the account, its plan or the list of origins.",
    example: {
      detail: "The account of this key is suspended or closed. Ask the operator of the service.",
      members: { reason: "account_suspended" },
    },
  }),
  "unknown-path": kind({
    status: 404,
    title: "There is nothing at this path",
    members: {
      suggestion: orNull(path("The nearest existing path; `null` if none is similar.")),
      operations: list("Paths of all operations.", Type.String()),
      kept: Type.Optional(list("Below `/changes`: paths of the newest kept steps.", Type.String())),
    },
    meaning:
      "`operations` lists the paths of all operations, and `suggestion` names the nearest one. `/exports` is there only where the operator offers whole datasets. Paths are lower case and have no slash at the end. A search that finds no record is never a 404 but a 200 with an empty list.",
    counted:
      "No. An unknown file of `/exports`, record of `/explain` or step of `/changes` counts 1, as its key is checked first.",
    example: null,
  }),
  "method-not-allowed": kind({
    status: 405,
    title: "This method is not allowed here",
    members: { allowed: list("Methods that the path accepts.", Type.String()) },
    meaning: "The service is read-only. Use one of the methods in `allowed`, usually GET.",
    example: {
      detail: "This path does not accept the method POST, only GET, HEAD, OPTIONS.",
      members: { allowed: ["GET", "HEAD", "OPTIONS"] },
    },
  }),
  "not-acceptable": kind({
    status: 406,
    title: "None of the accepted formats is available",
    members: { available: list("Media types in which the path can answer.", Type.String()) },
    meaning:
      "The `Accept` header excludes every format this path can answer in. Leave it out, or name one of `available`.",
    counted: "Yes, 1.",
    example: null,
  }),
  "request-timeout": kind({
    status: 408,
    title: "The request did not arrive in time",
    members: {},
    meaning:
      "The headers did not arrive within 10 seconds, or the whole request did not arrive within 15 seconds; `detail` says which. Send the whole request at once.",
    again: "Yes, on a new connection.",
    example: {
      detail: "The whole request must arrive within 15 seconds. Send it again on a new connection.",
      members: {},
    },
  }),
  "content-too-large": kind({
    status: 413,
    title: "The request body is too large",
    members: { maximum: count("Maximum size of the body in bytes.") },
    meaning:
      "The operations take no request body: send the parameters in the query string; a body of up to `maximum` bytes is ignored. Forms of the account pages are shorter than that.",
    again: "No. Send it without a body, or with a shorter one where the path takes one.",
    example: {
      detail:
        "The request body may be at most 65536 bytes here. Send a smaller body or file; GET needs none.",
      members: { maximum: 65_536 },
    },
  }),
  "uri-too-long": kind({
    status: 414,
    title: "The request address is too long",
    members: { maximum: count("Maximum length of the address in bytes.") },
    meaning:
      "The path and query together have more than `maximum` bytes. Ask for fewer values at once.",
    example: {
      detail:
        "The address has 9310 bytes, but may have at most 8192. Send fewer or shorter parameters.",
      members: { maximum: 8192 },
    },
  }),
  "unsupported-media-type": kind({
    status: 415,
    title: "The body is of a type that is not read here",
    members: { available: list("Media types that the path accepts.", Type.String()) },
    meaning:
      "The `Content-Type` header names no type, or one that this path does not accept; or, on `/mcp`, the body is compressed. Send the body uncompressed, as one of the types in `available`.",
    example: {
      detail: "Send the body as JSON, with the header Content-Type: application/json.",
      members: { available: ["application/json"] },
    },
  }),
  "range-not-satisfiable": kind({
    status: 416,
    title: "The range lies beyond the file",
    members: { bytes: count("Size of the file in bytes.") },
    meaning:
      "The `Range` header asks for bytes beyond the end of the file, which has `bytes` of them. Your copy may already be complete: compare its length and SHA-256 with those that `/exports` states.",
    counted: "Yes, 1.",
    example: {
      detail: "The file has only 2302117 bytes.",
      members: { bytes: 2_302_117 },
    },
  }),
  "expectation-failed": kind({
    status: 417,
    title: "The expectation cannot be met",
    members: {},
    meaning: "The `Expect` header holds something other than `100-continue`. Leave the header out.",
    example: {
      detail: "The Expect header may only be '100-continue'. Send that value or omit the header.",
      members: {},
    },
  }),
  "quota-exceeded": kind({
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
    meaning:
      "The request counts as more than is left of a minute's, an hour's or a day's quota, too many wrong keys came from your address, or too many messages without a call came to `/mcp`; `detail` says which. Wait `retry_after` seconds, then try again; the refused request was not counted. The header `RateLimit` of each answer to a valid key says how many requests are left.",
    again: "Yes, after `retry_after` seconds; the header `Retry-After` says the same.",
    example: {
      detail: "All 60 requests of this minute are used. Try again in 23 seconds.",
      members: {
        "violated-policies": ["minute"],
        retry_after: 23,
        policies: [
          { name: "minute", quota: 60, window: 60, remaining: 0, reset: 23 },
          { name: "hour", quota: 1000, window: 3600, remaining: 412, reset: 90 },
          { name: "day", quota: 10_000, window: 86_400, remaining: 8123, reset: 811 },
        ],
      },
    },
  }),
  "headers-too-large": kind({
    status: 431,
    title: "The request headers are too large",
    members: { maximum: count("Maximum size of request line and headers together, in bytes.") },
    meaning:
      "The request line and headers together have more than `maximum` bytes, or there are more than 48 header lines. Send fewer or shorter headers.",
    example: {
      detail:
        "The request may have at most 48 header lines, and at most 16384 bytes in request line and headers together. Shorten the address or send fewer headers.",
      members: { maximum: 16_384 },
    },
  }),
  "internal-error": kind({
    status: 500,
    title: "Something went wrong on our side",
    members: {},
    meaning:
      "An unexpected error occurred. Try again; if it happens again, give the `request_id` to the operator of the service.",
    again: "Yes, once or twice, a few seconds apart.",
    counted: "Yes, 1.",
    example: {
      detail:
        "An unexpected error occurred. Try again; if it happens again, give the operator the id of this request (request_id).",
      members: {},
    },
  }),
  unavailable: kind({
    status: 503,
    title: "The service cannot answer right now",
    members: {
      reason: reason(["starting", "draining", "overloaded", "timeout", "no_dataset", "store_down"]),
      retry_after: count("Whole seconds to wait before trying again.", 1),
    },
    meaning:
      "`reason` says why: `starting` and `draining` pass within seconds; `overloaded` passes once the load drops; `timeout`, once the requested file has been made; `no_dataset`, once the operator has published records; `store_down`, once the service can reach its database and counters again and its disk has space. Try again after `retry_after` seconds.",
    again: "Yes, after `retry_after` seconds; the header `Retry-After` says the same.",
    counted:
      "Yes with `no_dataset` (except on `/ready`) and `timeout`. With `starting`, `draining`, `overloaded` and `store_down`, only if the request had already been counted when it failed.",
    example: {
      detail: "The service is starting. Try again in a few seconds.",
      members: { reason: "starting", retry_after: 1 },
    },
  }),
};

export type ProblemCode = keyof typeof kinds;

export const problemKinds: Readonly<Record<ProblemCode, ProblemKind>> = kinds;
export const problemCodes = Object.keys(kinds) as ProblemCode[];

/** Type that is read-only at every level. */
type Unchanging<T> = T extends readonly (infer Item)[]
  ? readonly Unchanging<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]: Unchanging<T[Name]> }
    : T;

export type MembersOf<Code extends ProblemCode> = Unchanging<
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
export type ProblemMembers = {
  readonly [Name in NamesIn<EveryMembers>]?: ValueIn<EveryMembers, Name>;
};

/** Arguments of an error: its code, its detail, and exactly the members of that code. */
export type ProblemParts = {
  [Code in ProblemCode]: keyof MembersOf<Code> extends never
    ? readonly [code: Code, detail: string]
    : readonly [code: Code, detail: string, members: MembersOf<Code>];
}[ProblemCode];
