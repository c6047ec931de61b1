/** Answers calls from the explorer page: counted, logged and recorded like any API request. */
import type { ApiAnswer, ExplorerCall } from "#account/messages.ts";
import type { Outcome } from "#api/ask.ts";
import { notCountedProblem } from "#limits/quota-problem.ts";
import { json } from "#operations/formats.ts";
import { explorerKey } from "#usage/request-chunk.ts";
import { headerPairs, type HeaderLines } from "./common-headers.ts";
import type { HttpDependencies } from "./dependencies.ts";
import { routesOf } from "./deprecated-uses.ts";
import type { FinishedRequest } from "./log-requests.ts";
import { answerHeaders, quotaHeaders } from "./mount-operation.ts";
import { makeRequestId } from "./request-id.ts";
import { problemAnswer, reportProblem } from "./send-answer.ts";

/** @returns a function that never rejects: failures are problems, as over HTTP. */
export function openExplorerCalls(
  http: HttpDependencies,
): (call: ExplorerCall) => Promise<ApiAnswer> {
  // Its calls go to the bare paths.
  const noteUses = new Map(
    http.operations.map(({ name }) => [name, routesOf(http, name)[0]!.noteUse]),
  );
  return async ({ account, quotas, operation: name, query }) => {
    const startedAt = performance.now();
    const noted: Pick<FinishedRequest, "operation"> = { operation: name };
    const deprecation = noteUses.get(name)?.(noted, query) ?? "";
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
    const answered = answerOf(http, outcome, requestId, deprecation);
    const { result } = outcome;
    http.recordRequest({
      asker: outcome.asker,
      operation: noted.operation,
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
  deprecation: HeaderLines,
): ApiAnswer {
  if (result.kind === "unchanged") throw new Error("The explorer sends no tags.");
  if (result.kind === "problem") reportProblem(http, result.problem, requestId, result.cause);
  const { status, headers, body } =
    result.kind === "problem"
      ? problemAnswer(result.problem, requestId)
      : { status: 200, headers: answerHeaders(http, result.answer), body: result.answer.body };
  const ofCounted = counted === null ? "" : quotaHeaders(counted) + deprecation;
  const named: Record<string, string> = { "x-request-id": requestId };
  // Links come in several lines, which are one list (RFC 9110 §5.3).
  for (const [name, value] of headerPairs(headers + ofCounted))
    named[name] = name in named ? `${named[name]}, ${value}` : value;
  // A copy, since the body may be a slice of a shared block.
  return {
    status,
    headers: named,
    body: new Uint8Array(body),
  };
}
