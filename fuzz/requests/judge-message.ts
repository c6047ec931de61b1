/** What `/mcp` answers to a message: JSON-RPC, a result that is whole, and errors of tools that name each wrong argument. */
import type { Violation } from "../run.ts";
import { problemCodes, promisedTools } from "./promised.ts";
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
  if (result.isError === true) return judgeFailure(result, wrong);
  if (call === null) return [];
  if (!isWholeResult(result)) return [wrong("form of a result", result)];
  return call.params.name !== "match_gps" || isMatched(result, call)
    ? []
    : [wrong("names and their matches", result)];
}

type Wrong = (rule: string, detail: unknown) => Violation;

/** A problem as over HTTP; of wrong arguments every one is named. */
function judgeFailure(result: any, wrong: Wrong): Violation[] {
  let failure: any;
  try {
    failure = JSON.parse(result.content[0].text);
  } catch {
    return [wrong("form of an error of a tool", result)];
  }
  const { code, detail, errors, errors_total: total = errors?.length } = failure;
  if (!problemCodes.includes(code)) return [wrong("code not promised", failure)];
  if (/\n\s+at |node_modules|\b(?:TypeError|SQLITE_\w+)\b/.test(detail))
    return [wrong("the inside shows", detail)];
  if (code !== "invalid-parameters") return [];
  const isNamed = ({ parameter, detail: of }: Record<string, unknown>) =>
    typeof parameter === "string" && typeof of === "string";
  return Array.isArray(errors) &&
    errors.length > 0 &&
    errors.every(isNamed) &&
    detail.startsWith(`${total} problem${total === 1 ? "" : "s"}: '${errors[0].parameter}' `)
    ? []
    : [wrong("an argument is not named", failure)];
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

const certainties = ["sure", "probable", "unsure", "none"];

/** Reports whether the names of the page come in their order, each with its match. */
function isMatched({ structuredContent: { data, pagination } }: any, { params }: Call): boolean {
  const names = [params.arguments["names"]].flat().map(String);
  const { total, offset } = pagination;
  return (
    total === names.length &&
    data.every(
      ({ name, certainty, gp }: any, at: number) =>
        name === names[offset + at] &&
        certainties.includes(certainty) &&
        (gp === null) === (certainty === "none"),
    )
  );
}
