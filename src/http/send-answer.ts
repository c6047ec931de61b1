/** Sends an answer in one step: to collect its headers one by one costs more than all else a request does here. */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Config } from "#config.ts";
import { commonHeaders } from "./common-headers.ts";
import type { FrontDoor } from "./front-door.ts";
import { headerLines, type HeaderLines } from "./header-lines.ts";

export interface Answer {
  status: number;
  /** Those of its own; what every answer has is added. */
  headers: HeaderLines;
  /** Null where there is no content: 204, 304. */
  body: Buffer | null;
}

const headersOfAll = (config: Config, { headers, isPrivate }: FastifyRequest): HeaderLines =>
  isPrivate ? commonHeaders([], undefined) : commonHeaders(config.corsOrigins, headers.origin);

const closing = headerLines({ connection: "close" });

/**
 * What was counted is answered at the end of the turn, once the count is kept. Nothing of Fastify's reply is used but
 * its hooks, so nothing may be set on it before.
 */
export function sendAnswer(
  { config, state, hold }: FrontDoor,
  request: FastifyRequest,
  reply: FastifyReply,
  { status, headers, body }: Answer,
): void {
  const { quotaHeaders } = request;
  const lines = [...headersOfAll(config, request), "x-request-id", request.id, ...headers];
  // Fastify makes requests for its own errors without what was decorated.
  lines.push(...(quotaHeaders ?? []));
  // Without a length HTTP/1.0 knows an answer's end by the end of the connection alone, and Node ends it.
  const endsByClosing = body === null && request.raw.httpVersion === "1.0";
  if (request.isLast || endsByClosing || state() === "draining") {
    lines.push(...closing);
    // For whoever asks the response itself: Node does not read it off these lines.
    reply.raw.shouldKeepAlive = false;
  }
  if (body !== null) lines.push("content-length", String(body.length));
  request.bodyBytes = body === null || request.method === "HEAD" ? 0 : body.length;
  reply.hijack();
  reply.raw.writeHead(status, lines);
  const send = () => void (body === null ? reply.raw.end() : reply.raw.end(body));
  if (quotaHeaders) hold(send);
  else send();
}
