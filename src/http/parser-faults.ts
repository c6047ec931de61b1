/** Answers what never became a request: bytes the HTTP parser refuses, and what Node would answer by itself. */
import { STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Problem } from "#problems.ts";
import { commonHeaders } from "./common-headers.ts";
import type { FrontDoor } from "./front-door.ts";
import { makeRequestId } from "./request-id.ts";
import { problemAnswer } from "./send-problem.ts";

/** Node's default, which we keep: request line and headers together. */
export const headerBytesMax = 16_384;

export function answerParserFaults(server: Server, door: FrontDoor): void {
  const refuse = (socket: Socket, problem: Problem) => {
    const requestId = makeRequestId();
    door.log.info(
      { request_id: requestId, status: problem.status, problem: problem.code },
      "request",
    );
    endWith(socket, problem, requestId, door);
  };
  const lastRequest = new WeakMap<Socket, IncomingMessage>();
  server.prependListener(
    "request",
    (request: IncomingMessage) => void lastRequest.set(request.socket, request),
  );
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    // A fault in the body of a request that has its answer already must not bring a second one.
    const isAnswered = lastRequest.get(socket)?.complete === false;
    if (isAnswered && socket.writable) socket.end();
    else if (error.code === "ECONNRESET" || !socket.writable) socket.destroy();
    else refuse(socket, problemOf(error.code));
  });
  server.on("connect", (_request, socket: Socket) =>
    refuse(
      socket,
      new Problem("method-not-allowed", "CONNECT is not allowed here; this is not a proxy.", {
        allowed: ["GET", "HEAD", "OPTIONS"],
      }),
    ),
  );
  server.on("checkExpectation", (_request, response: ServerResponse) => {
    const detail = "Only 'Expect: 100-continue' can be met.";
    const requestId = makeRequestId();
    const { status, headers, body } = problemAnswer(
      new Problem("expectation-failed", detail),
      requestId,
    );
    response.writeHead(status, {
      ...everyAnswer(door, requestId),
      ...headers,
      "content-length": body.length,
    });
    response.end(body);
  });
}

const everyAnswer = (door: FrontDoor, requestId: string) => ({
  ...commonHeaders(door.config.corsOrigins, undefined),
  "x-request-id": requestId,
});

function problemOf(code: string | undefined): Problem {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return new Problem(
        "headers-too-large",
        `Request line and headers have more than ${headerBytesMax} bytes.`,
        {
          maximum: headerBytesMax,
        },
      );
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new Problem("request-timeout", "The request was not complete in time.");
    default:
      return new Problem("malformed-request", "What arrived is not an HTTP/1.1 request.");
  }
}

/** The parser has lost its place in the stream, so the connection ends with the answer. */
function endWith(socket: Socket, problem: Problem, requestId: string, door: FrontDoor): void {
  const { status, headers, body } = problemAnswer(problem, requestId);
  const all = {
    ...everyAnswer(door, requestId),
    ...headers,
    date: new Date().toUTCString(),
    "content-length": String(body.length),
    connection: "close",
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(
    Buffer.concat([
      Buffer.from(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n`),
      body,
    ]),
  );
}
