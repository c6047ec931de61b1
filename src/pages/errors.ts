/** The error pages: the list at `/errors`, a page for each code, and the page that a browser gets for a problem. */
import { fetches } from "#operations/fetches.ts";
import { formats } from "#operations/formats.ts";
import { operations } from "#operations/index.ts";
import { referenceOf } from "#operations/operation.ts";
import { readQuery } from "#operations/parameters.ts";
import { vocabularyPath } from "#operations/vocabulary.ts";
import {
  commonMembers,
  type ParameterFault,
  parameterFaultCodes,
  type ProblemCode,
  problemCodes,
  problemKinds,
  type ProblemParts,
} from "#problems/kinds.ts";
import { Problem, problemBody } from "#problems.ts";
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
  const { status, title, members, meaning } = problemKinds[code];
  const { again = "No. Change the request first.", counted = "No." } = problemKinds[code];
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
  problemBody(exampleProblem(code), exampleRequestId);

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

const formatTypes = formats.map(({ mediaType }) => mediaType);

/** Examples that depend on the operations. */
const examplesOfOperations: Readonly<Partial<Record<ProblemCode, Problem>>> = {
  "invalid-parameters": faultyQuery(),
  "unknown-path": new Problem("unknown-path", "There is nothing at /fetch-gps.", {
    suggestion: "/fetch-gp",
    operations: operations.map(({ path }) => path),
  }),
  "not-acceptable": new Problem(
    "not-acceptable",
    `This path answers only in ${formatTypes.join(", ")}. Change the Accept header, or leave it out.`,
    { available: formatTypes },
  ),
};

/** Returns the example of a problem, as the service throws it. */
export function exampleProblem(code: ProblemCode): Problem {
  const { example } = problemKinds[code];
  const parts = [code, example?.detail, example?.members] as unknown as ProblemParts;
  return examplesOfOperations[code] ?? new Problem(...parts);
}
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
