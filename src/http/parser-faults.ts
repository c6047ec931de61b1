/** Answers bytes that the HTTP parser refuses, and requests that Node would otherwise answer itself. */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { clientNetwork } from "#limits/client-network.ts";
import { malformed, Problem } from "#problems.ts";
import { headersTooLarge } from "./check-request.ts";
import { headerLines } from "#gateway/headers.ts";
import type { Connections } from "./connections.ts";
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
  const endWith = (socket: Socket, problem: Problem) => {
    // Bytes after the last response are no fault; they are discarded.
    if (!socket.writable) return;
    const requestId = makeRequestId();
    logUnrouted(http, requestId, problem);
    socket.write(wholeAnswer(problem, requestId, http));
    // The parser has lost its place, so the connection ends with this response.
    socket.destroySoon();
  };
  const faulty = new WeakSet<Socket>();
  /**
   * Waits for the previous response of the connection. If there is none, it waits in the fair queue, as thousands of faults
   * can arrive at once.
   * @param response the previous response, if it is pending.
   */
  const inTurn = (socket: Socket, response: ServerResponse | undefined, act: () => void) => {
    if (response === undefined || response.writableFinished)
      fairQueue.enter(`faults ${clientNetwork(socket.remoteAddress ?? "unknown")}`, act);
    else
      // This must precede Node's own listener, which ends the connection here if the client has closed its side.
      response.prependOnceListener("finish", () => {
        // Nothing is sent after a response that announced it was the last.
        if (response.shouldKeepAlive) act();
      });
  };
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === "ECONNRESET") return void socket.destroy();
    // One fault ends the connection. Bytes that arrive while it waits are not another one.
    if (faulty.has(socket)) return;
    faulty.add(socket);
    const { latest, previous } = connections.get(socket) ?? {};
    const isInBody = latest?.req.complete === false;
    // Its own response would wait for ever for the rest of the body.
    const before = isInBody && !isAnsweredAnyway(latest) ? previous : latest;
    inTurn(socket, before, () => {
      // A request that has its response by now must not get a second one for a fault in its body.
      if (isInBody && isAnsweredAnyway(latest)) socket.destroySoon();
      else endWith(socket, problemOf(error.code));
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
    inTurn(socket, connections.get(socket)?.latest, () => endWith(socket, problem));
  });
  // Handled like any other request; check-request.ts refuses it.
  server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) => {
    server.emit("request", request, response);
  });
}

/** Reports whether a request has its response without its body. Only a POST may have to wait for it. */
const isAnsweredAnyway = ({ req, headersSent }: ServerResponse) =>
  req.method !== "POST" || headersSent;

function problemOf(code: string | undefined): Problem {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return headersTooLarge();
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new Problem("request-timeout", "The request was not complete in time.");
    default:
      return malformed("What arrived is not an HTTP/1.1 request.");
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
