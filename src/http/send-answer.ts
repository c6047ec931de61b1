/** Sends a response in one write: collecting its headers one by one would cost more than the rest of a request. */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Config } from "#config.ts";
import { problemPage } from "#pages/errors.ts";
import { type Problem, problemBody, type ProblemCode } from "#problems.ts";
import {
  commonHeaders,
  type HeaderLines,
  headerLines,
  html,
  pageHeaders,
} from "./common-headers.ts";
import { notCommitted } from "./commit-barrier.ts";
import type { HttpDependencies } from "./dependencies.ts";
import { preferredType } from "./negotiate.ts";
import { otherPaths } from "./request-metrics.ts";

export interface Answer {
  status: number;
  /** Its own headers; those of every response are added. */
  headers: HeaderLines;
  /** Null where there is no content: 204, 304. */
  body: Buffer | null;
}

const headersOfAll = (config: Config, { headers, isPrivate }: FastifyRequest): HeaderLines =>
  isPrivate ? commonHeaders([], undefined) : commonHeaders(config.corsOrigins, headers.origin);

const closing = headerLines({ connection: "close" });

/**
 * Where a request was counted, its response is sent after the quota write. Of Fastify's reply only the hooks run:
 * whatever is set on it before is not sent.
 */
export function sendAnswer(
  http: HttpDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  { status, headers, body }: Answer,
): void {
  const { config, state, afterCommit } = http;
  const { quotaHeaders } = request;
  const lines = [...headersOfAll(config, request), "x-request-id", request.id, ...headers];
  // Fastify makes requests for its own errors without what was decorated.
  lines.push(...(quotaHeaders ?? []));
  // Without a length, HTTP/1.0 marks the end of a response by closing the connection, and Node does so.
  const endsByClosing = body === null && request.raw.httpVersion === "1.0";
  if (request.isLast || endsByClosing || state() === "draining") {
    lines.push(...closing);
    // Node does not derive it from these lines, and others read it.
    reply.raw.shouldKeepAlive = false;
  }
  if (body !== null) lines.push("content-length", String(body.length));
  request.bodyBytes = body === null || request.method === "HEAD" ? 0 : body.length;
  reply.hijack();
  const send = () => {
    reply.raw.writeHead(status, lines);
    if (body === null) reply.raw.end();
    else reply.raw.end(body);
  };
  if (!quotaHeaders) return send();
  afterCommit(send, () => {
    // Without its quota headers the refusal is sent at once.
    request.quotaHeaders = null;
    request.datasetVersion = null;
    refuse(http, request, reply, notCommitted());
  });
}

/** Every error is sent in this type (RFC 9457), or as a page to browsers. */
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
  http: HttpDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  problem: Problem,
): void => {
  const answerOf = isForPeople(request) ? pageAnswer : problemAnswer;
  sendAnswer(http, request, reply, answerOf(problem, request.id));
};

const programTypes = ["application/problem+json", "application/json"] as const;

/** Operations serve programs only; anywhere else a browser may have sent the request, by a mistyped address or a form. */
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

/** Counts a refusal, and logs an internal error. */
export function reportProblem(
  { metrics, log }: HttpDependencies,
  problem: Problem,
  requestId: string,
  cause: unknown,
): void {
  metrics.refused(problem);
  if (problem.code === "internal-error")
    log.error({ err: cause, request_id: requestId }, "internal error");
}

/**
 * Sends a problem, and reports it to the metrics and the log.
 * @param cause what was thrown, where it is an internal error.
 */
export function refuse(
  http: HttpDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  problem: Problem,
  cause?: unknown,
): void {
  // What follows on the connection is the rest of a body, or something a proxy may have read differently.
  if (endConnection.has(problem.code)) request.isLast = true;
  request.problemCode = problem.code;
  reportProblem(http, problem, request.id, cause);
  sendProblem(http, request, reply, problem);
}
