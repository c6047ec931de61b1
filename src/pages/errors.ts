/** The pages of errors: the list at `/errors`, the page of each code, and the page a browser gets with a problem. */
import { operations } from "#operations/index.ts";
import { vocabularyPath } from "#operations/vocabulary.ts";
import {
  commonMembers,
  parameterFaultCodes,
  type Problem,
  problemBody,
  type ProblemCode,
  problemCodes,
  type ProblemKind,
  problemKinds,
} from "#problems.ts";
import { type MemberSchema, membersOf, valuesOf } from "#records/value-lists.ts";
import { jsonBlock } from "./code-block.ts";
import { isNullable, typeWords } from "./docs-operation.ts";
import { html, type Html } from "./html.ts";
import { docsLayout, layout } from "./layout.ts";
import { faultMeanings, problemExplanations } from "./problem-explanations.ts";
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

/** Lists all codes with status and title, linked to their pages. */
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
  const {
    meaning,
    again = "No. Change the request first.",
    counted = "No.",
  } = problemExplanations[code];
  return docsLayout({
    title,
    description: `${title}: what the error ${code} means and what to do.`,
    path: `/errors/${code}`,
    main: html`<h1>${title}</h1>
      <p class="lede">HTTP status ${status}, code <code>${code}</code></p>
      <p>${prose(meaning)}</p>
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

/** Returns a problem as a page for people. */
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

/** Returns an example body, its members in the order in which they are sent. */
export const exampleProblemBody = (code: ProblemCode): Readonly<Record<string, unknown>> =>
  problemBody(problemExplanations[code].example, exampleRequestId);

/** Links to a path. If it needs a key, the link leads to its reference. */
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
