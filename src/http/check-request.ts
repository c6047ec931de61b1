/** Checks every request before its handler runs: is it readable, is the service up, do the path and the method exist? */
import type { IncomingMessage, ServerResponse } from "node:http";
import { isIPv6 } from "node:net";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Config } from "#config.ts";
import { clientNetwork } from "#limits/client-network.ts";
import { nearest } from "#operations/edit-distance.ts";
import { exportsPath } from "#operations/reads.ts";
import { echo, Problem } from "#problems.ts";
import { clientAddress } from "./client-address.ts";
import { leaveUnread } from "./connections.ts";
import { headerLines, mcpPreflightHeaders, preflightHeaders } from "./common-headers.ts";
import type { HttpDependencies } from "./dependencies.ts";
import type { RouteFacts } from "./routes.ts";
import { sendAnswer } from "./send-answer.ts";

/** Node's default, which we keep: request line and headers together. */
export const headerBytesMax = 16_384;
export const targetBytesMax = 8192;
/** For a form of the account pages and a message to `/mcp`; the operations ignore a small body. */
export const bodyBytesMax = 64 * 1024;

/** Lines of a head; a short line takes ten times its bytes in memory. */
export const headerLinesMax = 48;

/** What is known of the path of a request that has no route of its own; the request is given the path as it is known. */
export function factsByPath(
  request: FastifyRequest,
  known: ReadonlyMap<string, RouteFacts>,
): RouteFacts | undefined {
  const { params, is404, raw } = request;
  if (is404 || escapedSlash.test(raw.url!)) return undefined;
  const path = `/${(params as { "*": string })["*"]}`;
  const pattern = path
    .replace(/(?<=^\/(?:account|exports))\/.+$/, "/*")
    .replace(/(?<=^\/(?:v1\/)?changes)\/[^/]+$/, "/:step");
  const found = known.has(path) ? path : pattern;
  const facts = known.get(found);
  if (facts !== undefined) request.path = found;
  return facts;
}

/** The router treats an escaped slash as part of a name, and unescapes it in what `*` matches. */
const escapedSlash = /^[^?]*%2f/i;

/**
 * @returns true where the response has been sent: to a preflight.
 * @throws Problem for what cannot be served.
 */
export function checkRequest(
  http: HttpDependencies,
  known: ReadonlyMap<string, RouteFacts>,
  request: FastifyRequest,
  reply: FastifyReply,
  facts: RouteFacts | undefined,
): boolean {
  const { method } = request;
  refuseUnreadable(request);
  if (facts?.isAlwaysOpen !== true) refuseWhileClosed(http);
  // Documents stay available, so that a refused client can read why.
  if (facts === undefined || facts.operation !== undefined || facts.isPrivate === true)
    refuseWhileOverloaded(http);
  if (request.is404 || facts === undefined) throw unknownPath(request.raw.url!, http, known);
  if (method === "OPTIONS" && facts.methods.includes(method)) {
    const preflight = facts.takesBearer === true ? mcpPreflightHeaders : preflightHeaders;
    const headers = preflight + headerLines({ allow: facts.methods.join(", ") });
    sendAnswer(http, request, reply, { status: 204, headers, body: null });
    return true;
  }
  if (!facts.methods.includes(method))
    throw new Problem(
      "method-not-allowed",
      `${echo(method)} is not allowed here; use ${facts.methods.join(", ")}.`,
      {
        allowed: facts.methods,
      },
    );
  return false;
}

function refuseUnreadable(request: FastifyRequest): void {
  const { raw, headers, originalUrl } = request;
  // Node has left out those beyond one more than are allowed.
  if (raw.rawHeaders.length > 2 * headerLinesMax) throw headersTooLarge();
  if (Number(headers["content-length"] ?? 0) > bodyBytesMax) throw bodyTooLarge();
  // The parser reports an unknown coding only after it has passed the headers on (RFC 9112 §6.1).
  if ((headers["transfer-encoding"] ?? "chunked").toLowerCase() !== "chunked")
    throw new Problem("malformed-request", "Only the transfer coding 'chunked' is understood.");
  if (raw.httpVersion !== "1.1" && raw.httpVersion !== "1.0")
    throw new Problem("malformed-request", "The request line names no version of HTTP/1.");
  // No upgrade is offered, but the parser discards what follows a request for one.
  if (asksForUpgrade(raw)) request.isLast = true;
  const hosts = countHosts(raw.rawHeaders);
  if (hosts > 1 || (hosts === 0 && raw.httpVersion === "1.1"))
    throw new Problem(
      "malformed-request",
      `The request has ${hosts === 0 ? "no" : "more than one"} Host header.`,
    );
  refuseInvalidHost(request);
  if (!canBeMet(raw))
    throw new Problem("expectation-failed", "Only 'Expect: 100-continue' can be met.");
  if (originalUrl.length > targetBytesMax)
    throw new Problem(
      "uri-too-long",
      `The address has ${originalUrl.length} bytes; ${targetBytesMax} are allowed.`,
      { maximum: targetBytesMax },
    );
  // No part of a request target (RFC 9112 §3.2): what follows would be taken for a part of the query or be lost.
  if (originalUrl.includes("#"))
    throw new Problem("malformed-request", "The address holds a '#'; write it as %23.");
}

export const headersTooLarge = () =>
  new Problem(
    "headers-too-large",
    `Request line and headers have more than ${headerBytesMax} bytes, or more than ${headerLinesMax} lines.`,
    { maximum: headerBytesMax },
  );

export const bodyTooLarge = () =>
  new Problem("content-too-large", `A request body may have ${bodyBytesMax} bytes at most.`, {
    maximum: bodyBytesMax,
  });

/** Bodies that one client network may be sending at a time, in bytes. */
const bodiesBytesMax = 16 * bodyBytesMax;
/** What a body in chunks counts as: each may be one byte, and takes the parser 0.6 µs. */
const chunkedBodyBytes = 8 * bodyBytesMax;

interface BodyBudget {
  /** Called with each request as it arrives. Discards a body that no route reads; leaves one unread that is too large, or beyond the budget of the client's network. */
  take(request: IncomingMessage, response: ServerResponse): void;
  /** @throws Problem where the body of the request was beyond the budget. */
  check(request: FastifyRequest): void;
}

/** Bounds the bodies that are held until they are complete, however slowly they come and however long their requests wait. */
export function openBodyBudget(trustedProxies: Config["trustedProxies"]): BodyBudget {
  const taken = new Map<string, number>();
  const refused = new WeakSet<IncomingMessage>();
  return {
    take(request, response) {
      const { headers, method } = request;
      const { "content-length": length, "transfer-encoding": coding } = headers;
      if (length === undefined && coding === undefined) return;
      const bytes = coding === undefined ? Number(length) : chunkedBodyBytes;
      const leave = () => {
        response.shouldKeepAlive = false;
        leaveUnread(request.socket);
      };
      // It is refused by its length.
      if (Number(length ?? 0) > bodyBytesMax) return leave();
      const network = clientNetwork(clientAddress(request, trustedProxies));
      const sum = (taken.get(network) ?? 0) + bytes;
      if (sum > bodiesBytesMax) {
        refused.add(request);
        return leave();
      }
      if (method === "POST") gather(request, Number(length ?? bodyBytesMax));
      // Nobody reads it.
      else request.resume();
      taken.set(network, sum);
      response.once("close", () => {
        const left = taken.get(network)! - bytes;
        if (left === 0) taken.delete(network);
        else taken.set(network, left);
      });
    },
    check(request) {
      if (!refused.has(request.raw)) return;
      throw new Problem("unavailable", "Too many bodies arrive from this network at once.", {
        reason: "overloaded",
        retry_after: 1,
      });
    },
  };
}

/**
 * Passes a body on in one piece: what comes byte by byte, in chunks or in packets, would take hundreds of bytes of memory
 * for each.
 * @param bytes of a body in chunks more than these are passed on as they come, to be refused.
 */
function gather(request: IncomingMessage, bytes: number): void {
  const { push } = request;
  const whole = Buffer.allocUnsafe(bytes);
  let length = 0;
  request.push = (part: Buffer | null) => {
    if (part !== null && length + part.length <= bytes) {
      length += part.copy(whole, length);
      return true;
    }
    request.push = push;
    if (length > 0) request.push(whole.subarray(0, length));
    return request.push(part);
  };
}

/** What HTTP/1.0 expects is ignored (RFC 9110 §10.1.1). */
const canBeMet = ({ headers: { expect }, httpVersion }: IncomingMessage) =>
  expect === undefined || httpVersion !== "1.1" || /(?:^|\W)100-continue(?:$|\W)/i.test(expect);

const asksForUpgrade = ({ headers: { upgrade, connection = "" } }: IncomingMessage) =>
  upgrade !== undefined && /(?:^|,)\s*upgrade\s*(?:,|$)/i.test(connection);

/** A proxy that builds a link or a cache key from such a text may read more into it than a name (RFC 9112 §3.2). */
function refuseInvalidHost(request: FastifyRequest): void {
  const { headers, originalUrl } = request;
  // Empty where the target has no authority (RFC 9110 §7.2).
  if (!isAuthority(headers.host ?? ""))
    throw new Problem(
      "malformed-request",
      "The Host header is no host: it takes a name or an address, and a port, as in records.example:8080.",
    );
  if (originalUrl.startsWith("/")) return;
  const authority = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(originalUrl)?.[1];
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
  const state = http.state();
  if (state === "running" || state === "closing") return;
  const detail =
    state === "starting" ? "The service is starting." : "The service is about to stop.";
  throw new Problem("unavailable", detail, { reason: state, retry_after: 1 });
}

function refuseWhileOverloaded({ overload, metrics }: HttpDependencies): void {
  const cause = overload.cause();
  if (cause === null) return;
  metrics.overloaded(cause);
  throw new Problem("unavailable", "The service has more to do than it can.", {
    reason: "overloaded",
    retry_after: 1,
  });
}

function unknownPath(
  url: string,
  { config, operations }: HttpDependencies,
  known: ReadonlyMap<string, RouteFacts>,
): Problem {
  const path = url.split("?", 1)[0]!;
  // One slash only: a pattern for several would take quadratic time on a run of them elsewhere.
  const tidy = path.toLowerCase().replace(/\/$/, "");
  const paths = operations.map((operation) => operation.path);
  if (!config.exports && `${tidy}/`.startsWith(`${exportsPath}/`))
    return new Problem(
      "unknown-path",
      `There is nothing at ${echo(path)}: this server offers no files of whole datasets. Its operator can offer them with the setting EXPORTS=on.`,
      { suggestion: null, operations: paths },
    );
  const suggestion =
    nearest(
      tidy,
      [...known.keys()].filter((one) => !/[:*]/.test(one)),
    ) ?? null;
  return new Problem("unknown-path", `There is nothing at ${echo(path)}.`, {
    suggestion,
    operations: paths,
  });
}
