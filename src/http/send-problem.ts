/** Every error as `application/problem+json` (RFC 9457), whoever raised it. */
import type { FastifyReply } from "fastify";
import { Problem, problemBody } from "#problems.ts";

export const problemType = "application/problem+json; charset=utf-8";

export interface ProblemAnswer {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

export function problemAnswer(problem: Problem, requestId: string): ProblemAnswer {
  const { code, members, retryAfterSeconds, status } = problem;
  return {
    status,
    headers: {
      "content-type": problemType,
      "cache-control": "no-store",
      ...(retryAfterSeconds !== undefined && { "retry-after": String(retryAfterSeconds) }),
      ...(status === 401 && { "www-authenticate": `ApiKey realm="gp-records", error="${code}"` }),
      ...(code === "method-not-allowed" && { allow: (members["allowed"] as string[]).join(", ") }),
    },
    body: Buffer.from(JSON.stringify(problemBody(problem, requestId))),
  };
}

export function sendProblem(reply: FastifyReply, problem: Problem): FastifyReply {
  const { status, headers, body } = problemAnswer(problem, reply.request.id);
  // What the answer would have been tagged with is not what is sent.
  return reply
    .removeHeader("etag")
    .removeHeader("dataset-version")
    .code(status)
    .headers(headers)
    .send(body);
}

/** What nobody meant to happen: told to the operator's log, not to the caller. */
export const internalError = () =>
  new Problem(
    "internal-error",
    "The service made a mistake; it has been logged under this request_id.",
  );
