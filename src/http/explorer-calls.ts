/** Answers the calls that people make in the explorer: counted, logged and recorded like any request of the API. */
import { rateLimitField, rateLimitPolicyField } from "#limits/rate-limit-fields.ts";
import { quotaProblem } from "#limits/quota-problem.ts";
import type { ApiAnswer, ExplorerCall } from "#office/message.ts";
import { answer } from "#operations/page.ts";
import { readQuery } from "#operations/parameters.ts";
import { Problem, problemBody } from "#problems.ts";
import { explorerKey } from "#usage/request-log.ts";
import type { FrontDoor } from "./front-door.ts";
import { noDataset } from "./mount-operation.ts";
import { recordedQuery } from "./recorded-query.ts";
import { makeRequestId } from "./request-id.ts";
import { openRequestLog } from "./request-log.ts";
import { internalError } from "./send-problem.ts";

/** What is recorded of an answer and stands in none of its headers. */
interface Answered extends ApiAnswer {
  dataset: string | null;
  problem: Problem["code"] | null;
}

/** @returns a function that never throws: what goes wrong is a problem, as it is over HTTP. */
export function openExplorerCalls(door: FrontDoor): (call: ExplorerCall) => ApiAnswer {
  const { config, metrics, recordRequest } = door;
  const write = openRequestLog(door.log);
  const keepsQuery = config.usageLogParameters && config.usageLogDays > 0;
  return (call) => {
    const startedAt = performance.now();
    const requestId = makeRequestId();
    const { dataset, problem, ...answered } = answerCall(door, call, requestId);
    const { status, body } = answered;
    const milliseconds = performance.now() - startedAt;
    metrics.answered(call.operation, status, milliseconds);
    write({
      requestId,
      method: "GET",
      path: `/${call.operation}`,
      status,
      milliseconds,
      bodyBytes: body.length,
      keyId: explorerKey,
      problemCode: problem,
    });
    recordRequest({
      account: call.account,
      key: explorerKey,
      operation: call.operation,
      status,
      milliseconds,
      bytes: body.length,
      dataset,
      problem,
      requestId,
      query: keepsQuery ? recordedQuery(`?${call.query}`) : null,
    });
    return answered;
  };
}

function answerCall(door: FrontDoor, call: ExplorerCall, requestId: string): Answered {
  const headers: Record<string, string> = { "x-request-id": requestId };
  let dataset: string | null = null;
  try {
    const standing = door.counters.take(call.account, call.quotas);
    door.counters.keep();
    headers["ratelimit-policy"] = rateLimitPolicyField(call.quotas);
    headers["ratelimit"] = rateLimitField(standing);
    if (!standing.admitted) throw quotaProblem(standing);
    const operation = door.operations.find(({ name }) => name === call.operation)!;
    const query = readQuery(operation, call.query, door.config.pageSizeMax, door.operations);
    const model = door.model() ?? noDataset();
    dataset = model.parts.version;
    const { body, total } = answer(operation, model, query);
    headers["dataset-version"] = dataset;
    headers["x-total-count"] = String(total);
    // A copy, as the body is a piece of a block that others share.
    return { status: 200, headers, body: new Uint8Array(body), dataset, problem: null };
  } catch (error) {
    const problem = problemOf(door, error, requestId);
    door.metrics.refused(problem);
    const { code, retryAfterSeconds, status } = problem;
    if (retryAfterSeconds !== undefined) headers["retry-after"] = String(retryAfterSeconds);
    const body = new TextEncoder().encode(JSON.stringify(problemBody(problem, requestId)));
    return { status, headers, body, dataset, problem: code };
  }
}

function problemOf(door: FrontDoor, error: unknown, requestId: string): Problem {
  if (error instanceof Problem) return error;
  door.log.error({ err: error, request_id: requestId }, "internal error");
  return internalError();
}
