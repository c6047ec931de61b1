/** Checks every request before its handler runs: is it readable, is the service up, do the path and the method exist? */
import type { IncomingMessage } from "node:http";
import { isIPv6 } from "node:net";
import { nearest } from "#operations/edit-distance.ts";
import { exportsPath } from "#operations/reads.ts";
import { echo, Problem } from "#problems.ts";
import { bodyBytesMax, bodyTooLarge } from "./bodies.ts";
import { headerLines } from "#gateway/headers.ts";
import { mcpPreflightHeaders, preflightHeaders } from "./common-headers.ts";
import type { HttpDependencies } from "./dependencies.ts";
import { type Exchange, type Router, sentPath } from "./routes.ts";
import { sendAnswer } from "./send-answer.ts";

/** Node's default, which we keep: request line and headers together. */
export const headerBytesMax = 16_384;
const targetBytesMax = 8192;
/** Lines of a head; a short line takes ten times its bytes in memory. */
export const headerLinesMax = 48;

/**
 * Returns true where the response has been sent: to a preflight.
 * @throws Problem for what cannot be served.
 */
export function checkRequest(
  http: HttpDependencies,
  { paths }: Router,
  exchange: Exchange,
): boolean {
  const { request, route } = exchange;
  refuseUnreadable(exchange);
  if (route?.isAlwaysOpen !== true) refuseWhileClosed(http);
  // Documents stay available, so that a refused client can read why.
  if (route?.who !== "public") refuseWhileOverloaded(http);
  if (route === null) throw unknownPath(exchange, http, paths);
  const { methods } = route;
  const method = request.method!;
  if (!methods.includes(method))
    throw new Problem(
      "method-not-allowed",
      `${echo(method)} is not allowed here; use ${methods.join(", ")}.`,
      { allowed: methods },
    );
  if (method !== "OPTIONS") return false;
  const preflight = route.takesBearer === true ? mcpPreflightHeaders : preflightHeaders;
  const headers = preflight + headerLines({ allow: methods.join(", ") });
  sendAnswer(http, exchange, { status: 204, headers, body: null });
  return true;
}

function refuseUnreadable(exchange: Exchange): void {
  const { request, path } = exchange;
  const { headers, rawHeaders, httpVersion } = request;
  const url = request.url!;
  // Node has left out those beyond one more than are allowed.
  if (rawHeaders.length > 2 * headerLinesMax) throw headersTooLarge();
  if (Number(headers["content-length"] ?? 0) > bodyBytesMax) throw bodyTooLarge();
  // The parser reports an unknown coding only after it has passed the headers on (RFC 9112 §6.1).
  if ((headers["transfer-encoding"] ?? "chunked").toLowerCase() !== "chunked")
    throw new Problem("malformed-request", "Only the transfer coding 'chunked' is understood.");
  if (httpVersion !== "1.1" && httpVersion !== "1.0")
    throw new Problem("malformed-request", "The request line names no version of HTTP/1.");
  // No upgrade is offered, but the parser discards what follows a request for one.
  if (asksForUpgrade(request)) exchange.isLast = true;
  const hosts = countHosts(rawHeaders);
  if (hosts > 1 || (hosts === 0 && httpVersion === "1.1"))
    throw new Problem(
      "malformed-request",
      `The request has ${hosts === 0 ? "no" : "more than one"} Host header.`,
    );
  refuseInvalidHost(headers.host ?? "", url);
  if (!canBeMet(request))
    throw new Problem("expectation-failed", "Only 'Expect: 100-continue' can be met.");
  if (url.length > targetBytesMax)
    throw new Problem(
      "uri-too-long",
      `The address has ${url.length} bytes; ${targetBytesMax} are allowed.`,
      { maximum: targetBytesMax },
    );
  // No part of a request target (RFC 9112 §3.2): what follows would be taken for a part of the query or be lost.
  if (url.includes("#"))
    throw new Problem("malformed-request", "The address holds a '#'; write it as %23.");
  if (path === null)
    throw new Problem("malformed-request", "The path is not valid percent-encoded UTF-8.");
  // The parser knows it, although Node does not list it among its methods.
  if (request.method === "PRI")
    throw new Problem(
      "malformed-request",
      "PRI begins HTTP/2 (RFC 9113), which is not spoken here.",
    );
}

export const headersTooLarge = () =>
  new Problem(
    "headers-too-large",
    `Request line and headers have more than ${headerBytesMax} bytes, or more than ${headerLinesMax} lines.`,
    { maximum: headerBytesMax },
  );

/** What HTTP/1.0 expects is ignored (RFC 9110 §10.1.1). */
const canBeMet = ({ headers: { expect }, httpVersion }: IncomingMessage) =>
  expect === undefined || httpVersion !== "1.1" || /(?:^|\W)100-continue(?:$|\W)/i.test(expect);

const asksForUpgrade = ({ headers: { upgrade, connection = "" } }: IncomingMessage) =>
  upgrade !== undefined && /(?:^|,)\s*upgrade\s*(?:,|$)/i.test(connection);

/** A proxy that builds a link or a cache key from such a text may read more into it than a name (RFC 9112 §3.2). */
function refuseInvalidHost(host: string, url: string): void {
  // Empty where the target has no authority (RFC 9110 §7.2).
  if (!isAuthority(host))
    throw new Problem(
      "malformed-request",
      "The Host header is no host: it takes a name or an address, and a port, as in records.example:8080.",
    );
  if (url.startsWith("/")) return;
  const authority = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(url)?.[1];
  // The host of an http URL may not be empty (RFC 9110 §4.2.1).
  if (authority === undefined || (/^[^:]/.test(authority) && isAuthority(authority))) return;
  throw new Problem(
    "malformed-request",
    "The address names no host: between // and the path it takes a name or an address, and a port.",
  );
}

/** A name, which may be percent-encoded, or an address in brackets; then a port (RFC 3986 §3.2.2, §3.2.3). */
const authorityShape = /^(?:(?:[\w.~!$&'()*+,;=-]|%[0-9a-f]{2})*|\[([^\]]*)\])(?::[0-9]*)?$/i;
const futureAddress = /^v[0-9a-f]+\.[\w.~!$&'()*+,;=:-]+$/i;

/** Cached: nearly all requests to a service name one host. */
let latestAuthority = "";

function isAuthority(text: string): boolean {
  if (text === latestAuthority) return true;
  const found = authorityShape.exec(text);
  const address = found?.[1];
  if (found === null || (address !== undefined && !isBracketed(address))) return false;
  latestAuthority = text;
  return true;
}

/** Node accepts a zone after the address, which is not allowed in a URL. */
const isBracketed = (address: string) =>
  (isIPv6(address) && !address.includes("%")) || futureAddress.test(address);

/** Node keeps the first of several, and a proxy may have kept another (RFC 9112 §3.2). */
function countHosts(rawHeaders: readonly string[]): number {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]!.length === 4 && rawHeaders[i]!.toLowerCase() === "host") hosts++;
  return hosts;
}

function refuseWhileClosed(http: HttpDependencies): void {
  const { state } = http.life;
  if (state === "running" || state === "closing") return;
  const detail =
    state === "starting" ? "The service is starting." : "The service is about to stop.";
  throw new Problem("unavailable", detail, { reason: state, retry_after: 1 });
}

function refuseWhileOverloaded({ overload, metrics }: HttpDependencies): void {
  const { cause } = overload;
  if (cause === null) return;
  metrics.overloaded(cause);
  throw new Problem("unavailable", "The service has more to do than it can.", {
    reason: "overloaded",
    retry_after: 1,
  });
}

function unknownPath(
  { target }: Exchange,
  { config, operations }: HttpDependencies,
  known: readonly string[],
): Problem {
  const path = sentPath(target);
  // One slash only: a pattern for several would take quadratic time on a run of them elsewhere.
  const tidy = path.toLowerCase().replace(/\/$/, "");
  const paths = operations.map((operation) => operation.path);
  if (!config.exports && `${tidy}/`.startsWith(`${exportsPath}/`))
    return new Problem(
      "unknown-path",
      `There is nothing at ${echo(path)}: this server offers no files of whole datasets. Its operator can offer them with the setting EXPORTS=on.`,
      { suggestion: null, operations: paths },
    );
  return new Problem("unknown-path", `There is nothing at ${echo(path)}.`, {
    suggestion: nearest(tidy, known) ?? null,
    operations: paths,
  });
}
