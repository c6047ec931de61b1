/** The first look at every request, before its path's own work: can it be read, are we open, is the method right? */
import type { FastifyReply, FastifyRequest } from "fastify";
import { echo, Problem } from "#problems.ts";
import { nearest } from "#operations/edit-distance.ts";
import { commonHeaders, preflightHeaders } from "./common-headers.ts";
import type { FrontDoor } from "./front-door.ts";

export const targetBytesMax = 8192;
/** The operations take no body; a small one is read and ignored. */
export const bodyBytesMax = 64 * 1024;

/**
 * @returns true where the request was answered here: a preflight.
 * @throws Problem for what cannot be served.
 */
export function checkRequest(
  door: FrontDoor,
  knownPaths: readonly string[],
  request: FastifyRequest,
  reply: FastifyReply,
): boolean {
  const { headers, method } = request;
  reply.headers(commonHeaders(door.config.corsOrigins, headers.origin));
  reply.header("x-request-id", request.id);
  const { facts } = request.routeOptions.config;
  if (door.state() === "draining") reply.header("connection", "close");
  refuseUnreadable(request, reply);
  if (facts?.isAlwaysOpen !== true) refuseWhileClosed(door);
  if (request.is404 || facts === undefined)
    throw unknownPath(request.originalUrl, door, knownPaths);
  if (method === "OPTIONS") {
    reply.headers(preflightHeaders).header("allow", facts.methods.join(", ")).code(204).send();
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

function refuseUnreadable({ raw, headers }: FastifyRequest, reply: FastifyReply): void {
  if (Number(headers["content-length"] ?? 0) > bodyBytesMax) {
    // What is left of the body is not read, so the connection cannot carry another request.
    reply.header("connection", "close");
    throw new Problem("content-too-large", "The operations take no request body.", {
      maximum: bodyBytesMax,
    });
  }
  // The parser reports an unknown coding only after the headers were handed on (RFC 9112 §6.1).
  if ((headers["transfer-encoding"] ?? "chunked").toLowerCase() !== "chunked") {
    reply.header("connection", "close");
    throw new Problem("malformed-request", "Only the transfer coding 'chunked' is understood.");
  }
  const hosts = countHosts(raw.rawHeaders);
  if (hosts > 1 || (hosts === 0 && raw.httpVersion === "1.1"))
    throw new Problem(
      "malformed-request",
      `The request has ${hosts === 0 ? "no" : "more than one"} Host header.`,
    );
  if (raw.url!.length > targetBytesMax)
    throw new Problem(
      "uri-too-long",
      `The address has ${raw.url!.length} bytes; ${targetBytesMax} are allowed.`,
      {
        maximum: targetBytesMax,
      },
    );
}

/** Node keeps the first of several; which one a proxy in front has kept, nobody knows (RFC 9112 §3.2). */
function countHosts(rawHeaders: readonly string[]): number {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]!.length === 4 && rawHeaders[i]!.toLowerCase() === "host") hosts++;
  return hosts;
}

function refuseWhileClosed(door: FrontDoor): void {
  const state = door.state();
  if (state === "running") return;
  const detail =
    state === "starting" ? "The service is starting." : "The service is about to stop.";
  throw new Problem("unavailable", detail, { reason: state, retry_after: 1 });
}

function unknownPath(
  url: string,
  { operations }: FrontDoor,
  knownPaths: readonly string[],
): Problem {
  const path = url.split("?", 1)[0]!;
  const tidy = path.toLowerCase().replace(/\/+$/, "");
  const suggestion = nearest(tidy, knownPaths) ?? null;
  return new Problem("unknown-path", `There is nothing at ${echo(path)}.`, {
    suggestion,
    operations: operations.map((operation) => operation.path),
  });
}
