/** The explorer: the operations as forms, with their live answers, and suggestions while one types. */
import { callLines, type CallLines } from "#account/components/call-lines.ts";
import { faultNote, hidden } from "#account/components/fields.ts";
import { fitting } from "#account/components/fitting.ts";
import { accountPage, type Frame, framed } from "#account/components/frame.ts";
import type { ApiAnswer } from "#account/messages.ts";
import { readRecords } from "#account/read-records.ts";
import { page, type Reply } from "#account/reply.ts";
import type { MemberRequest } from "#account/request.ts";
import { route, type Route } from "#account/route.ts";
import { quotasInForce } from "#accounts/plans.ts";
import { operations } from "#operations/index.ts";
import { filtersOf, type Operation, parametersOf } from "#operations/operation.ts";
import { isRepeatable, type ParameterName } from "#operations/parameter-names.ts";
import { codeBlock, copyBlock, jsonText } from "#pages/code-block.ts";
import { bodyText, html, type Html, type Part } from "#pages/html.ts";
import { parameterMeanings, parameterNeed, parameterRule } from "#pages/parameter-words.ts";
import { grouped, prose } from "#pages/prose.ts";
import type { ParameterFault } from "#problems.ts";
import type { Gp } from "#records/gp.ts";
import { browse } from "#search/browse.ts";
import { readDocuments } from "#search/documents.ts";
import type { ReadModel } from "#search/read-model.ts";
import { commonFirst, suggest } from "./suggest.ts";

// An `import` of the whole module would load all that its names lead to.
const { STATUS_CODES } = process.getBuiltinModule("node:http");

export const explorerRoutes: readonly Route[] = [
  route("/account/explorer", "member", {
    GET: (request) => readRecords(request, (model) => explore(request, model)),
  }),
  route("/account/explorer/suggest", "member", { GET: suggestions }, { isBackground: true }),
];

/** The form alone costs nothing; once it is sent, the HTTP thread answers it as it answers a request with a key. */
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
  const { answer, faults } = shown(answered);
  const target = query === "" ? operation.path : `${operation.path}?${query}`;
  const lines = callLines({ base: request.own.base, target });
  const reply = page(
    explorerPage({ ...view, faults, asked: { target, lines, answer } }),
    answered.status,
  );
  const retryAfter = answered.headers["retry-after"];
  return retryAfter === undefined
    ? reply
    : { ...reply, headers: [...reply.headers, ["retry-after", retryAfter]] };
}

/** The query as text; a field left empty is not sent. */
const queryOf = (pairs: readonly [name: string, value: string][]): string =>
  new URLSearchParams(pairs.filter(([, value]) => value !== "")).toString();

/** As they are written in docs, in the order in which they are shown. */
const shownHeaders = [
  "RateLimit-Policy",
  "RateLimit",
  "Retry-After",
  "Dataset-Version",
  "X-Total-Count",
  "X-Request-Id",
];

interface Shown {
  answer: ExplorerAnswer;
  faults: readonly ParameterFault[];
}

function shown({ status, headers, body }: ApiAnswer): Shown {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const head = {
    status: `${status} ${STATUS_CODES[status]}`,
    headers: shownHeaders.flatMap((name) => {
      const value = headers[name.toLowerCase()];
      return value === undefined ? [] : [[name, value] as const];
    }),
  };
  if (status === 200)
    return { answer: { ...head, ...shownPage(bytes), fault: undefined }, faults: [] };
  const problem = JSON.parse(bytes.toString()) as ShownProblem;
  const { detail, errors = [] } = problem;
  return {
    answer: { ...head, text: jsonText(problem), cutFromBytes: null, fault: detail },
    faults: errors,
  };
}

interface ShownProblem {
  detail: string;
  errors?: readonly ParameterFault[];
}

/** A longer body is not read as a whole only to show its beginning. */
const readBytesMax = 1_000_000;

function shownPage(body: Buffer): Pick<ExplorerAnswer, "text" | "cutFromBytes"> {
  // Inside a text these bytes would have backslashes between them.
  const endAt = body.lastIndexOf('],"pagination":');
  const recordsAt = '{"data":['.length;
  const records =
    body.length <= readBytesMax
      ? body.toString("utf8", recordsAt, endAt)
      : body.toString("utf8", recordsAt, endOfFirst(body, recordsAt));
  const whole = `{"data":[${records}${body.toString("utf8", endAt)}`;
  const { text, isCut } = cutAnswer(JSON.parse(whole) as AnswerBody);
  return { text, cutFromBytes: isCut ? body.length : null };
}

/** Where the object that begins at `start` ends: at the bracket that closes it, those in texts aside. */
function endOfFirst(body: Buffer, start: number): number {
  const [quote, backslash, open, close] = Buffer.from('"\\{}');
  let depth = 0;
  let isText = false;
  for (let at = start; at < body.length; at++) {
    const byte = body[at];
    if (isText) {
      if (byte === backslash) at++;
      else if (byte === quote) isText = false;
    } else if (byte === quote) isText = true;
    else if (byte === open) depth++;
    else if (byte === close && --depth === 0) return at + 1;
  }
  return start;
}

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

/** They are free, as nobody could type otherwise; a suspended account gets none, as it may read no records. */
function suggestions({ services, account, query }: MemberRequest): Reply {
  const model = services.model();
  const values =
    model === null || account.suspendedAt !== null
      ? []
      : suggest(model, query.get("name") ?? "", query.get("text") ?? "");
  return {
    status: 200,
    headers: [["content-type", "application/json; charset=utf-8"]],
    body: JSON.stringify(values),
  };
}

/** The members of every answer (operations/page.ts). */
interface AnswerBody {
  data: readonly unknown[];
  pagination: { returned: number };
  meta: unknown;
}

interface CutAnswer {
  text: string;
  isCut: boolean;
}

/** Bytes of markup. */
const bytesMax = { all: 22_000, end: 5000 } as const;

/** @param body its `data` may hold only the first of the records. */
export function cutAnswer(body: AnswerBody): CutAnswer {
  const { data, pagination, meta } = body;
  const whole = jsonText(body);
  if (data.length === pagination.returned && bytesOf(whole) <= bytesMax.all)
    return { text: whole, isCut: false };
  const records = jsonText({ data }).split("\n").slice(0, -2);
  const end = jsonText({ pagination, meta }).split("\n").slice(1);
  const shown = linesWithin(records, bytesMax.all - bytesMax.end);
  const lines = [...shown, "    …", "  ],", ...linesWithin(end, bytesMax.end)];
  return { text: lines.join("\n"), isCut: true };
}

const bytesOf = (text: string): number => Buffer.byteLength(bodyText(text).markup) + 1;

function linesWithin(lines: readonly string[], bytes: number): string[] {
  let used = 0;
  const first = lines.findIndex((line) => (used += bytesOf(line)) > bytes);
  return first === -1 ? [...lines] : lines.slice(0, first);
}

/** The page that sends any call of the API and shows its answer, with the lines that send it from elsewhere. */
interface ExplorerAnswer {
  /** Such as `200 OK`. */
  status: string;
  /** Those worth reading. */
  headers: readonly (readonly [name: string, value: string])[];
  /** JSON. */
  text: string;
  /** Bytes of the whole body, where only a part is shown. */
  cutFromBytes: number | null;
  /** What is wrong with the parameters. */
  fault: string | undefined;
}

interface ExplorerView extends FormView {
  frame: Frame | null;
  /** Null until something is asked. */
  asked: { target: string; lines: CallLines; answer: ExplorerAnswer } | null;
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
    <dl class="facts">
      ${answer.headers.map(
        ([name, value]) =>
          html`<div>
            <dt>${name}</dt>
            <dd class="mono">${value}</dd>
          </div>`,
      )}
    </dl>
    ${cutNote(answer)}
    <div class="answer">${codeBlock("Body of the answer", bodyText(answer.text))}</div>
  </section>`;

const cutNote = ({ cutFromBytes }: ExplorerAnswer): Part =>
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

/** The form of one operation: all its parameters, with what is known of each. */
interface FormView {
  operation: Operation;
  pageSizeMax: number;
  /** What was sent, in its order. */
  typed: readonly (readonly [name: string, value: string])[];
  /** What is wrong with it. */
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
      A request from here counts one of the account's quota, like one with a key. Pages count none.
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
