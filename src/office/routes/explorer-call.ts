/** Sends a call of the explorer: the operation itself answers, by the rules and with the words of the API. */
import type { Counted } from "#office/read-records.ts";
import { operations } from "#operations/index.ts";
import type { Operation, Query } from "#operations/operation.ts";
import { answer } from "#operations/page.ts";
import { readQuery } from "#operations/parameters.ts";
import { jsonText } from "#pages/code-block.ts";
import { cutAnswer, type AnswerBody } from "#pages/account/cut-answer.ts";
import type { ExplorerAnswer } from "#pages/account/explorer.ts";
import { Problem, problemBody, type ParameterFault } from "#problems.ts";
import type { ReadModel } from "#search/read-model.ts";

type Pairs = readonly (readonly [name: string, value: string])[];

/** A longer body is not read as a whole only to show its beginning. */
const readBytesMax = 1_000_000;

/** The query as text; a field left empty is not sent. */
export const queryOf = (pairs: Pairs): string =>
  new URLSearchParams(
    pairs.filter(([, value]) => value !== "").map((pair) => [...pair]),
  ).toString();

interface Answered {
  status: number;
  answer: ExplorerAnswer;
  faults: readonly ParameterFault[];
}

export function call(
  operation: Operation,
  query: string,
  pageSizeMax: number,
  { model, rateLimit }: Counted,
): Answered {
  const headers = rateLimit.map(([name, value]) => [properNames[name] ?? name, value] as const);
  try {
    const read = readQuery(operation, query, pageSizeMax, operations);
    return { status: 200, answer: found(operation, model, read, headers), faults: [] };
  } catch (fault) {
    if (!(fault instanceof Problem)) throw fault;
    // A page is no request of the API, so it has no id that the operator could look for.
    const { request_id: _, ...body } = problemBody(fault, "");
    const text = jsonText(body);
    const status = `${fault.status} Bad Request`;
    const answered = { status, headers, text, cutFromBytes: null, fault: fault.message };
    const faults = fault.members["errors"] as readonly ParameterFault[];
    return { status: fault.status, answer: answered, faults };
  }
}

const properNames: Readonly<Record<string, string>> = {
  "ratelimit-policy": "RateLimit-Policy",
  ratelimit: "RateLimit",
};

function found(
  operation: Operation,
  model: ReadModel,
  query: Query,
  rateLimit: ExplorerAnswer["headers"],
): ExplorerAnswer {
  const { body, total } = answer(operation, model, query);
  const bytes = body.length;
  const end = endOf(body.toString("utf8", body.lastIndexOf('],"pagination":')));
  const shown =
    bytes <= readBytesMax ? body : answer(operation, model, { ...query, limit: 1 }).body;
  const { data } = JSON.parse(shown.toString()) as AnswerBody;
  const { text, isCut } = cutAnswer({ data, ...end });
  const headers = [
    ...rateLimit,
    ["Dataset-Version", model.parts.version],
    ["X-Total-Count", String(total)],
  ] as const;
  return { status: "200 OK", headers, text, cutFromBytes: isCut ? bytes : null, fault: undefined };
}

/** What stands behind `data`; inside a text those bytes would have backslashes between them. */
const endOf = (text: string) => JSON.parse(`{${text.slice(2)}`) as Omit<AnswerBody, "data">;
