/** The explorer: a form for each operation, its live answer, and the lines that send the same call from elsewhere. */
import { callLines, type CallLines } from "#pages/call-lines.ts";
import { fitting } from "#account/components/fitting.ts";
import { faultNote, hidden } from "#account/components/form-fields.ts";
import { accountPage, type Frame, framed } from "#account/components/frame.ts";
import { type ShownAnswer, shownAnswer } from "#account/components/shown-answer.ts";
import { readRecords } from "#account/read-records.ts";
import { page, type Reply, withHeader } from "#account/reply.ts";
import type { MemberRequest } from "#account/request.ts";
import { route, type Route } from "#account/route.ts";
import { quotasInForce } from "#accounts/plans.ts";
import { operations } from "#operations/index.ts";
import {
  filtersOf,
  isRepeatable,
  type Operation,
  type ParameterName,
  parametersOf,
} from "#operations/operation.ts";
import { codeBlock, copyBlock } from "#pages/code-block.ts";
import { bodyText, html, type Html, type Part } from "#pages/html.ts";
import { parameterMeanings, parameterNeed, parameterRule } from "#pages/parameter-words.ts";
import { grouped, prose } from "#pages/prose.ts";
import type { ParameterFault } from "#problems.ts";
import type { Gp } from "#records/gp.ts";
import { browse } from "#search/browse.ts";
import { readDocuments } from "#search/documents.ts";
import type { ReadModel } from "#search/read-model.ts";
import { commonFirst } from "./suggest.ts";

export const explorerRoutes: readonly Route[] = [
  route("/account/explorer", "member", {
    GET: (request) => readRecords(request, (model) => explore(request, model)),
  }),
];

/** The form itself costs no quota. The HTTP thread answers a call as it answers a request with a key. */
async function explore(request: MemberRequest, model: ReadModel): Promise<Reply> {
  const { services, account } = request;
  const { pageSizeMax } = services.settings;
  const chosen = request.query.get("operation");
  const operation = operations.find(({ name }) => name === chosen) ?? operations[0]!;
  const typed = [...request.query].filter(([name]) => name !== "operation");
  const known = knownValues(model, operation);
  const view = { frame: framed(request), operation, pageSizeMax, typed, known };
  if (typed.length === 0) return page(explorerPage({ ...view, faults: [], asked: null }));
  const query = queryOf(typed);
  const quotas = await quotasInForce(services.control.database, account.number);
  const answered = await services.quotaRpc.call({
    account: account.number,
    quotas,
    operation: operation.name,
    query,
  });
  const { answer, faults } = shownAnswer(answered);
  const target = query === "" ? operation.path : `${operation.path}?${query}`;
  const lines = callLines({ base: request.own.base, target });
  const reply = page(
    explorerPage({ ...view, faults, asked: { target, lines, answer } }),
    answered.status,
  );
  const retryAfter = answered.headers["retry-after"];
  return retryAfter === undefined ? reply : withHeader(reply, "retry-after", retryAfter);
}

/** Empty fields are left out. */
const queryOf = (pairs: readonly [name: string, value: string][]): string =>
  new URLSearchParams(pairs.filter(([, value]) => value !== "")).toString();

const namesMax = 20;

function knownValues(model: ReadModel, operation: Operation): FormView["known"] {
  const known = browse(model.parts);
  return Object.fromEntries(
    filtersOf(operation).map((name) => [
      name,
      name === "gp_name" ? recentNames(model) : commonFirst(known, name),
    ]),
  );
}

function recentNames({ parts }: ReadModel): string[] {
  const { positions } = browse(parts).gps.select({}, "latest", { limit: namesMax, offset: 0 });
  return readDocuments<Gp>(parts.documents.gp, positions).map(({ name }) => name);
}

interface ExplorerView extends FormView {
  frame: Frame | null;
  /** Null until the form is sent. */
  asked: { target: string; lines: CallLines; answer: ShownAnswer } | null;
}

function explorerPage(view: ExplorerView): string {
  const { frame, operation, asked } = view;
  return accountPage({
    title: "Explorer",
    frame,
    scripts: ["explorer.js"],
    main: html`<h1>What does <code>${operation.path}</code> answer?</h1>
      ${operationLinks(operation)}
      <p>${operation.summary} ${prose(operation.description)}</p>
      ${explorerForm(view)} ${asked !== null && [answerSection(asked), linesSection(asked.lines)]}`,
  });
}

const operationLinks = (current: Operation): Html =>
  html`<nav class="tabs" aria-label="Operations">
    ${operations.map(
      ({ name }) =>
        html`<a
          href="/account/explorer?operation=${name}"
          ${name === current.name && html`aria-current="page"`}
          >${name}</a
        > `,
    )}
  </nav>`;

const answerSection = ({ target, answer }: NonNullable<ExplorerView["asked"]>): Html =>
  html`<section>
    <h2 id="answer">${answer.status}</h2>
    ${faultNote(answer.fault)}
    <p class="mono">GET ${target}</p>
    ${cutNote(answer)}
    <div class="answer">${codeBlock("Body of the answer", bodyText(answer.text))}</div>
    <details>
      <summary>Headers</summary>
      <dl class="facts">
        ${answer.headers.map(
          ([name, value]) =>
            html`<div>
              <dt>${name}</dt>
              <dd class="mono">${value}</dd>
            </div>`,
        )}
      </dl>
    </details>
  </section>`;

const cutNote = ({ cutFromBytes }: ShownAnswer): Part =>
  cutFromBytes !== null &&
  html`<p>
    Only a part is shown: the whole answer has ${grouped(cutFromBytes)} bytes. The lines below fetch
    all of it.
  </p>`;

const linesSection = ({ curl, typescript, python }: CallLines): Html =>
  html`<section>
    <h2>The same call from elsewhere</h2>
    <h3>curl</h3>
    ${copyBlock("The call with curl", bodyText(curl))}
    <h3>TypeScript</h3>
    ${copyBlock("The call in TypeScript", bodyText(typescript))}
    <h3>Python</h3>
    ${copyBlock("The call in Python", bodyText(python))}
  </section>`;

interface FormView {
  operation: Operation;
  pageSizeMax: number;
  /** The parameters that were sent, in their order. */
  typed: readonly (readonly [name: string, value: string])[];
  /** What is wrong with them. */
  faults: readonly ParameterFault[];
  /** Known values of a parameter, the likeliest first. */
  known: Readonly<Partial<Record<ParameterName, readonly string[]>>>;
}

const explorerForm = (view: FormView): Html =>
  html`<form class="card explorer" action="/account/explorer#answer" autocomplete="off">
    ${hidden("operation", view.operation.name)}
    <div class="fields">${parametersOf(view.operation).map((name) => fieldsOf(view, name))}</div>
    <button>Send request</button>
    <p class="muted">
      A request from here counts against the account's quota, like one with a key. Viewing pages
      does not.
    </p>
    ${parametersOf(view.operation).map((name) => datalist(name, view.known[name]))}
  </form>`;

/** A parameter that may be repeated has a field for each value, and an empty one for the next. */
function fieldsOf(view: FormView, name: ParameterName): Html {
  const values = view.typed.filter(([one]) => one === name).map(([, value]) => value);
  const given = values.filter((value) => value !== "");
  const [first = "", ...others] = isRepeatable(name) ? [...given, ""] : given.slice(0, 1);
  return html`<div>
    <label
      ><code>${name}</code>
      <span class="muted">${parameterNeed(name, view.operation)}</span>
      ${input(view, name, first)}</label
    >
    ${others.map((value) => html`<label class="muted">or ${input(view, name, value)}</label>`)}
    ${view.faults.filter(({ parameter }) => parameter === name).map(({ detail }) => html`<p class="fault">${detail}</p>`)}
    <p class="muted">${prose(parameterMeanings[name])} ${rule(view, name)}</p>
  </div>`;
}

const rule = ({ operation, pageSizeMax }: FormView, name: ParameterName): string => {
  const text = parameterRule(name, operation, pageSizeMax);
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
};

const input = ({ known }: FormView, name: ParameterName, value: string): Html =>
  html`<input
    name="${name}"
    value="${value}"
    ${known[name] !== undefined && html`list="known-${name}" data-suggest="${name}"`}
    ${(name === "limit" || name === "offset") && html`inputmode="numeric"`}
  />`;

const datalistBytesMax = 4000;

const datalist = (name: ParameterName, values: readonly string[] | undefined): Part =>
  values !== undefined &&
  html`<datalist id="known-${name}">
    ${fitting(
      values.map((value) => html`<option value="${value}"></option>`),
      datalistBytesMax,
    )}
  </datalist>`;
