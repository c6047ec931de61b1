/** Sends a response in one write, and has it recorded. */
import type { ServerResponse } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Config } from "#config.ts";
import { notCountedProblem } from "#limits/quota-problem.ts";
import { type Problem, problemBody, type ProblemCode } from "#problems.ts";
import {
  commonHeaders,
  type HeaderLines,
  headerLines,
  headerPairs,
  html,
  pageHeaders,
} from "./common-headers.ts";
import type { HttpDependencies } from "./dependencies.ts";
import { preferredType } from "./negotiate.ts";
import { STATUS_CODES } from "./node-http.ts";
import { otherPaths } from "./request-metrics.ts";

export interface Answer {
  status: number;
  /** Its own headers; those of every response are added. */
  headers: HeaderLines;
  /** Null where there is no content, as with 204 and 304, and where it is streamed. */
  body: Buffer | null;
  /** Sends content that is too large for a buffer; its length stands in the headers. Resolves to the bytes sent, also where the client leaves. */
  stream?: Stream;
}

type Stream = (response: ServerResponse) => Promise<number>;

/** A response as it is sent. */
interface Response {
  http: HttpDependencies;
  request: FastifyRequest;
  reply: FastifyReply;
  status: number;
  headers: HeaderLines;
  body: Buffer | null;
  stream: Stream | undefined;
}

/**
 * Where a request was counted, its response is sent after the quota write. Whatever was set on Fastify's reply before is
 * not sent.
 */
export function sendAnswer(
  http: HttpDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  { status, headers, body, stream }: Answer,
): void {
  // Fastify makes requests for its own errors without what was decorated.
  const quotaHeaders = request.quotaHeaders ?? "";
  // Node adds `Connection` and, to what has no length, whatever HTTP/1.0 needs; it closes the connection to mark the end.
  const endsByClosing = body === null && request.raw.httpVersion === "1.0";
  const state = http.state();
  if (request.isLast || endsByClosing || state === "closing" || state === "draining")
    reply.raw.shouldKeepAlive = false;
  reply.hijack();
  const response = {
    http,
    request,
    reply,
    status,
    headers: `${headersOfAll(http.config, request)}x-request-id: ${request.id}\r\n${headers}${quotaHeaders}`,
    body,
    stream,
  };
  if (quotaHeaders === "") send(response);
  else http.afterCommit(response, send, refuseUncommitted);
}

const headersOfAll = (config: Config, { headers, isPrivate }: FastifyRequest): HeaderLines =>
  isPrivate ? commonHeaders([], undefined) : commonHeaders(config.corsOrigins, headers.origin);

function send(response: Response): void {
  const { request, reply, status, headers, body, stream } = response;
  if (body !== null) {
    storeHead(reply.raw, status, headers, body.length);
    reply.raw.end(body);
  } else {
    reply.raw.writeHead(status, headerPairs(headers).flat());
    if (stream !== undefined)
      return void stream(reply.raw).then((bytes) => record(response, bytes));
    reply.raw.end();
  }
  record(response, body === null || request.method === "HEAD" ? 0 : body.length);
}

function record({ http, request, status }: Response, bytes: number): void {
  // Fastify makes requests for its own errors without what was decorated; they are logged where they arise.
  if (request.operation === undefined) return;
  http.recordRequest({
    asker: request.asker,
    operation: request.operation,
    method: request.method,
    path: request.path,
    target: request.raw.url!,
    status,
    milliseconds: performance.now() - request.arrivedAt,
    bytes,
    dataset: request.datasetVersion,
    problem: request.problemCode,
    requestId: request.id,
  });
}

/** A method of Node's that its types leave out: `writeHead` ends with it, once it has made the status line. */
interface HeadStore {
  _storeHeader(begin: string, headers: readonly string[]): void;
}

/**
 * As `writeHead`, for headers that `headerLines` has checked already: Node would check and join twenty lines again for
 * each response, a twelfth of what a warm request costs (docs/decisions/0017). It still adds `Date` and `Connection`.
 */
function storeHead(
  response: ServerResponse,
  status: number,
  headers: HeaderLines,
  bodyBytes: number,
): void {
  response.statusCode = status;
  (response as unknown as HeadStore)._storeHeader(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers}`,
    ["content-length", String(bodyBytes)],
  );
}

/** Without its quota headers the refusal is sent at once. */
function refuseUncommitted({ http, request, reply }: Response): void {
  request.quotaHeaders = null;
  request.datasetVersion = null;
  refuse(http, request, reply, notCountedProblem());
}

/** Every error is sent in this type (RFC 9457), or as a page to browsers. */
const problemType = "application/problem+json; charset=utf-8";

export const problemAnswer = (problem: Problem, requestId: string): Answer & { body: Buffer } => ({
  status: problem.status,
  headers: headersOf(problem, problemType),
  body: Buffer.from(JSON.stringify(problemBody(problem, requestId))),
});

async function pageAnswer(problem: Problem, requestId: string): Promise<Answer> {
  // Loaded with the first page, as all pages are.
  const { problemPage } = await import("#pages/errors.ts");
  return {
    status: problem.status,
    headers: headersOf(problem, html) + pageHeaders,
    body: Buffer.from(problemPage(problem, requestId)),
  };
}

function headersOf(problem: Problem, contentType: string): HeaderLines {
  const { code, members, status } = problem;
  const { retry_after: retryAfter, allowed, bytes } = members;
  return headerLines({
    "content-type": contentType,
    "cache-control": "no-store",
    ...(retryAfter !== undefined && { "retry-after": String(retryAfter) }),
    ...(status === 401 && { "www-authenticate": `ApiKey realm="gp-records", error="${code}"` }),
    ...(allowed !== undefined && { allow: allowed.join(", ") }),
    ...(bytes !== undefined && { "content-range": `bytes */${bytes}` }),
  });
}

export function sendProblem(
  http: HttpDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  problem: Problem,
): void {
  const asData = () => problemAnswer(problem, request.id);
  if (!isForPeople(request)) return sendAnswer(http, request, reply, asData());
  reply.hijack();
  // A page that cannot be made must not keep a browser from its answer.
  void pageAnswer(problem, request.id)
    .catch(asData)
    .then((answer) => sendAnswer(http, request, reply, answer));
}

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
  "headers-too-large",
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
