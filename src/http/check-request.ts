/** Checks every request before its handler runs: its syntax, the state of the service, its path and its method. */
import type { IncomingMessage } from "node:http";
import { isIPv6 } from "node:net";
import { headerLines } from "#gateway/headers.ts";
import { nearest } from "#records/edit-distance.ts";
import { exportsPath } from "#gateway/read-exports.ts";
import { echo, malformed, notReadyDetails, Problem, unavailable } from "#problems.ts";
import { bodyMaximum, bodyTooLarge } from "./bodies.ts";
import type { HttpDependencies } from "./dependencies.ts";
import { type Exchange, readMethods, type Route, type Router, sentPath } from "./routes.ts";
import { sendAnswer } from "./send-answer.ts";

/** Maximum size of the request line and the headers together, in bytes: Node's default. */
export const headerBytesMax = 16_384;
const targetBytesMax = 8192;
/** Maximum number of header lines. A short line takes ten times its bytes in memory. */
export const headerLinesMax = 48;

/** Returns the route of a request. @throws Problem if the request cannot be served. */
export function checkRequest(http: HttpDependencies, { paths }: Router, exchange: Exchange): Route {
  const { request, route } = exchange;
  refuseUnreadable(exchange);
  if (route?.isAlwaysOpen !== true) refuseWhileClosed(http);
  // Documents stay available, so that refused clients can read why.
  if (route?.who !== "public") refuseWhileOverloaded(http);
  if (route === null) throw unknownPath(exchange, http, paths);
  const { methods } = route;
  const method = request.method!;
  if (!methods.includes(method))
    throw new Problem(
      "method-not-allowed",
      `This path does not accept the method ${echo(method)}, only ${methods.join(", ")}.`,
      { allowed: methods },
    );
  return route;
}

/** Answers an OPTIONS request, which needs no key and uses no quota. */
export function answerOptions(http: HttpDependencies, exchange: Exchange, route: Route): void {
  const preflight = route.takesBearer === true ? mcpPreflightHeaders : preflightHeaders;
  const headers = preflight + headerLines({ allow: route.methods.join(", ") });
  sendAnswer(http, exchange, { status: 204, headers, body: null });
}

function refuseUnreadable(exchange: Exchange): void {
  const { request, path } = exchange;
  const { headers, rawHeaders, httpVersion } = request;
  const url = request.url!;
  // Node keeps at least one more line than allowed, and may drop those after it.
  if (rawHeaders.length > 2 * headerLinesMax) throw headersTooLarge();
  const { "content-length": length, "transfer-encoding": coding } = headers;
  if (length !== undefined && Number(length) > bodyMaximum(exchange.route))
    throw bodyTooLarge(bodyMaximum(exchange.route));
  // HTTP/1.0 has no coding. The parser reports an unknown one only after the headers (RFC 9112 §6.1).
  if (coding !== undefined && (coding.toLowerCase() !== "chunked" || httpVersion === "1.0"))
    throw malformed("Send Content-Length or, in HTTP/1.1 only, the Transfer-Encoding 'chunked'.");
  if (httpVersion !== "1.1" && httpVersion !== "1.0")
    throw malformed("The request line must end with HTTP/1.1 or HTTP/1.0.");
  // No upgrade is offered, but the parser discards everything after a request for one. After a CONNECT nothing is read.
  if (asksForUpgrade(request) || request.method === "CONNECT") exchange.isLast = true;
  const hosts = countHosts(rawHeaders);
  if (hosts > 1 || (hosts === 0 && httpVersion === "1.1"))
    throw malformed(
      `The request has ${hosts === 0 ? "no" : "more than one"} Host header. Send exactly one.`,
    );
  refuseInvalidHost(headers.host ?? "", url);
  if (!canBeMet(request))
    throw new Problem(
      "expectation-failed",
      "The Expect header may only be '100-continue'. Send that value or omit the header.",
    );
  if (url.length > targetBytesMax)
    throw new Problem(
      "uri-too-long",
      `The address has ${url.length} bytes, but may have at most ${targetBytesMax}. Send fewer or shorter parameters.`,
      { maximum: targetBytesMax },
    );
  // A '#' is not allowed here (RFC 9112 §3.2). The text after it would become part of the path or query, or be lost.
  if (url.includes("#")) throw malformed("The address contains a '#'. Write it as %23.");
  if (path === null) throw malformed("The path is not percent-encoded UTF-8. Write é as %C3%A9.");
  if (request.method === "CONNECT")
    throw new Problem(
      "method-not-allowed",
      "CONNECT is not allowed: this is not a proxy. Use GET.",
      {
        allowed: readMethods,
      },
    );
  // The parser accepts this method, although Node does not list it.
  if (request.method === "PRI")
    throw malformed(
      "PRI begins HTTP/2 (RFC 9113), but this server speaks only HTTP/1.1. Use that version.",
    );
}

// The parser does not tell which of the two it is.
const tooMuch = `The request may have at most ${headerLinesMax} header lines, and at most ${headerBytesMax} bytes in request line and headers together. Shorten the address or send fewer headers.`;

export const headersTooLarge = () =>
  new Problem("headers-too-large", tooMuch, { maximum: headerBytesMax });

/** Reports whether `Expect` can be met. Ignores the header of HTTP/1.0 clients (RFC 9110 §10.1.1). */
const canBeMet = ({ headers: { expect }, httpVersion }: IncomingMessage) =>
  expect === undefined || httpVersion !== "1.1" || /(?:^|\W)100-continue(?:$|\W)/i.test(expect);

const asksForUpgrade = ({ headers: { upgrade, connection = "" } }: IncomingMessage) =>
  upgrade !== undefined && /(?:^|,)\s*upgrade\s*(?:,|$)/i.test(connection);

/**
 * Refuses an invalid host, because it could mislead a proxy that builds a link or a cache key from it (RFC 9112 §3.2).
 */
function refuseInvalidHost(host: string, url: string): void {
  // An empty header is valid: clients send it if the target has no authority (RFC 9112 §3.2).
  if (!isAuthority(host))
    throw malformed(
      "The Host header is not a valid host: send a host name or an IP address (IPv6 in brackets), followed by a port if needed, such as records.example:8080 or [2001:db8::1]:8080.",
    );
  if (url.startsWith("/")) return;
  const authority = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(url)?.[1];
  // The host of an http URL may not be empty (RFC 9110 §4.2.1).
  if (authority === undefined || (/^[^:]/.test(authority) && isAuthority(authority))) return;
  throw malformed(
    "The address names no valid host: between // and the path, send a host name or an IP address (IPv6 in brackets), followed by a port if needed, such as records.example:8080.",
  );
}

/** Host name, perhaps percent-encoded, or address in brackets; either with an optional port (RFC 3986 §3.2.2-3). */
const authorityShape = /^(?:(?:[\w.~!$&'()*+,;=-]|%[0-9a-f]{2})*|\[([0-9a-f:.]*)\])(?::[0-9]*)?$/i;
/** Latest valid host, cached because nearly all requests to a service name the same one. */
let latestAuthority = "";

function isAuthority(text: string): boolean {
  if (text === latestAuthority) return true;
  const found = authorityShape.exec(text);
  const address = found?.[1];
  if (found === null || (address !== undefined && !isIPv6(address))) return false;
  latestAuthority = text;
  return true;
}

/** Counts `Host` lines. Node keeps the first of several, and a proxy may have kept another (RFC 9112 §3.2). */
function countHosts(rawHeaders: readonly string[]): number {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]!.length === 4 && rawHeaders[i]!.toLowerCase() === "host") hosts++;
  return hosts;
}

function refuseWhileClosed(http: HttpDependencies): void {
  const { state } = http.life;
  if (state === "running" || state === "closing") return;
  throw unavailable(state, notReadyDetails[state]);
}

function refuseWhileOverloaded({ overload, metrics }: HttpDependencies): void {
  const { cause } = overload;
  if (cause === null) return;
  metrics.overloaded(cause);
  throw unavailable("overloaded", "The service is overloaded. Try again in a few seconds.");
}

function unknownPath(
  { target }: Exchange,
  { config, operations }: HttpDependencies,
  known: readonly string[],
): Problem {
  const path = sentPath(target);
  // Drops only one slash: a pattern for several takes quadratic time on a run of slashes elsewhere.
  const tidy = path.toLowerCase().replace(/\/$/, "");
  const areExportsOff = !config.exports && `${tidy}/`.startsWith(`${exportsPath}/`);
  const why = areExportsOff
    ? ": this server does not offer whole datasets as files. Its operator can turn this on with the setting EXPORTS=on"
    : "";
  return new Problem("unknown-path", `There is nothing at ${echo(path)}${why}.`, {
    suggestion: nearest(tidy, known) ?? null,
    operations: operations.map((operation) => operation.path),
  });
}

const preflight = (methods: readonly string[], headers: string) =>
  headerLines({
    "access-control-allow-methods": methods.join(", "),
    "access-control-allow-headers": headers,
    "access-control-max-age": "7200",
  });

const readHeaders = "x-api-key, accept, if-none-match, x-request-id";

/** Headers that a browser checks before it sends `x-api-key` across origins (Fetch standard, CORS preflight). */
const preflightHeaders = preflight(readMethods, readHeaders);

/** Headers with the MCP revision and, since revision 2026-07-28, the method and the name in the message. */
export const mcpHeaders = ["mcp-protocol-version", "mcp-method", "mcp-name"] as const;

const mcpPreflightHeaders = preflight(
  [...readMethods, "POST"],
  `${readHeaders}, authorization, content-type, ${mcpHeaders.join(", ")}`,
);
