/** What `/mcp` answers to a message: JSON-RPC, a result that is whole, and errors of tools that name each wrong argument. */
import type { Violation } from "../run.ts";
import { type ArgumentKind, bounds, promisedProblems, promisedTools } from "./promised.ts";
import type { Answer } from "./read-answers.ts";
import { valuesOf, type FuzzRequest } from "./request.ts";

interface Call {
  id: string | number;
  params: { name: string; arguments: Record<string, unknown> };
}

/** @param request null where its bytes were damaged, so that nobody knows what was asked for. */
export function judgeMessage(
  { status }: Answer,
  content: string,
  request: FuzzRequest | null,
): Violation[] {
  const wrong = (rule: string, detail: unknown) => ({
    rule: `message: ${rule}`,
    detail: JSON.stringify(detail)?.slice(0, 500) ?? "",
  });
  let reply: any;
  try {
    reply = JSON.parse(content);
  } catch {
    return [wrong("no JSON", content)];
  }
  const { jsonrpc, id, error, result } = reply;
  if (jsonrpc !== "2.0" || (error === undefined) === (result === undefined))
    return [wrong("no JSON-RPC", reply)];
  if (status >= 400 && error === undefined) return [wrong("a result of an error", status)];
  const call = request === null ? null : plainCall(request);
  if (call !== null && id !== call.id) return [wrong("another id", id)];
  if (error !== undefined) {
    if (!Number.isInteger(error.code) || typeof error.message !== "string")
      return [wrong("form of an error", error)];
    return call === null ? [] : [wrong("a call was not answered", error)];
  }
  if (result.isError === true) return judgeFailure(result, call, wrong);
  if (call === null) return [];
  const { name, arguments: given } = call.params;
  const missed = wrongArguments(name, given);
  if (missed.length > 0) return [wrong("a wrong argument was accepted", missed)];
  return isWholeResult(result) ? [] : [wrong("form of a result", result)];
}

type Wrong = (rule: string, detail: unknown) => Violation;

/** A problem as over HTTP; of wrong arguments every one is named. */
function judgeFailure(result: any, call: Call | null, wrong: Wrong): Violation[] {
  let failure: any;
  try {
    failure = JSON.parse(result.content[0].text);
  } catch {
    return [wrong("form of an error of a tool", result)];
  }
  const { code, detail, errors } = failure;
  if (promisedProblems[code] === undefined) return [wrong("code not promised", failure)];
  if (/\n\s+at |node_modules|\b(?:TypeError|SQLITE_\w+)\b/.test(detail))
    return [wrong("the inside shows", detail)];
  if (code !== "invalid-parameters") return [];
  const isNamed = ({ parameter, detail: of }: Record<string, unknown>) =>
    typeof parameter === "string" && typeof of === "string" && detail.includes(`'${parameter}'`);
  if (!Array.isArray(errors) || errors.length === 0 || !errors.every(isNamed))
    return [wrong("an argument is not named", failure)];
  if (call === null) return [];
  const { name, arguments: given } = call.params;
  const expected = wrongArguments(name, given);
  const found = errors.map(({ parameter }: { parameter: string }) => parameter);
  // Which versions there are nobody has told.
  if (name === "changes_since" && expected.length === 0 && found.join() === "version") return [];
  const isLegible = (one: string) => /^\w{1,50}$/.test(one);
  const legible = (names: string[]) => names.filter(isLegible).join();
  return found.length === expected.length && legible(found) === legible(expected)
    ? []
    : [wrong("other arguments are wrong", { found, expected })];
}

/** A call in the form that every revision knows; null for any other message. */
function plainCall(request: FuzzRequest): Call | null {
  const isLater = request.headers.some(([name]) => /^mcp-/i.test(name));
  // What stands in place of a mark is not known here.
  if (isLater || request.body.includes("{{") || valuesOf(request, "transfer-encoding").length > 0)
    return null;
  let message: any;
  try {
    message = JSON.parse(Buffer.from(request.body, "latin1").toString());
  } catch {
    return null;
  }
  const { jsonrpc, id, method, params, ...others } = message ?? {};
  if (jsonrpc !== "2.0" || method !== "tools/call" || Object.keys(others).length > 0) return null;
  if (!(typeof id === "string" || Number.isSafeInteger(id))) return null;
  if (Object.keys(params ?? {}).join() !== "name,arguments") return null;
  const given = params.arguments;
  const isObject = typeof given === "object" && given !== null && !Array.isArray(given);
  return isObject && Object.hasOwn(promisedTools, params.name) ? { id, params } : null;
}

/** Names in the order in which they are given, what is missing last; as many as are told. */
function wrongArguments(name: string, given: Record<string, unknown>): string[] {
  const { arguments: taken, required } = promisedTools[name]!;
  const isWrong = ([one, value]: [string, unknown]) => {
    const kind = Object.hasOwn(taken, one) ? taken[one] : undefined;
    return kind === undefined || (value !== null && !isRight(value, kind));
  };
  const wrong = Object.entries(given).filter(isWrong).slice(0, bounds.faultsListed);
  const isMissing = (one: string) => !Object.hasOwn(given, one) || given[one] === null;
  const found = [...wrong.map(([one]) => one), ...required.filter(isMissing)];
  return found.length === 0 && isOutOfOrder(given) ? ["since"] : found;
}

/** As precisely as both are known. */
function isOutOfOrder({ since, until }: Record<string, unknown>): boolean {
  if (typeof since !== "string" || typeof until !== "string") return false;
  const length = Math.min(since.length, until.length);
  return since.slice(0, length) > until.slice(0, length);
}

function isRight(value: unknown, kind: ArgumentKind): boolean {
  switch (kind.kind) {
    case "text":
      return isText(value, kind.lengthMin, kind.lengthMax);
    case "texts":
      return (
        Array.isArray(value) &&
        value.length <= bounds.values &&
        value.every((one) => isText(one, 1, bounds.valueLength))
      );
    case "some of":
      return (
        Array.isArray(value) &&
        value.length <= bounds.values &&
        value.every((one) => kind.values.includes(one))
      );
    case "one of":
      return kind.values.includes(value as string);
    case "whole":
      return (
        Number.isInteger(value) &&
        (value as number) >= kind.minimum &&
        (value as number) <= kind.maximum
      );
    case "date":
      return (
        typeof value === "string" &&
        /^\d{4}(?:-(?:0[1-9]|1[0-2])(?:-\d\d)?)?$/.test(value) &&
        (value.length < 10 || isDay(value))
      );
  }
}

/** A day that no calendar has is read as one of the next month. */
function isDay(text: string): boolean {
  const time = Date.parse(text);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

function isText(value: unknown, lengthMin: number, lengthMax: number): boolean {
  if (typeof value !== "string" || /\p{Cc}/u.test(value) || !value.isWellFormed()) return false;
  const { length } = [...value.normalize("NFC").trim()];
  return length >= lengthMin && length <= lengthMax;
}

function isWholeResult({ content, structuredContent }: any): boolean {
  const { data, pagination, meta } = structuredContent ?? {};
  return (
    content?.[0]?.text !== undefined &&
    JSON.stringify(JSON.parse(content[0].text)) === JSON.stringify(structuredContent) &&
    data.length === pagination.returned &&
    pagination.returned <= pagination.limit &&
    pagination.has_more === (pagination.next_offset !== null) &&
    /^\d{8}T\d{6}Z-[0-9a-f]{8}$/.test(meta.dataset_version)
  );
}
