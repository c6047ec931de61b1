/** The pages of errors: the list at `/errors`, the page of each code, and the page a browser gets with a problem. */
import { fetchGp } from "#operations/fetch-gp.ts";
import { formats } from "#operations/formats.ts";
import { operations } from "#operations/index.ts";
import { readQuery } from "#operations/parameters.ts";
import { vocabularyPath } from "#operations/vocabulary.ts";
import {
  commonMembers,
  parameterFaultCodes,
  Problem,
  problemBody,
  type ProblemCode,
  problemCodes,
  type ProblemKind,
  problemKinds,
  type ProblemParts,
} from "#problems.ts";
import { type MemberSchema, membersOf, valuesOf } from "#records/value-lists.ts";
import { jsonBlock } from "./code-block.ts";
import { docsLayout } from "./docs-frame.ts";
import { html, type Html } from "./html.ts";
import { layout } from "./layout.ts";
import { isNullable, typeWords } from "./member-type.ts";
import { faultMeanings, problemAdvice, problemExplanations } from "./problem-explanations.ts";
import { codes, prose } from "./prose.ts";
import { factList, table } from "./table.ts";

export const errorsPage = (): string =>
  docsLayout({
    title: "Errors",
    description: "Every error code of the gp-records API, with its HTTP status and what to do.",
    path: "/errors",
    main: html`<h1>Which errors are there?</h1>
      <p class="lede">
        Every error is <code>application/problem+json</code> (RFC 9457). Programs read
        <code>code</code>, people read <code>detail</code>. Choose a code to see an example and what
        to do about it.
      </p>
      ${errorTable()}
      <p>A search that finds nothing is not an error: it is a 200 with an empty list.</p>`,
  });

/** All codes with status and title, linked to their pages. */
export const errorTable = (): Html =>
  table({
    label: "Error codes",
    columns: ["Code", { label: "Status", isNumber: true }, { label: "Title", isPlain: true }],
    rows: problemCodes.map((code) => [
      html`<a href="/errors/${code}"><code>${code}</code></a>`,
      problemKinds[code].status,
      problemKinds[code].title,
    ]),
  });

export function errorPage(code: ProblemCode): string {
  const { status, title, members } = problemKinds[code];
  const { again, counted } = problemAdvice[code];
  return docsLayout({
    title,
    description: `${title}: what the error ${code} means and what to do.`,
    path: `/errors/${code}`,
    main: html`<h1>${title}</h1>
      <p class="lede">HTTP status ${status}, code <code>${code}</code></p>
      <p>${prose(problemExplanations[code])}</p>
      <h2>What to do</h2>
      ${factList([
        ["Send the same request again?", prose(again)],
        ["Did it count against the quota?", prose(counted)],
      ])}
      ${code === "invalid-parameters" && faultCodes()}
      <h2>Example</h2>
      ${jsonBlock(`Example of ${code}`, exampleProblemBody(code))}
      <h2>Members</h2>
      ${memberTable({ ...commonMembers, ...members })}`,
  });
}

/** A problem as a page for people. */
export function problemPage({ code, message, members }: Problem, requestId: string): string {
  const { status, title } = problemKinds[code];
  const { suggestion } = members;
  return layout({
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

/** An example of a problem, as the service throws it. */
export function exampleProblem(code: ProblemCode): Problem {
  if (code === "invalid-parameters") return faultyQuery();
  return new Problem(...([code, ...examples[code]] as ProblemParts));
}

/** An example body, its members in the order in which they are sent. */
export const exampleProblemBody = (code: ProblemCode): Readonly<Record<string, unknown>> =>
  problemBody(exampleProblem(code), exampleRequestId);

/** A link to what needs a key leads to its reference. */
function pathLink(path: string): Html {
  const bare = path.replace(/^\/v1(?=\/)/, "");
  const operation = operations.find((one) => bare === one.path);
  const ofOthers = bare === vocabularyPath ? "/docs/vocabulary" : path;
  const href = operation === undefined ? ofOthers : `/docs#${operation.name}`;
  return html`<a href="${href}">${path}</a>`;
}

const memberTable = (members: ProblemKind["members"]): Html =>
  table({
    label: "Members of the answer",
    columns: ["Member", { label: "Type", isPlain: true }, { label: "Meaning", isPlain: true }],
    rows: membersOf({ properties: members as MemberSchema["properties"] & {} }).map(
      ([name, schema]) => [
        html`<code>${name}</code>`,
        typeCell(schema),
        prose(schema.description ?? ""),
      ],
    ),
  });

function typeCell(schema: MemberSchema): Html {
  const values = valuesOf(schema);
  if (values !== undefined) return html`one of ${codes(values)}`;
  return html`${typeWords(schema)}${isNullable(schema) && " or null"}`;
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

const operationPaths = operations.map(({ path }) => path);
const methods = ["GET", "HEAD", "OPTIONS"];
const accountUrl = "/account";

/** The detail and members of an example for each code. */
type Examples = {
  readonly [Code in Exclude<ProblemCode, "invalid-parameters">]: Extract<
    ProblemParts,
    readonly [Code, ...unknown[]]
  > extends readonly [Code, ...infer Example]
    ? Readonly<Example>
    : never;
};

const formatTypes = formats.map(({ mediaType }) => mediaType);

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
  "not-acceptable": [`This path answers in ${formatTypes.join(", ")}.`, { available: formatTypes }],
  "request-timeout": ["The request was not complete in time."],
  "content-too-large": ["A request body may have at most 65536 bytes.", { maximum: 65_536 }],
  "uri-too-long": ["The address has 9310 bytes; 8192 are allowed.", { maximum: 8192 }],
  "unsupported-media-type": [
    "The Content-Type header names no media type; this path reads application/x-www-form-urlencoded.",
    { available: ["application/x-www-form-urlencoded"] },
  ],
  "range-not-satisfiable": ["The file has 2302117 bytes.", { bytes: 2_302_117 }],
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

/** Produced by the real parameter parser, so that the texts are right. */
function faultyQuery(): Problem {
  try {
    readQuery(fetchGp, "gp_nme=northwind&limit=101", 100, operations);
  } catch (error) {
    if (error instanceof Problem) return error;
  }
  throw new Error("The example query of the error pages has no fault.");
}
