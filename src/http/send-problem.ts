/** Every error as `application/problem+json` (RFC 9457), whoever raised it. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { Problem, problemBody } from "#problems.ts";
import type { FrontDoor } from "./front-door.ts";
import { headerLines } from "./header-lines.ts";
import { sendAnswer, type Answer } from "./send-answer.ts";

export const problemType = "application/problem+json; charset=utf-8";

export function problemAnswer(problem: Problem, requestId: string): Answer & { body: Buffer } {
  const { code, members, retryAfterSeconds, status } = problem;
  return {
    status,
    headers: headerLines({
      "content-type": problemType,
      "cache-control": "no-store",
      ...(retryAfterSeconds !== undefined && { "retry-after": String(retryAfterSeconds) }),
      ...(status === 401 && { "www-authenticate": `ApiKey realm="gp-records", error="${code}"` }),
      ...(code === "method-not-allowed" && { allow: (members["allowed"] as string[]).join(", ") }),
    }),
    body: Buffer.from(JSON.stringify(problemBody(problem, requestId))),
  };
}

export const sendProblem = (
  door: FrontDoor,
  request: FastifyRequest,
  reply: FastifyReply,
  problem: Problem,
): void => sendAnswer(door, request, reply, problemAnswer(problem, request.id));

/** What nobody meant to happen: told to the operator's log, not to the caller. */
export const internalError = () =>
  new Problem(
    "internal-error",
    "The service made a mistake; it has been logged under this request_id.",
  );
