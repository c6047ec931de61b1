/** Answers calls from the explorer page: counted, logged and recorded like any API request. */
import type { ApiAnswer, ExplorerCall } from "#account/messages.ts";
import type { Outcome } from "#api/ask.ts";
import { notCountedProblem } from "#limits/quota-problem.ts";
import { json } from "#operations/formats.ts";
import { explorerKey } from "#usage/request-chunk.ts";
import { headerPairs } from "./common-headers.ts";
import type { HttpDependencies } from "./dependencies.ts";
import { answerHeaders, quotaHeaders } from "./mount-operation.ts";
import { makeRequestId } from "./request-id.ts";
import { problemAnswer, reportProblem } from "./send-answer.ts";

/** @returns a function that never rejects: failures are problems, as over HTTP. */
export function openExplorerCalls(
  http: HttpDependencies,
): (call: ExplorerCall) => Promise<ApiAnswer> {
  return async ({ account, quotas, operation: name, query }) => {
    const startedAt = performance.now();
    const requestId = makeRequestId();
    const operation = http.operations.find((one) => one.name === name)!;
    const asked = await http.api.ask({
      caller: { account: { id: explorerKey, accountNumber: account, quotas } },
      operation,
      text: query,
      chooseFormat: () => json,
    });
    // As over HTTP, the outcome is shown only after the quota write.
    const isCommitted = await new Promise<boolean>((resolve) =>
      http.afterCommit(
        resolve,
        () => resolve(true),
        () => resolve(false),
      ),
    );
    const outcome = isCommitted ? asked : refusedOutcome(asked);
    const answered = answerOf(http, outcome, requestId);
    const { result } = outcome;
    http.recordRequest({
      asker: outcome.asker,
      operation: name,
      method: "GET",
      path: operation.path,
      target: `?${query}`,
      status: answered.status,
      milliseconds: performance.now() - startedAt,
      bytes: answered.body.length,
      dataset: result.kind === "answer" ? result.answer.datasetVersion : null,
      problem: result.kind === "problem" ? result.problem.code : null,
      requestId,
    });
    return answered;
  };
}

const refusedOutcome = ({ asker }: Outcome): Outcome => ({
  asker,
  counted: null,
  result: { kind: "problem", problem: notCountedProblem() },
});

function answerOf(
  http: HttpDependencies,
  { counted, result }: Outcome,
  requestId: string,
): ApiAnswer {
  if (result.kind === "unchanged") throw new Error("The explorer sends no tags.");
  if (result.kind === "problem") reportProblem(http, result.problem, requestId, result.cause);
  const { status, headers, body } =
    result.kind === "problem"
      ? problemAnswer(result.problem, requestId)
      : { status: 200, headers: answerHeaders(http, result.answer), body: result.answer.body };
  const quota = counted === null ? "" : quotaHeaders(counted);
  const named = Object.fromEntries(headerPairs(headers + quota));
  // A copy, since the body may be a slice of a shared block.
  return {
    status,
    headers: { "x-request-id": requestId, ...named },
    body: new Uint8Array(body),
  };
}
