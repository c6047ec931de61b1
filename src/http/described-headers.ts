/** Describes the response headers in OpenAPI, and the statuses with which each is sent. */
import { apiVersion } from "#operations/versions.ts";

interface Header {
  description: string;
  schema: object;
  example: string | number;
  /** Statuses of the responses that may have it; all if left out. */
  on?: readonly number[];
}

/** Statuses of responses to requests with a valid key. A 415 is sent to messages of MCP. */
const counted = [200, 206, 304, 400, 403, 404, 406, 415, 416, 429, 500, 503];

const text = (description: string, example: string, on?: readonly number[]): Header => ({
  description,
  schema: { type: "string" },
  example,
  ...(on && { on }),
});

const number = (
  description: string,
  minimum: number,
  example: number,
  on: readonly number[],
): Header => ({ description, schema: { type: "integer", minimum }, example, on });

const headers: Readonly<Record<string, Header>> = {
  "API-Version": text("Minor version of the API.", apiVersion),
  "X-Request-Id": text(
    "Id of the request; the client's own if it sent a valid one.",
    "req_01JD4Z6T0V8M3Q5N7R9S1W2X4Y",
  ),
  "RateLimit-Policy": text(
    "The account's quotas (draft-ietf-httpapi-ratelimit-headers-11); on answers to a valid key.",
    '"minute";q=60;w=60, "hour";q=1000;w=3600, "day";q=10000;w=86400',
    counted,
  ),
  RateLimit: text(
    "Requests left in each window, and the seconds until some return; on answers to a valid key.",
    '"minute";r=57;t=48, "hour";r=988;t=3012, "day";r=9641;t=51230',
    counted,
  ),
  "Retry-After": number("Whole seconds to wait, as `retry_after`.", 1, 23, [429, 503]),
  ETag: text(
    "Tag of the answer, for `If-None-Match`.",
    'W/"20261120T030000Z-9f3c2a7e-mJ0kQ2"',
    [200, 304],
  ),
  "Dataset-Version": text(
    "The dataset the answer was made from.",
    "20261120T030000Z-9f3c2a7e",
    [200, 304],
  ),
  "X-Total-Count": number("Number of records that satisfy the query.", 0, 42, [200]),
  Link: text(
    "On 200, the `first`, `prev`, `next` and `last` pages that exist (RFC 8288).",
    '</fetch-gp?gp_name=northwind&limit=20&offset=0>; rel="first"',
    counted,
  ),
  "WWW-Authenticate": text(
    "How to authenticate, and the code of the error (RFC 9110).",
    'ApiKey realm="gp-records", error="api-key-expired"',
    [401],
  ),
  "Content-Range": text(
    "The bytes sent and the size of the file, or `*` if the range lies beyond the file.",
    "bytes 1000000-2302116/2302117",
    [206, 416],
  ),
  Allow: text("Methods the path takes, as `allowed`.", "GET, HEAD, OPTIONS", [405]),
  "Cache-Control": text(
    "`private, no-cache` for records: you may keep them, and revalidate them with `If-None-Match`. `no-store` for errors.",
    "private, no-cache",
  ),
  Vary: text("Request headers the answer depends on.", "Accept, Accept-Encoding"),
  "X-Content-Type-Options": text("Browsers must not guess another type.", "nosniff"),
  "Access-Control-Allow-Origin": text("Origins whose pages may read the answer (CORS).", "*"),
  "Access-Control-Expose-Headers": text(
    "Headers those pages may read (CORS).",
    "ETag, RateLimit, Retry-After",
  ),
};

export const headerComponents = Object.fromEntries(
  Object.entries(headers).map(([name, { description, schema, example }]) => [
    name,
    { description, schema, example },
  ]),
);

/**
 * Returns references to the headers of a response with this status.
 * @param except names of headers it does not have.
 */
export const headersOn = (status: number, except: readonly string[] = []): object =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(
        ([name, { on }]) => (on === undefined || on.includes(status)) && !except.includes(name),
      )
      .map(([name]) => [name, { $ref: `#/components/headers/${name}` }]),
  );
