/** Reads request bodies, and limits the memory that they take. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Config } from "#config.ts";
import { openNetworkShares } from "#limits/client-network.ts";
import { malformed, Problem, unavailable } from "#problems.ts";
import { isLeftUnread, leaveUnread } from "./connections.ts";
import { clientAddress, noBody, type Route } from "./routes.ts";

/** Maximum size of a request body, unless its route sets another: 64 KiB. */
const bodyBytesMax = 64 * 1024;

export const bodyMaximum = (route: Route | null): number => route?.bodyBytesMax ?? bodyBytesMax;

export const bodyTooLarge = (maximum: number) =>
  new Problem(
    "content-too-large",
    `The request body may be at most ${maximum} bytes here. Send a smaller body or file; GET needs none.`,
    { maximum },
  );

/** Maximum total size of one client network's bodies in memory: 2 MiB, enough for one uploaded list of names. */
const bodiesBytesMax = 32 * bodyBytesMax;

/**
 * Returns a function that starts to read a request's body once the headers have arrived. It charges a POST's body to
 * the client network's budget until the response closes; a chunked body costs `maximum`. It discards the body of any
 * other method. It rejects with a Problem and leaves the body unread if the announced size is too large or exceeds the
 * budget, or if the network already sends too many chunked bodies. Later it rejects as `readBody` does.
 */
export function openBodyBudget(trustedProxies: Config["trustedProxies"]) {
  const shares = openNetworkShares(bodiesBytesMax);
  return (request: IncomingMessage, response: ServerResponse, maximum: number): Promise<Buffer> => {
    const { headers, method } = request;
    const length = Number(headers["content-length"] ?? maximum);
    const refuse = (problem: Problem) => {
      response.shouldKeepAlive = false;
      leaveUnread(request.socket);
      return Promise.reject<Buffer>(problem);
    };
    if (length > maximum) return refuse(bodyTooLarge(maximum));
    if (method !== "POST") {
      request.resume();
      return noBody;
    }
    // Requests before the unread one are complete already.
    const isUnread = isLeftUnread(request.socket) && !request.complete;
    const giveBack = isUnread ? null : shares.take(clientAddress(request, trustedProxies), length);
    if (giveBack === null)
      return refuse(
        unavailable(
          "overloaded",
          "Too many request bodies are arriving from your network at once. Try again when some of those requests are done.",
        ),
      );
    response.once("close", giveBack);
    return readBody(request, maximum);
  };
}

/**
 * Resolves to the whole body. Reads it as it arrives, even while the request waits for its turn. Copies it into one
 * buffer, because a body that arrives byte by byte would otherwise take hundreds of times its size.
 * @throws Problem if the body is too large, or if the connection ends first.
 */
function readBody(request: IncomingMessage, maximum: number): Promise<Buffer> {
  const whole = Buffer.allocUnsafe(Number(request.headers["content-length"] ?? maximum));
  let length = 0;
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  request.on("data", (piece: Buffer) => {
    if (length + piece.length > whole.length) reject(bodyTooLarge(maximum));
    else length += piece.copy(whole, length);
  });
  request.once("end", () => resolve(whole.subarray(0, length)));
  // Nobody receives this problem, but without it the end of a connection would be logged as an internal error.
  request.once("error", () => reject(malformed("The connection ended before the body did.")));
  return promise;
}
