/** The headers of an answer that clients work with, in OpenAPI's words. */
const text = (description: string, example: string) => ({
  description,
  schema: { type: "string" },
  example,
});

export const describedHeaders = {
  "API-Version": text("Minor version of the API.", "1.3"),
  "Dataset-Version": text("The dataset the answer was made from.", "20261120T030000Z-9f3c2a7e"),
  ETag: text("Tag of the answer, for `If-None-Match`.", 'W/"20261120T030000Z-9f3c2a7e-mJ0kQ2"'),
  Link: text(
    "`first`, `prev`, `next` and `last` page, as far as they exist (RFC 8288).",
    '</fetch-gp?gp_name=northwind&limit=20&offset=0>; rel="first"',
  ),
  "RateLimit-Policy": text(
    "The account's quotas (draft-ietf-httpapi-ratelimit-headers-11).",
    '"minute";q=60;w=60, "hour";q=1000;w=3600, "day";q=10000;w=86400',
  ),
  RateLimit: text(
    "What each window still admits, and the seconds until some of it returns.",
    '"minute";r=57;t=48, "hour";r=988;t=3012, "day";r=9641;t=51230',
  ),
  "X-Request-Id": text(
    "Id of the request; the client's own where it sent a fit one.",
    "req_01JD4Z6T0V8M3Q5N7R9S1W2X4Y",
  ),
  "X-Total-Count": text("How many records satisfy the query.", "42"),
} as const;
