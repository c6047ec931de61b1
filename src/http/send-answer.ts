/** Sends responses, and records the requests. A response that may be counted waits until counts are committed. */
import { once } from "node:events";
import { createReadStream, fstatSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import type { Config } from "#config.ts";
import { siteOf } from "#dashboard/messages.ts";
import { compressor } from "#gateway/answer-cache.ts";
import { type HeaderLines, headerLines, headerPairs, preferredType } from "#gateway/headers.ts";
import type { Content } from "#gateway/reads.ts";
import { openNetworkShares } from "#limits/client-network.ts";
import type { Counters } from "#limits/counters.ts";
import { apiVersion } from "#operations/versions.ts";
import type { ProblemCode } from "#problems/kinds.ts";
import { type Problem, problemBody, unavailable } from "#problems.ts";
import type { HttpDependencies, Outgoing } from "./dependencies.ts";
import { STATUS_CODES } from "./node-http.ts";
import { clientAddress, type Exchange } from "./routes.ts";

/** An answer with its own headers. `sendAnswer` adds the headers that every response has. */
export type HttpAnswer = Omit<Content, "kind">;

/** Size from which unread answers are limited, and the maximum that one client network may have unread, in bytes. */
const [largeBytes, unreadBytesMax] = [1024 ** 2, 128 * 1024 ** 2];
const unreadShares = openNetworkShares(unreadBytesMax);
const tooMuchUnread =
  "Your network has not read the large answers that were sent before. Read them, then try again.";

/** Sends an answer, after the counts are committed if it may be counted. @throws Problem 503 if too much is unread. */
export function sendAnswer(
  http: HttpDependencies,
  exchange: Exchange,
  { status, headers, body, file }: HttpAnswer,
): void {
  const { request, response, id, isLast } = exchange;
  const quotaHeaders = exchange.quotaHeaders ?? "";
  // Node adds `Connection`. In HTTP/1.0, a response without a length ends by closing the connection.
  const endsByClosing = body === null && request.httpVersion === "1.0";
  // A response that was closed before gives nothing back.
  if (body !== null && body.length > largeBytes && !response.closed) {
    const address = clientAddress(request, http.config.trustedProxies);
    const giveBack = unreadShares.take(address, Math.min(body.length, unreadBytesMax));
    if (giveBack === null) throw unavailable("overloaded", tooMuchUnread);
    response.once("close", giveBack);
  }
  const { state } = http.life;
  if (isLast || endsByClosing || state === "closing" || state === "draining")
    response.shouldKeepAlive = false;
  exchange.isAnswered = true;
  const sent = {
    http,
    exchange,
    status,
    headers: `${headersOfAll(http.config, exchange)}x-request-id: ${id}\r\n${headers}${quotaHeaders}`,
    body,
    file,
  };
  if (quotaHeaders === "" && exchange.route?.who !== "person") sendNow(sent);
  else http.afterCommit(sent);
}

const headersOfAll = ({ corsOrigins }: Config, { request, route }: Exchange): HeaderLines =>
  route?.who === "person"
    ? commonHeaders([], undefined)
    : commonHeaders(corsOrigins, request.headers.origin);

export function sendNow(sent: Outgoing): void {
  const { http, exchange, status, headers, body, file } = sent;
  const { request, response } = exchange;
  if (body !== null) {
    storeHead(response, status, headers, body.length);
    response.end(body);
  } else {
    if (file !== undefined) return void sendFile(sent, file);
    response.writeHead(status, headerPairs(headers).flat());
    response.end();
  }
  const bytes = body === null || request.method === "HEAD" ? 0 : body.length;
  http.recordRequest(exchange, status, bytes);
}

/** Sends a part of a file, or a problem if the file cannot be opened or was cut off. Always records the request. */
async function sendFile(
  { http, exchange, status, headers }: Outgoing,
  { path, start, end, encoding }: NonNullable<Content["file"]>,
): Promise<void> {
  const { response, id } = exchange;
  const content = createReadStream(path, { start, end: end - 1 });
  try {
    const [fd] = (await once(content, "open")) as [number];
    const stats = fstatSync(fd);
    if (stats.isFile() && stats.size < end)
      throw new Error(`${path} has ${stats.size} bytes, but should have at least ${end}.`);
  } catch (error) {
    content.destroy();
    exchange.datasetVersion = null;
    const detail = "The file cannot be read at the moment. Try again in 5 seconds.";
    return answerWithProblem(http, exchange, unavailable("store_down", detail, 5), error);
  }
  response.writeHead(status, headerPairs(headers).flat());
  const sent = encoding === null ? content : content.pipe(compressor(encoding));
  let bytes = 0;
  sent.on("data", (piece: Buffer) => void (bytes += piece.length));
  content.on("error", (error) => {
    // If the client leaves, the response is destroyed before the file.
    if (!response.destroyed) http.log.error({ err: error, request_id: id }, "file cannot be read");
    // The connection ends early to show the failure.
    response.destroy();
  });
  await pipeline(sent, response).catch(() => response.destroy());
  content.destroy();
  http.recordRequest(exchange, status, bytes);
}

/** Method that Node's types leave out. `writeHead` calls it with the status line. */
interface HeadStore {
  _storeHeader(begin: string, headers: readonly string[]): void;
}

/**
 * Does the work of `writeHead` for headers that are already checked. `writeHead` would check and join them again for
 * each response (docs/decisions/0017). Node still adds `Date` and `Connection`.
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

/** Media type of every error (RFC 9457), except pages for browsers. */
const problemType = "application/problem+json; charset=utf-8";

export const problemAnswer = (
  problem: Problem,
  requestId: string,
): HttpAnswer & { body: Buffer } => ({
  status: problem.status,
  headers: headersOf(problem, problemType),
  body: Buffer.from(JSON.stringify(problemBody(problem, requestId))),
});

async function pageAnswer(
  http: HttpDependencies,
  problem: Problem,
  requestId: string,
): Promise<HttpAnswer> {
  // Like all pages, this module is loaded on first use.
  const { problemPage } = await import("#pages/errors.ts");
  return {
    status: problem.status,
    headers: headersOf(problem, html) + pageHeaders,
    body: Buffer.from(problemPage(siteOf(http), problem, requestId)),
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

const programTypes = ["application/problem+json", "application/json"] as const;

/** Reports whether to send a problem as a page. Paths that need a key serve programs; a browser may open the others. */
function isForPeople({ request, route }: Exchange): boolean {
  if (route?.who === "key") return false;
  const available =
    route?.who === "person"
      ? (["text/html", ...programTypes] as const)
      : ([...programTypes, "text/html"] as const);
  return preferredType(request.headers.accept, available) === "text/html";
}

const endConnection: ReadonlySet<ProblemCode> = new Set([
  "content-too-large",
  "headers-too-large",
  "malformed-request",
  "unsupported-media-type",
]);

/** Counts a problem if a quota caused it, and logs its cause if it has one. */
export function reportProblem(
  { metrics, log }: HttpDependencies,
  problem: Problem,
  requestId: string,
  cause: unknown,
): void {
  metrics.refused(problem);
  if (cause === undefined) return;
  const what = problem.code === "internal-error" ? "internal error" : "request cannot be answered";
  log.error({ err: cause, request_id: requestId }, what);
}

/**
 * Sends a problem, and reports it to the metrics and the log.
 * @param cause error behind the problem, for the log; undefined if there is none.
 */
export function answerWithProblem(
  http: HttpDependencies,
  exchange: Exchange,
  problem: Problem,
  cause?: unknown,
): void {
  // The next bytes may be the rest of a body, or something that a proxy has read differently.
  if (endConnection.has(problem.code)) exchange.isLast = true;
  exchange.problemCode = problem.code;
  reportProblem(http, problem, exchange.id, cause);
  const asData = () => problemAnswer(problem, exchange.id);
  if (!isForPeople(exchange)) return sendAnswer(http, exchange, asData());
  // If the page cannot be made, the browser gets the problem as JSON.
  void pageAnswer(http, problem, exchange.id)
    .catch(asData)
    .then((answer) => sendAnswer(http, exchange, answer));
}

const exposed = [
  "API-Version",
  "Dataset-Version",
  "ETag",
  "Link",
  "RateLimit",
  "RateLimit-Policy",
  "Retry-After",
  "WWW-Authenticate",
  "X-Request-Id",
  "X-Total-Count",
].join(", ");

const fixed = { "api-version": apiVersion, "x-content-type-options": "nosniff" };

const forOwnOrigin = headerLines({ ...fixed, vary: "Accept, Accept-Encoding" });
const forListedOrigins = headerLines({ ...fixed, vary: "Accept, Accept-Encoding, Origin" });
const sharedWith = (origin: string) =>
  headerLines({ "access-control-allow-origin": origin, "access-control-expose-headers": exposed });
const forAnyOrigin = forOwnOrigin + sharedWith("*");

/** Returns the headers of all responses, plus CORS headers if allowed. @param origin the request's `Origin`, if any. */
export function commonHeaders(
  origins: Config["corsOrigins"],
  origin: string | undefined,
): HeaderLines {
  if (origins === "*") return forAnyOrigin;
  if (origins.length === 0) return forOwnOrigin;
  const isListed = origin !== undefined && origins.includes(origin);
  return isListed ? forListedOrigins + sharedWith(origin) : forListedOrigins;
}

/** Returns a function that sends a response once the counts of the current turn of the event loop are committed. */
export function openCommitBarrier<R>(
  commit: Counters["commit"],
  send: (response: R) => void,
): (response: R) => void {
  let waiting: R[] = [];
  const release = () => {
    const released = waiting;
    waiting = [];
    commit();
    for (const response of released) send(response);
  };
  return (response) => {
    if (waiting.length === 0) setImmediate(release);
    waiting.push(response);
  };
}

export const html = "text/html; charset=utf-8";
export const json = "application/json; charset=utf-8";

/**
 * Policy that allows only resources of this origin and images in `data:` URLs, and no inline code or styles (W3C
 * Content Security Policy 3).
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

export const pageHeaders = headerLines({
  "content-security-policy": contentSecurityPolicy,
  "referrer-policy": "no-referrer",
});
