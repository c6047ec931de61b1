/** The index of errors at `/errors`, the page of each at `/errors/<code>`, and the page a browser gets with one. */
import { operations } from "#operations/index.ts";
import {
  commonMembers,
  parameterFaultCodes,
  type Problem,
  problemCodes,
  problemKinds,
  type ProblemCode,
  type ProblemKind,
} from "#problems.ts";
import { jsonBlock } from "./code-block.ts";
import { exampleProblemBody } from "./example-problems.ts";
import { faultMeanings } from "./fault-words.ts";
import { html, type Html } from "./html.ts";
import { layout } from "./layout.ts";
import { isNullable, membersOf, typeWords, valuesOf, type MemberSchema } from "./member-type.ts";
import { problemAdvice } from "./problem-advice.ts";
import { problemExplanations } from "./problem-explanations.ts";
import { codes, prose } from "./prose.ts";
import { table } from "./table.ts";

export const errorsPage = (): string =>
  layout({
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

/** All codes with status and title, each linked to its page. */
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
  return layout({
    title,
    description: `${title}: what the error ${code} means and what to do.`,
    path: `/errors/${code}`,
    main: html`<p><a href="/errors">Errors</a></p>
      <h1>${title}</h1>
      <p class="lede">HTTP status ${status}, code <code>${code}</code></p>
      <p>${prose(problemExplanations[code])}</p>
      <h2>What to do</h2>
      <dl class="facts">
        <div>
          <dt>Send the same request again?</dt>
          <dd>${prose(again)}</dd>
        </div>
        <div>
          <dt>Did it count against the quota?</dt>
          <dd>${prose(counted)}</dd>
        </div>
      </dl>
      ${code === "invalid-parameters" && faultCodes()}
      <h2>Example</h2>
      ${jsonBlock(`Example of ${code}`, exampleProblemBody(code))}
      <h2>Members</h2>
      ${memberTable({ ...commonMembers, ...members })}`,
  });
}

/** Tells a person what the problem tells a program. */
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
      <p class="muted">Request ${requestId}</p>`,
  });
}

/** Without a key an operation tells nothing; its reference does. */
function pathLink(path: string): Html {
  const operation = operations.find((one) => path === one.path || path === `/v1${one.path}`);
  const href = operation === undefined ? path : `/docs#${operation.name}`;
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
