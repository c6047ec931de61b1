/** Responds to bytes that the HTTP parser refuses, and to requests that Node would otherwise respond to itself. */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { clientNetwork } from "#limits/client-network.ts";
import { Problem } from "#problems.ts";
import { headersTooLarge } from "./check-request.ts";
import { headerLines } from "#gateway/headers.ts";
import type { Arrival, Connections } from "./connections.ts";
import type { HttpDependencies } from "./dependencies.ts";
import type { FairQueue } from "./fair-queue.ts";
import { logUnrouted } from "./record-requests.ts";
import { makeRequestId } from "./routes.ts";
import { STATUS_CODES } from "./node-http.ts";
import { commonHeaders, problemAnswer } from "./send-answer.ts";

export function answerParserFaults(
  server: Server,
  http: HttpDependencies,
  connections: Connections["open"],
  fairQueue: FairQueue,
): void {
  const refuse = (socket: Socket, problem: Problem) => {
    // What arrives after the last response is no fault; it is discarded.
    if (!socket.writable) return;
    const requestId = makeRequestId();
    logUnrouted(http, requestId, problem);
    socket.write(wholeAnswer(problem, requestId, http));
    // The parser has lost its place in the stream, so the connection ends with this response.
    socket.destroySoon();
  };
  const faulty = new WeakSet<Socket>();
  /**
   * Waits for the response to the request before on the connection; where there is none, for the fair queue, since
   * thousands of faults can arrive at once.
   * @param response the pending response before this one.
   */
  const inTurn = (socket: Socket, response: ServerResponse | undefined, act: () => void) => {
    if (response === undefined || response.writableFinished)
      fairQueue.enter(`faults ${clientNetwork(socket.remoteAddress ?? "unknown")}`, act);
    else
      // Before Node's own listener, which ends the connection after this response if the client has closed its side.
      response.prependOnceListener("finish", () => {
        // Nothing is sent after a response that announced it was the last.
        if (response.shouldKeepAlive) act();
      });
  };
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === "ECONNRESET") return void socket.destroy();
    // One fault ends the connection; what arrives while it waits is not another one.
    if (faulty.has(socket)) return;
    faulty.add(socket);
    const latest = connections.get(socket)?.latest;
    const isInBody = latest?.request.complete === false;
    // Its own response would wait for the rest of the body for ever.
    const before = isInBody && !isAnsweredAnyway(latest) ? latest.before : latest?.response;
    inTurn(socket, before, () => {
      // A fault in the body of a request that has its response by now must not cause a second response.
      if (isInBody && isAnsweredAnyway(latest)) socket.destroySoon();
      else refuse(socket, problemOf(error.code));
    });
  });
  server.on("connect", (_request, socket: Socket) => {
    // Node has detached this socket: an unhandled error would end the process.
    socket.on("error", () => {});
    const problem = new Problem(
      "method-not-allowed",
      "CONNECT is not allowed here; this is not a proxy.",
      { allowed: ["GET", "HEAD", "OPTIONS"] },
    );
    inTurn(socket, connections.get(socket)?.latest?.response, () => refuse(socket, problem));
  });
  // Handled like any other request; check-request.ts refuses it.
  server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) => {
    server.emit("request", request, response);
  });
}

/** Only a POST may have to wait for its body. */
const isAnsweredAnyway = ({ request, response }: Arrival) =>
  request.method !== "POST" || response.headersSent;

function problemOf(code: string | undefined): Problem {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return headersTooLarge();
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new Problem("request-timeout", "The request was not complete in time.");
    default:
      return new Problem("malformed-request", "What arrived is not an HTTP/1.1 request.");
  }
}

function wholeAnswer(problem: Problem, requestId: string, http: HttpDependencies): Buffer {
  const { status, headers, body } = problemAnswer(problem, requestId);
  const own = headerLines({
    "x-request-id": requestId,
    date: new Date().toUTCString(),
    "content-length": String(body.length),
    connection: "close",
  });
  const all = commonHeaders(http.config.corsOrigins, undefined) + headers + own;
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${all}\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}
