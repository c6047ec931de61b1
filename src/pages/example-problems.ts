/** One error of each code, as the service would send it. */
import { fetchGp } from "#operations/fetch-gp.ts";
import { operations } from "#operations/index.ts";
import { readQuery } from "#operations/parameters.ts";
import { Problem, problemBody, type ProblemCode, type ProblemParts } from "#problems.ts";

const operationPaths = operations.map(({ path }) => path);
const methods = ["GET", "HEAD", "OPTIONS"];
const accountUrl = "/account";

/** Detail and members of each code. */
type Examples = {
  readonly [Code in Exclude<ProblemCode, "invalid-parameters">]: Extract<
    ProblemParts,
    readonly [Code, ...unknown[]]
  > extends readonly [Code, ...infer Example]
    ? Readonly<Example>
    : never;
};

const examples: Examples = {
  "malformed-request": ["The request has more than one Host header."],
  "api-key-missing": [
    "Send your API key in the header x-api-key.",
    { header: "x-api-key", account_url: accountUrl },
  ],
  "api-key-invalid": [
    "The key holds a typing error: its last 6 characters do not fit the others.",
    { reason: "checksum" },
  ],
  "api-key-expired": [
    "The key gpr_R7mQ… expired at 2026-10-31T00:00:00Z.",
    { key_hint: "gpr_R7mQ", expired_at: "2026-10-31T00:00:00Z", account_url: accountUrl },
  ],
  "api-key-revoked": [
    "The key gpr_R7mQ… was revoked at 2026-10-31T14:02:11Z.",
    { key_hint: "gpr_R7mQ", revoked_at: "2026-10-31T14:02:11Z", account_url: accountUrl },
  ],
  "access-denied": [
    "The account of this key is suspended. Ask the operator of the service.",
    { reason: "account_suspended" },
  ],
  "unknown-path": [
    "There is nothing at /fetch-gps.",
    { suggestion: "/fetch-gp", operations: operationPaths },
  ],
  "method-not-allowed": [
    `POST is not allowed here; use ${methods.join(", ")}.`,
    { allowed: methods },
  ],
  "not-acceptable": ["This path answers in application/json.", { available: ["application/json"] }],
  "request-timeout": ["The request was not complete in time."],
  "version-retired": [
    "Version 1 was retired on 2031-03-31.",
    { successor: "/v2", sunset: "2031-03-31T00:00:00Z" },
  ],
  "content-too-large": ["A request body may have 65536 bytes at most.", { maximum: 65_536 }],
  "uri-too-long": ["The address has 9310 bytes; 8192 are allowed.", { maximum: 8192 }],
  "unsupported-media-type": [
    "The Content-Type header names no media type; this path reads application/x-www-form-urlencoded.",
    { available: ["application/x-www-form-urlencoded"] },
  ],
  "expectation-failed": ["Only 'Expect: 100-continue' can be met."],
  "quota-exceeded": [
    "All 60 requests of this minute are used. Try again in 23 seconds.",
    {
      "violated-policies": ["minute"],
      retry_after: 23,
      policies: [
        { name: "minute", quota: 60, window: 60, remaining: 0, reset: 23 },
        { name: "hour", quota: 1000, window: 3600, remaining: 412, reset: 90 },
        { name: "day", quota: 10_000, window: 86_400, remaining: 8123, reset: 811 },
      ],
    },
  ],
  "headers-too-large": [
    "Request line and headers have more than 16384 bytes, or too many lines.",
    { maximum: 16_384 },
  ],
  "internal-error": ["The service made a mistake; it has been logged under this request_id."],
  unavailable: ["The service is starting.", { reason: "starting", retry_after: 1 }],
};

export const exampleRequestId = "req_01JD4Z6T0V8M3Q5N7R9S1W2X4Y";

/** What the service would throw. */
export function exampleProblem(code: ProblemCode): Problem {
  if (code === "invalid-parameters") return faultyQuery();
  return new Problem(...([code, ...examples[code]] as ProblemParts));
}

/** The answer to a query with three faults; asked of the reader itself, so that the words are its own. */
function faultyQuery(): Problem {
  try {
    readQuery(fetchGp, "gp_nme=northwind&limit=101", 100, operations);
  } catch (error) {
    if (error instanceof Problem) return error;
  }
  throw new Error("The example query of the error pages has no fault.");
}

/** The body of the answer, member by member in the order they are sent. */
export const exampleProblemBody = (code: ProblemCode): Readonly<Record<string, unknown>> =>
  problemBody(exampleProblem(code), exampleRequestId);
