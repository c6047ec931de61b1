/** What each error means and what to do about it, in the words of its page. */
import { parameterBounds, repeatableFilters } from "#operations/operation.ts";
import { listedMax, type ParameterFault, type ProblemCode } from "#problems.ts";
import { codeList } from "./prose.ts";

/** Backticks mark code. */
export const problemExplanations: Readonly<Record<ProblemCode, string>> = {
  "invalid-parameters": `At least one query parameter is missing, misspelt, repeated or out of range. \`errors\` lists all faults of the request at once, each with the parameter, a code and what would be right; of more than ${listedMax} it lists the first ${listedMax}, and \`errors_total\` says how many there are. Correct them and send the request again; the request counted 1 of your quota.`,
  "malformed-request":
    "The bytes that arrived are not an HTTP/1.1 request this server accepts: for instance two `Host` lines, a `Host` that is no host name or address, a header without a colon, or a path with a broken percent-encoding. Send the request with an ordinary HTTP client. On `/mcp` it is also a body that is no message, or two different keys in `x-api-key` and `Authorization`; `detail` says which.",
  "api-key-missing":
    "Send your key in the header `x-api-key`, exactly once. A key in the query string, in `Authorization` or in a cookie is not read.",
  "api-key-invalid":
    "`reason` says why: `malformed` is not the shape of a key (`gpr_` and 36 letters and digits), `checksum` is a typing error, `unknown` is a key this service never issued. Copy the key again; if it stays refused, ask for a new one.",
  "api-key-expired":
    "The key was valid until `expired_at`. Make a new one, or ask the operator of the service for one.",
  "api-key-revoked":
    "Somebody with access to the account, or the operator, revoked the key at `revoked_at`. Use another key of the account, or ask the operator.",
  "access-denied":
    "`account_suspended`: the operator has suspended the account of the key; ask them. `plan`: the plan of the account does not include what was asked for; ask the operator. `origin`: a page of another site called `/mcp`; the operator can list its origin.",
  "unknown-path":
    "`operations` lists the paths of all operations, and `suggestion` names the nearest one. `/exports` is there only where the operator offers whole datasets. Paths are lower case and have no slash at the end. A search that finds no record is never a 404 but a 200 with an empty list.",
  "method-not-allowed":
    "The service is read-only. Use one of the methods in `allowed`, usually GET.",
  "not-acceptable":
    "The `Accept` header excludes every format this path can answer in. Leave it out, or name one of `available`.",
  "request-timeout":
    "The connection was open but the request was not complete in time. Send the whole request at once.",
  "content-too-large":
    "The operations take no request body: send the parameters in the query string; a body of up to `maximum` bytes is ignored. Forms of the account pages are shorter than that.",
  "uri-too-long":
    "The path and query together have more than `maximum` bytes. Ask for fewer values at once.",
  "unsupported-media-type":
    "The `Content-Type` header names a type this path does not read, or no type at all. `available` lists those it reads: the forms of the account pages, the only bodies read here, are `application/x-www-form-urlencoded`. Send the body as one of them.",
  "range-not-satisfiable":
    "The `Range` header asks for bytes behind the end of the file, which has `bytes` of them. What you have may be the whole of it: compare its length and its SHA-256 with what `/exports` says.",
  "expectation-failed":
    "The `Expect` header holds something other than `100-continue`. Leave the header out.",
  "quota-exceeded":
    "All requests of a minute, an hour or a day are used, or too many wrong keys came from your address. Wait `retry_after` seconds, then go on; the refused request was not counted. The headers `RateLimit` and `RateLimit-Policy` tell on each answer what is left.",
  "headers-too-large":
    "All headers together have more than `maximum` bytes. Send fewer or shorter ones.",
  "internal-error":
    "The service made a mistake. Try again; if it happens again, give the operator the `request_id`.",
  unavailable:
    "`reason` says why: `starting` and `draining` pass within seconds, `overloaded` and `timeout` when the load does, `no_dataset` when the operator has published records, `store_down` when a store is reachable, or its disk has room, again. Try again after `retry_after` seconds.",
};

/** Backticks mark code. */
export const faultMeanings: Readonly<Record<ParameterFault["code"], string>> = {
  missing: "A required parameter is not there. Add it.",
  too_short: "The text has fewer characters than `minimum`. Write more of the name.",
  too_long: "The text has more characters than `maximum`. Shorten it.",
  empty_value: "The parameter is there without a value. Give it one, or leave the parameter out.",
  not_an_integer:
    "The value is not a row of the digits 0 to 9. Signs, decimal points and spaces are not taken.",
  out_of_range: "The number is below `minimum` or above `maximum`. It is never clamped for you.",
  unknown_parameter:
    "The operation has no such parameter; `allowed` lists those it has. `suggestion` is the nearest name, `allowed_on` the operations that know this one.",
  repeated_parameter: `The parameter may be given only once. Only ${codeList(repeatableFilters, "and")} may be repeated.`,
  too_many_values: `The parameter is given more than ${parameterBounds.valuesMax} times. Ask in several requests.`,
  invalid_encoding:
    "Name or value is not percent-encoded UTF-8, or holds a control character. Let your HTTP library encode it.",
};

/** What a client should know about an error: whether to send the request again, and what it cost. */
interface ProblemAdvice {
  /** Whether sending the same request again can help. */
  again: string;
  /** Whether the request counted against the quota. */
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
  "unknown-path": {
    again: changed,
    counted: "No; 1 for a file that `/exports` does not list, as its key is checked first.",
  },
  "method-not-allowed": { again: changed, counted: notCounted },
  "not-acceptable": { again: changed, counted: countedOne },
  "request-timeout": { again: "Yes, on a new connection.", counted: notCounted },
  "content-too-large": { again: "No. Send it without a body.", counted: notCounted },
  "uri-too-long": { again: changed, counted: notCounted },
  "unsupported-media-type": { again: changed, counted: notCounted },
  "range-not-satisfiable": { again: changed, counted: countedOne },
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
