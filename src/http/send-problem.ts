/** Every error as `application/problem+json` (RFC 9457), whoever raised it; where people look, as a page. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { problemPage } from "#pages/errors.ts";
import { type Problem, type ProblemCode, problemBody } from "#problems.ts";
import type { FrontDoor } from "./front-door.ts";
import { headerLines, type HeaderLines } from "./header-lines.ts";
import { html, pageHeaders } from "./mount-document.ts";
import { preferredType } from "./negotiate.ts";
import { otherPaths } from "./request-metrics.ts";
import { sendAnswer, type Answer } from "./send-answer.ts";

const problemType = "application/problem+json; charset=utf-8";

export const problemAnswer = (problem: Problem, requestId: string): Answer & { body: Buffer } => ({
  status: problem.status,
  headers: headersOf(problem, problemType),
  body: Buffer.from(JSON.stringify(problemBody(problem, requestId))),
});

const pageAnswer = (problem: Problem, requestId: string): Answer => ({
  status: problem.status,
  headers: [...headersOf(problem, html), ...pageHeaders],
  body: Buffer.from(problemPage(problem, requestId)),
});

function headersOf(problem: Problem, contentType: string): HeaderLines {
  const { code, members, status } = problem;
  const { retry_after: retryAfter, allowed } = members;
  return headerLines({
    "content-type": contentType,
    "cache-control": "no-store",
    ...(retryAfter !== undefined && { "retry-after": String(retryAfter) }),
    ...(status === 401 && { "www-authenticate": `ApiKey realm="gp-records", error="${code}"` }),
    ...(allowed !== undefined && { allow: allowed.join(", ") }),
  });
}

export const sendProblem = (
  door: FrontDoor,
  request: FastifyRequest,
  reply: FastifyReply,
  problem: Problem,
): void => {
  const answerOf = isForPeople(request) ? pageAnswer : problemAnswer;
  sendAnswer(door, request, reply, answerOf(problem, request.id));
};

const programTypes = ["application/problem+json", "application/json"] as const;

/** An operation answers programs alone; anywhere else a browser may have come, by a mistyped address or a form. */
function isForPeople({ operation, isPrivate, headers }: FastifyRequest): boolean {
  // Fastify makes requests for its own errors without what was decorated.
  if (operation !== undefined && operation !== otherPaths) return false;
  const available = isPrivate
    ? (["text/html", ...programTypes] as const)
    : ([...programTypes, "text/html"] as const);
  return preferredType(headers.accept, available) === "text/html";
}

const endConnection: ReadonlySet<ProblemCode> = new Set([
  "content-too-large",
  "malformed-request",
  "unsupported-media-type",
]);

/** Tells the metrics of a refusal, and the operator of a mistake of ours. */
export function reportProblem(
  { metrics, log }: FrontDoor,
  problem: Problem,
  requestId: string,
  cause: unknown,
): void {
  metrics.refused(problem);
  if (problem.code === "internal-error")
    log.error({ err: cause, request_id: requestId }, "internal error");
}

/**
 * Answers with a problem, and tells the metrics and the log of it.
 * @param cause what was thrown where the problem is a mistake of ours.
 */
export function refuse(
  door: FrontDoor,
  request: FastifyRequest,
  reply: FastifyReply,
  problem: Problem,
  cause?: unknown,
): void {
  // What follows on the connection is the rest of a body, or another protocol.
  if (endConnection.has(problem.code)) request.isLast = true;
  request.problemCode = problem.code;
  reportProblem(door, problem, request.id, cause);
  sendProblem(door, request, reply, problem);
}
