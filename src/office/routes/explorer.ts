/** The explorer: the four operations as forms, with their live answers, and suggestions while one types. */
import { quotasInForce } from "#accounts/plans.ts";
import { framed } from "#office/frame.ts";
import type { ApiAnswer } from "#office/message.ts";
import { readRecords } from "#office/read-records.ts";
import { page, type Reply } from "#office/reply.ts";
import { route, type Route } from "#office/route.ts";
import type { AccountVisit } from "#office/visit.ts";
import { operations } from "#operations/index.ts";
import type { Operation } from "#operations/operation.ts";
import { callLines } from "#pages/account/call-lines.ts";
import { cutAnswer, type AnswerBody } from "#pages/account/cut-answer.ts";
import { explorerPage, type ExplorerAnswer } from "#pages/account/explorer.ts";
import type { FormView } from "#pages/account/explorer-form.ts";
import { jsonText } from "#pages/code-block.ts";
import type { ParameterFault } from "#problems.ts";
import type { Gp } from "#records/gp.ts";
import { browse } from "#search/browse.ts";
import { readDocuments } from "#search/read-documents.ts";
import type { ReadModel } from "#search/read-model.ts";
import { commonFirst, suggest } from "./suggest.ts";

// An `import` of the whole module would load all that its names lead to.
const { STATUS_CODES } = process.getBuiltinModule("node:http");

export const explorerRoutes: readonly Route[] = [
  route("/account/explorer", "member", {
    GET: (visit) => readRecords(visit, (model) => explore(visit, model)),
  }),
  route("/account/explorer/suggest", "member", { GET: suggestions }, { isBackground: true }),
];

/** The form alone costs nothing; once it is sent, the HTTP thread answers it as it answers a request with a key. */
async function explore(visit: AccountVisit, model: ReadModel): Promise<Reply> {
  const { rooms, account } = visit;
  const { pageSizeMax } = rooms.settings;
  const chosen = visit.query.get("operation");
  const operation = operations.find(({ name }) => name === chosen) ?? operations[0]!;
  const typed = [...visit.query].filter(([name]) => name !== "operation");
  const known = knownValues(model, operation);
  const view = { frame: framed(visit), operation, pageSizeMax, typed, known };
  if (typed.length === 0) return page(explorerPage({ ...view, faults: [], asked: null }));
  const query = queryOf(typed);
  const quotas = await quotasInForce(rooms.control.database, account.number);
  const answered = await rooms.desk.call({
    account: account.number,
    quotas,
    operation: operation.name,
    query,
  });
  const { answer, faults } = shown(answered);
  const target = query === "" ? operation.path : `${operation.path}?${query}`;
  const lines = callLines({ base: visit.own.base, target });
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

function knownValues(model: ReadModel, { filters }: Operation): FormView["known"] {
  const known = browse(model.parts);
  const lists = {
    gp_name: () => recentNames(model),
    tag: () => commonFirst(known, "tag"),
    theme: () => commonFirst(known, "theme"),
    market: () => commonFirst(known, "market"),
  };
  return Object.fromEntries(filters.map((name) => [name, lists[name]()]));
}

function recentNames({ parts }: ReadModel): string[] {
  const { positions } = browse(parts).gps.select({}, "latest", { limit: namesMax, offset: 0 });
  return readDocuments<Gp>(parts.documents.gp, positions).map(({ name }) => name);
}

/** They are free, as nobody could type otherwise; a suspended account gets none, as it may read no records. */
function suggestions({ rooms, account, query }: AccountVisit): Reply {
  const model = rooms.model();
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
