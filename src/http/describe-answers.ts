/** Describes in OpenAPI what answers have in common: headers, errors, and the components that paths share. */
import { Hint } from "#operations/envelope.ts";
import { apiVersion } from "#operations/versions.ts";
import {
  commonMembers,
  ParameterFault,
  problemCodes,
  problemKinds,
  QuotaPolicy,
  type ProblemCode,
} from "#problems/kinds.ts";
import { Type, type TSchema } from "#records/schema.ts";

export const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** Returns the schema of a JSON answer. @param properties its members besides `meta`. */
export const envelope = (properties: Readonly<Record<string, object>>) => ({
  type: "object",
  properties: { ...properties, meta: ref("Meta") },
  required: [...Object.keys(properties), "meta"],
});

/** Returns the schema of a page of records. @param name name of a record's schema. */
export const pageOf = (name: string) =>
  envelope({ data: { type: "array", items: ref(name) }, pagination: ref("Pagination") });

/** A header: its description, an example, and the statuses of the responses that may have it; all if omitted. */
type Header = readonly [description: string, example: string | number, on?: readonly number[]];

/**
 * Statuses of responses to requests whose key was accepted. Among these requests, only messages to `/mcp` get a 415.
 */
const counted = [200, 206, 304, 400, 403, 404, 406, 415, 416, 429, 500, 503];

const headers: Readonly<Record<string, Header>> = {
  "API-Version": ["Minor version of the API.", apiVersion],
  "X-Request-Id": [
    "Id of the request: the one that the client sent in this header, if valid, or a new one.",
    "req_01JD4Z6T0V8M3Q5N7R9S1W2X4Y",
  ],
  "RateLimit-Policy": [
    "The account's quotas (draft-ietf-httpapi-ratelimit-headers-11); on answers to a valid key.",
    '"minute";q=60;w=60, "hour";q=1000;w=3600, "day";q=10000;w=86400',
    counted,
  ],
  RateLimit: [
    "Requests left in each window, and the seconds until more are admitted; on answers to a valid key.",
    '"minute";r=57;t=48, "hour";r=988;t=3012, "day";r=9641;t=51230',
    counted,
  ],
  "Retry-After": ["Seconds to wait before trying again, as in `retry_after`.", 23, [429, 503]],
  ETag: [
    "Tag of the answer, for `If-None-Match`.",
    'W/"20261120T030000Z-9f3c2a7e-mJ0kQ2"',
    [200, 304],
  ],
  "Dataset-Version": [
    "Version of the dataset that the answer was made from.",
    "20261120T030000Z-9f3c2a7e",
    [200, 304],
  ],
  "X-Total-Count": ["Total number of records, publications or changes found.", 42, [200]],
  Link: [
    "Links to the `first`, `prev`, `next` and `last` pages that exist, and to this description (RFC 8288).",
    '</fetch-gp?gp_name=northwind&limit=20&offset=0>; rel="first"',
    [200, 206],
  ],
  "WWW-Authenticate": [
    "How to authenticate, and the code of the error (RFC 9110).",
    'ApiKey realm="gp-records", error="api-key-expired"',
    [401],
  ],
  "Content-Range": [
    "First and last byte sent, and the size of the file; `*` and the size if the range lies beyond the end of the file.",
    "bytes 1000000-2302116/2302117",
    [206, 416],
  ],
  Allow: ["Methods that the path accepts, as in `allowed`.", "GET, HEAD, OPTIONS", [405]],
  "Cache-Control": [
    "`private, no-cache` on success: you may store the answer, but must revalidate it with `If-None-Match` before you use it again. `no-store` on errors.",
    "private, no-cache",
  ],
  Vary: ["Request headers that the answer depends on.", "Accept, Accept-Encoding"],
  "X-Content-Type-Options": ["Tells browsers not to guess another media type.", "nosniff"],
  "Access-Control-Allow-Origin": ["Origins whose pages may read the answer (CORS).", "*"],
  "Access-Control-Expose-Headers": [
    "Headers that pages of those origins may read (CORS).",
    "ETag, RateLimit, Retry-After",
  ],
};

export const headerComponents = Object.fromEntries(
  Object.entries(headers).map(([name, [description, example]]) => {
    const isNumber = typeof example === "number";
    const schema = isNumber ? { type: "integer", minimum: 0 } : { type: "string" };
    return [name, { description, schema, example }];
  }),
);

/**
 * Returns references to the headers of a response with this status, by name.
 * @param except names of headers that the response does not have.
 */
export const headersOn = (status: number, except: readonly string[] = []): object =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([name, [, , on = [status]]]) => on.includes(status) && !except.includes(name))
      .map(([name]) => [name, { $ref: `#/components/headers/${name}` }]),
  );

/** Statuses of errors, in ascending order. */
const statuses = [...new Set(problemCodes.map((code) => problemKinds[code].status))].toSorted(
  (a, b) => a - b,
);

const componentOf = (status: number) => `Problem${status}`;

/** Status that only downloads of files return. */
const ofRanges = problemKinds["range-not-satisfiable"].status;

/** References to error responses by status, except the one that only files return. */
const problemAnswers = Object.fromEntries(
  statuses
    .filter((status) => status !== ofRanges)
    .map((status) => [status, { $ref: `#/components/responses/${componentOf(status)}` }]),
);

export const problemResponses = Object.fromEntries(
  statuses.map((status) => [componentOf(status), describeStatus(status)]),
);

function describeStatus(status: number): object {
  const codes = problemCodes.filter((code) => problemKinds[code].status === status);
  const refs = codes.map((code) => ref(schemaName(code)));
  const mapping = Object.fromEntries(codes.map((code, i) => [code, refs[i]!.$ref]));
  const schema =
    codes.length === 1
      ? refs[0]
      : { oneOf: refs, discriminator: { propertyName: "code", mapping } };
  return {
    description: codes.map((code) => `\`${code}\`: ${problemKinds[code].title}.`).join(" "),
    headers: headersOn(status),
    content: { "application/problem+json": { schema } },
  };
}

/** Returns the name of an error's schema, such as `QuotaExceededProblem` for `quota-exceeded`. */
function schemaName(code: ProblemCode): string {
  return `${code.replaceAll(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase())}Problem`;
}

export const problemSchemas = {
  Problem: {
    ...Type.Object({
      ...commonMembers,
      code: Type.Unsafe({ ...commonMembers.code, enum: [...problemCodes] }),
    }),
    description:
      "Members of every error (RFC 9457). Which other members an error has depends on its `code`.",
  },
  ...Object.fromEntries(problemCodes.map((one) => [schemaName(one), describeCode(one)])),
  ParameterFault,
  QuotaPolicy,
};

function describeCode(code: ProblemCode): object {
  const { status, title, members } = problemKinds[code];
  const own = Object.entries(members).map(([name, schema]) => [name, withReference(schema)]);
  return {
    description: `${title}.`,
    allOf: [ref("Problem")],
    ...Type.Object({
      status: Type.Unsafe({ type: "integer", enum: [status] }),
      code: Type.Unsafe({ type: "string", enum: [code] }),
      ...Object.fromEntries(own),
    }),
  };
}

/**
 * Returns a list's schema with its items' schema replaced by a reference, so that client generators emit a type for the
 * items. Returns other schemas unchanged.
 */
export function withReference(schema: TSchema): object {
  const { items } = schema as { items?: object };
  const name = Object.entries({ ParameterFault, QuotaPolicy, Hint }).find(
    ([, one]) => one === items,
  )?.[0];
  return name === undefined ? schema : { ...schema, items: ref(name) };
}

export const ifNoneMatch = { $ref: "#/components/parameters/IfNoneMatch" };

export const parameterComponents = {
  IfNoneMatch: {
    name: "If-None-Match",
    in: "header",
    description:
      "`ETag` of an answer you have kept, or several separated by commas. If you would get the same answer again, you get a 304 without a body. A 304 counts as one request.",
    schema: { type: "string" },
    example: 'W/"20261120T030000Z-9f3c2a7e-mJ0kQ2"',
  },
};

/** Answers that all paths have besides the 200. */
export const otherAnswers = {
  304: {
    description: "Unchanged since the answer whose ETag was sent in `If-None-Match`.",
    headers: headersOn(304),
  },
  ...problemAnswers,
};
