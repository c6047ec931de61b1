/** What the members of an error mean: those every error has, and those of its code. */
import { listedMax } from "#operations/parameter-faults.ts";

/** Backticks mark code. */
const meanings: Readonly<Record<string, string>> = {
  type: "URI reference that names the error.",
  title: "The error in one line; the same for every error of this code.",
  status: "The HTTP status, as in the status line.",
  detail: "What happened this time, for people.",
  code: "The error for programs; it does not change.",
  request_id:
    "Id of the request, as in the header `X-Request-Id`. Give it to the operator when you ask.",
  errors: `The faults of the query, in its order, missing parameters last: at most ${listedMax} of them.`,
  errors_total: `How many faults there are; only where they are more than ${listedMax}.`,
  header: "Where the key belongs.",
  account_url: "Page on which you manage keys; `null` where there is none.",
  reason: "Why, for programs.",
  key_hint: "The first characters of the key, to tell it from your others.",
  expired_at: "When the key expired.",
  revoked_at: "When the key was revoked.",
  suggestion: "The nearest path there is, or `null`.",
  operations: "Paths of the operations.",
  allowed: "Methods the path takes.",
  available: "Media types the path can answer in; with a 415, those it reads.",
  successor: "Path of the version to use instead.",
  sunset: "When the version was retired.",
  maximum: "The largest size, in bytes.",
  "violated-policies":
    "Which quotas are used up: `minute`, `hour`, `day`, or `failed-keys` for too many wrong keys from your address.",
  retry_after: "Whole seconds until a request is worth trying.",
  policies:
    "Each quota: `quota` requests in `window` seconds, `remaining` of them left, and `reset` seconds until some return.",
};

/** Of a member; the empty text for one that is not known. */
export const memberMeaning = (name: string): string => meanings[name] ?? "";
