/** The error pages: the list at `/errors`, a page for each code, and the page that a browser gets for a problem. */
import { fetches } from "#operations/fetches.ts";
import { formats } from "#operations/formats.ts";
import { operations } from "#operations/index.ts";
import { referenceOf } from "#operations/operation.ts";
import { readQuery } from "#operations/parameters.ts";
import { vocabularyPath } from "#operations/vocabulary.ts";
import {
  commonMembers,
  internalError,
  listedMax,
  malformed,
  type ParameterFault,
  parameterFaultCodes,
  Problem,
  problemBody,
  type ProblemCode,
  problemCodes,
  problemKinds,
} from "#problems.ts";
import { Type } from "#records/schema.ts";
import { jsonBlock } from "./code-block.ts";
import { codeTable, memberList } from "./docs-operation.ts";
import { factList, html, type Html, table } from "./html.ts";
import { docsLayout, layout, type Site } from "./layout.ts";
import { prose } from "./prose.ts";

export const errorsPage = (site: Site): string =>
  docsLayout({
    site,
    title: "Errors",
    description: "Every error code of the API, with its HTTP status and what to do about it.",
    path: "/errors",
    main: html`<h1>Errors</h1>
      <p class="lede">
        Every error is <code>application/problem+json</code> (RFC 9457). Programs read
        <code>code</code>, people read <code>detail</code>. Choose a code to see an example and what
        to do about it.
      </p>
      ${errorTable()}
      <p>A search that finds nothing is not an error: it is a 200 with an empty list.</p>`,
  });

export const errorTable = () => codeTable("Error codes", ["Code", "Title"], problemCodes);

export function errorPage(site: Site, code: ProblemCode): string {
  const { status, title, members } = problemKinds[code];
  const {
    meaning,
    again = "No. Change the request first.",
    counted = "No.",
  } = problemExplanations[code];
  return docsLayout({
    site,
    title,
    description: `${title}: what the error ${code} means and what to do about it.`,
    path: `/errors/${code}`,
    main: html`<h1>${title}</h1>
      <p class="lede">HTTP status ${status}, code <code>${code}</code></p>
      <p>${prose(meaning)}</p>
      <h2>What to do</h2>
      ${factList([
        ["Send the same request again?", prose(again)],
        ["Did the request count against the quota?", prose(counted)],
      ])}
      ${code === "invalid-parameters" && faultCodes()}
      <h2>Example</h2>
      ${jsonBlock(`Example of ${code}`, exampleProblemBody(code))}
      <h2>Members</h2>
      ${memberList("Members of the answer", Type.Object({ ...commonMembers, ...members }))}`,
  });
}

export function problemPage(
  site: Site,
  { code, message, members }: Problem,
  requestId: string,
): string {
  const { status, title } = problemKinds[code];
  const { suggestion } = members;
  return layout({
    site,
    title: `${status} ${title}`,
    description: title,
    path: "",
    main: html`<h1>${title}</h1>
      <p class="lede">
        HTTP status ${status}, code <a href="/errors/${code}"><code>${code}</code></a>
      </p>
      <p>${message}</p>
      ${typeof suggestion === "string" && html`<p>Did you mean ${pathLink(suggestion)}?</p>`}
      ${code === "unknown-path" && html`<p>The <a href="/docs">docs</a> list what there is.</p>`}
      <p class="muted">Request ${requestId}</p>`,
  });
}

export const exampleRequestId = "req_01JD4Z6T0V8M3Q5N7R9S1W2X4Y";

/** Returns an example body. Its members are in the order in which the service sends them. */
export const exampleProblemBody = (code: ProblemCode): Readonly<Record<string, unknown>> =>
  problemBody(problemExplanations[code].example, exampleRequestId);

/** Returns a link to a path, or to the reference of an operation or the vocabulary, because their paths need a key. */
function pathLink(path: string): Html {
  const bare = path.replace(/^\/v1(?=\/)/, "");
  const operation = operations.find((one) => bare === one.path);
  const ofOthers = bare === vocabularyPath ? "/docs/vocabulary" : path;
  const href = operation === undefined ? ofOthers : referenceOf(operation);
  return html`<a href="${href}">${path}</a>`;
}

const faultCodes = (): Html =>
  html`<h2>Codes in <code>errors</code></h2>
    <p>
      Each entry of <code>errors</code> has <code>parameter</code>, <code>code</code> and
      <code>detail</code>, and the members its code names below.
    </p>
    ${table({
      label: "Codes of parameter faults",
      columns: ["Code", { label: "Meaning and remedy", isPlain: true }],
      rows: parameterFaultCodes.map((code) => [
        html`<code id="${code}">${code}</code>`,
        prose(faultMeanings[code]),
      ]),
    })}`;

/** Texts on the page of an error. Backticks mark code. */
interface Explanation {
  /** The error's causes, and what to do about each. */
  meaning: string;
  /** Answer to "Send the same request again?"; "No. Change the request first." by default. */
  again?: string;
  /** Answer to "Did the request count against the quota?"; "No." by default. */
  counted?: string;
  /** Example of the problem, as the service throws it. */
  example: Problem;
}

const methods = ["GET", "HEAD", "OPTIONS"];
const accountUrl = "/account";
const formatTypes = formats.map(({ mediaType }) => mediaType);

export const problemExplanations: Readonly<Record<ProblemCode, Explanation>> = {
  "invalid-parameters": {
    meaning: `At least one query parameter is missing, misspelt, repeated, out of range, or has a value that it does not take. \`errors\` lists all faults of the request at once, each with the parameter, a code and what would be right; of more than ${listedMax} it lists the first ${listedMax}, and \`errors_total\` says how many there are. Correct the faults and send the request again. The faulty request counted 1 against your quota.`,
    counted: "Yes, 1.",
    example: faultyQuery(),
  },
  "malformed-request": {
    meaning:
      "The bytes that arrived are not an HTTP/1.1 request that this server accepts: for instance two `Host` lines, a `Host` that is not a host name or address, a header without a colon, or a path with a broken percent-encoding. Send the request with an ordinary HTTP client. On `/mcp` the error also means a body that is not a message, or two different keys in `x-api-key` and `Authorization`. `detail` says what is wrong.",
    example: malformed("The request has more than one Host header. Send exactly one."),
  },
  "api-key-missing": {
    meaning:
      "Send your key in the header `x-api-key`, exactly once. A key in the query string, in a cookie or, except on `/mcp`, in `Authorization` is not read.",
    again: "No. Send it with your key.",
    example: new Problem(
      "api-key-missing",
      "Send your API key in the header x-api-key. If you have no key, sign in at /account and create one; if you have no account, ask the operator of this service for one.",
      { header: "x-api-key", account_url: accountUrl },
    ),
  },
  "api-key-invalid": {
    meaning:
      "`reason` says why: `malformed`: the text does not have the form of a key (`gpr_` and 36 letters and digits); `checksum`: the key has a typing error; `unknown`: this service never issued the key. Copy the key again. If it is still refused, use another one, or ask the operator of the service for one.",
    again:
      "No. Send it with the right key; too many wrong keys from one address are answered with 429.",
    example: new Problem(
      "api-key-invalid",
      "The key contains a typing error: its last 6 characters do not match the rest. Copy the whole key again.",
      { reason: "checksum" },
    ),
  },
  "api-key-expired": {
    meaning:
      "The key was valid until `expired_at`. Create a new key at `account_url`, or ask the operator of the service for one.",
    again: "No. Send it with another key.",
    example: new Problem(
      "api-key-expired",
      "The key gpr_R7mQ… expired at 2026-10-31T00:00:00Z. Use another key.",
      { key_hint: "gpr_R7mQ", expired_at: "2026-10-31T00:00:00Z", account_url: accountUrl },
    ),
  },
  "api-key-revoked": {
    meaning:
      "Somebody with access to the account, or the operator, revoked the key at `revoked_at`. Use another key of the account, or ask the operator.",
    again: "No. Send it with another key.",
    example: new Problem(
      "api-key-revoked",
      "The key gpr_R7mQ… was revoked at 2026-10-31T14:02:11Z. Use another key.",
      { key_hint: "gpr_R7mQ", revoked_at: "2026-10-31T14:02:11Z", account_url: accountUrl },
    ),
  },
  "access-denied": {
    meaning:
      "`account_suspended`: the account of the key is suspended or closed. `plan`: the plan of the account does not include what was asked for. `origin`: a page of another site called `/mcp`, and the operator has not listed that origin by name in `CORS_ORIGINS`. Ask the operator of the service.",
    again: "Not until the operator has changed the account, its plan or the list of origins.",
    example: new Problem(
      "access-denied",
      "The account of this key is suspended or closed. Ask the operator of the service.",
      { reason: "account_suspended" },
    ),
  },
  "unknown-path": {
    meaning:
      "`operations` lists the paths of all operations, and `suggestion` names the nearest one. `/exports` is there only where the operator offers whole datasets. Paths are lower case and have no slash at the end. A search that finds no record is never a 404 but a 200 with an empty list.",
    counted:
      "No. An unknown file of `/exports`, record of `/explain` or step of `/changes` counts 1, as its key is checked first.",
    example: new Problem("unknown-path", "There is nothing at /fetch-gps.", {
      suggestion: "/fetch-gp",
      operations: operations.map(({ path }) => path),
    }),
  },
  "method-not-allowed": {
    meaning: "The service is read-only. Use one of the methods in `allowed`, usually GET.",
    example: new Problem(
      "method-not-allowed",
      `This path does not accept the method POST, only ${methods.join(", ")}.`,
      { allowed: methods },
    ),
  },
  "not-acceptable": {
    meaning:
      "The `Accept` header excludes every format this path can answer in. Leave it out, or name one of `available`.",
    counted: "Yes, 1.",
    example: new Problem(
      "not-acceptable",
      `This path answers only in ${formatTypes.join(", ")}. Change the Accept header, or leave it out.`,
      { available: formatTypes },
    ),
  },
  "request-timeout": {
    meaning:
      "The headers did not arrive within 10 seconds, or the whole request did not arrive within 15 seconds; `detail` says which. Send the whole request at once.",
    again: "Yes, on a new connection.",
    example: new Problem(
      "request-timeout",
      "The whole request must arrive within 15 seconds. Send it again on a new connection.",
    ),
  },
  "content-too-large": {
    meaning:
      "The operations take no request body: send the parameters in the query string; a body of up to `maximum` bytes is ignored. Forms of the account pages are shorter than that.",
    again: "No. Send it without a body, or with a shorter one where the path takes one.",
    example: new Problem(
      "content-too-large",
      "The request body may be at most 65536 bytes here. Send a smaller body or file; GET needs none.",
      { maximum: 65_536 },
    ),
  },
  "uri-too-long": {
    meaning:
      "The path and query together have more than `maximum` bytes. Ask for fewer values at once.",
    example: new Problem(
      "uri-too-long",
      "The address has 9310 bytes, but may have at most 8192. Send fewer or shorter parameters.",
      { maximum: 8192 },
    ),
  },
  "unsupported-media-type": {
    meaning:
      "The `Content-Type` header names no type, or one that this path does not accept; or, on `/mcp`, the body is compressed. Send the body uncompressed, as one of the types in `available`.",
    example: new Problem(
      "unsupported-media-type",
      "Send the body as JSON, with the header Content-Type: application/json.",
      { available: ["application/json"] },
    ),
  },
  "range-not-satisfiable": {
    meaning:
      "The `Range` header asks for bytes beyond the end of the file, which has `bytes` of them. Your copy may already be complete: compare its length and SHA-256 with those that `/exports` states.",
    counted: "Yes, 1.",
    example: new Problem("range-not-satisfiable", "The file has only 2302117 bytes.", {
      bytes: 2_302_117,
    }),
  },
  "expectation-failed": {
    meaning: "The `Expect` header holds something other than `100-continue`. Leave the header out.",
    example: new Problem(
      "expectation-failed",
      "The Expect header may only be '100-continue'. Send that value or omit the header.",
    ),
  },
  "quota-exceeded": {
    meaning:
      "The request counts as more than is left of a minute's, an hour's or a day's quota, too many wrong keys came from your address, or too many messages without a call came to `/mcp`; `detail` says which. Wait `retry_after` seconds, then try again; the refused request was not counted. The header `RateLimit` of each answer to a valid key says how many requests are left.",
    again: "Yes, after `retry_after` seconds; the header `Retry-After` says the same.",
    example: new Problem(
      "quota-exceeded",
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
    ),
  },
  "headers-too-large": {
    meaning:
      "The request line and headers together have more than `maximum` bytes, or there are more than 48 header lines. Send fewer or shorter headers.",
    example: new Problem(
      "headers-too-large",
      "The request may have at most 48 header lines, and at most 16384 bytes in request line and headers together. Shorten the address or send fewer headers.",
      { maximum: 16_384 },
    ),
  },
  "internal-error": {
    meaning:
      "An unexpected error occurred. Try again; if it happens again, give the `request_id` to the operator of the service.",
    again: "Yes, once or twice, a few seconds apart.",
    counted: "Yes, 1.",
    example: internalError(),
  },
  unavailable: {
    meaning:
      "`reason` says why: `starting` and `draining` pass within seconds; `overloaded` passes once the load drops; `timeout`, once the requested file has been made; `no_dataset`, once the operator has published records; `store_down`, once the service can reach its database and counters again and its disk has space. Try again after `retry_after` seconds.",
    again: "Yes, after `retry_after` seconds; the header `Retry-After` says the same.",
    counted:
      "Yes with `no_dataset` (except on `/ready`) and `timeout`. With `starting`, `draining`, `overloaded` and `store_down`, only if the request had already been counted when it failed.",
    example: new Problem("unavailable", "The service is starting. Try again in a few seconds.", {
      reason: "starting",
      retry_after: 1,
    }),
  },
};

/** Returns an example that the real parameter parser throws, so that its text is accurate. */
function faultyQuery(): Problem {
  try {
    readQuery(fetches.gp, "gp_nme=northwind&limit=101", 100, operations);
  } catch (error) {
    if (error instanceof Problem) return error;
  }
  throw new Error("The example query of the error pages has no fault.");
}

const faultMeanings: Readonly<Record<ParameterFault["code"], string>> = {
  missing: "A required parameter is missing. Add it.",
  too_short:
    "The text has fewer characters than `minimum`, or a list for `match_gps` has fewer entries. Write a longer text, or add the missing entries.",
  too_long: "The text has more characters than `maximum`. Shorten it.",
  empty_value: "The parameter is there without a value. Give it one, or leave the parameter out.",
  not_an_integer:
    "The value must consist of the digits 0 to 9 only. Signs, decimal points and spaces are not accepted.",
  out_of_range:
    "The number is below `minimum` or above `maximum`. Choose one from `minimum` to `maximum`.",
  unknown_parameter:
    "The operation has no such parameter; `allowed` lists those that it has. `suggestion` is the nearest name, and `allowed_on` lists the operations that do have the parameter.",
  repeated_parameter:
    "The parameter may be given only once. The reference says which may be repeated.",
  too_many_values:
    "The parameter has more than `maximum` values. Ask in several requests; for `match_gps`, give only one fact for each name.",
  invalid_encoding:
    "The name or the value is not percent-encoded UTF-8, or contains a control character, such as a tab. Remove control characters, and let your HTTP library encode the rest.",
  unknown_value:
    "The parameter does not take this value: its closed list lacks it, or the date does not exist. Choose from `allowed`, which has the list or the forms of a date.",
  out_of_order: "The range ends before it begins. Swap the two values.",
};
