/** Reads request bodies, and limits the memory that they take. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Config } from "#config.ts";
import { openNetworkShares } from "#limits/client-network.ts";
import { malformed, Problem, unavailable } from "#problems.ts";
import { leaveUnread } from "./connections.ts";
import { clientAddress, type Exchange, type Route } from "./routes.ts";

/**
 * Maximum size of most request bodies: 64 KiB. Limits forms of the account pages, messages to `/mcp`, and bodies that
 * no route reads.
 */
const bodyBytesMax = 64 * 1024;

/** Returns the maximum size of the body of a request on a route, in bytes. */
export const bodyMaximum = (route: Route | null): number => route?.bodyBytesMax ?? bodyBytesMax;

export const bodyTooLarge = (maximum: number) =>
  new Problem("content-too-large", `A request body may have at most ${maximum} bytes.`, {
    maximum,
  });

/** Returns the media type of a body in lower case, without its parameters. Returns an empty string if none was sent. */
export const sentType = ({ request }: Exchange): string =>
  (request.headers["content-type"] ?? "").split(";")[0]!.trim().toLowerCase();

/** Returns the problem for a body of a type that the route does not read. */
export function otherType({ route }: Exchange): Problem {
  const type = route!.bodyType!;
  return new Problem("unsupported-media-type", `This path reads ${type}.`, { available: [type] });
}

/** Resolves to the whole body. @throws Problem if the body is too large, or if the connection ends first. */
export async function readBody(request: IncomingMessage, maximum: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  request.on("data", (piece: Buffer) => {
    bytes += piece.length;
    if (bytes > maximum) reject(bodyTooLarge(maximum));
    else pieces.push(piece);
  });
  request.once("end", resolve);
  // This problem reaches nobody, but it keeps the end of a connection from being logged as an internal error.
  request.once("error", () => reject(malformed("The connection ended before the body did.")));
  await promise;
  return Buffer.concat(pieces);
}

/** Budget of one client network for bodies in memory: 2 MiB, so that it can send one list to match. */
const bodiesBytesMax = 32 * bodyBytesMax;
/**
 * Amount that a chunked body takes from the budget: 512 KiB. A chunk may be a single byte, and each chunk takes the
 * parser 0.6 µs.
 */
const chunkedBodyBytes = 8 * bodyBytesMax;

/** Limits the bodies of each client network, however slowly they arrive and however long their requests wait. */
export function openBodyBudget(trustedProxies: Config["trustedProxies"]) {
  const shares = openNetworkShares(bodiesBytesMax);
  const refused = new WeakSet<IncomingMessage>();
  return {
    /**
     * Admits a body when the headers of its request have arrived, and charges it to the client network's budget until
     * the response closes. Discards a body that does not belong to a POST. Leaves a body unread if it is too large or
     * exceeds the budget.
     */
    take(request: IncomingMessage, response: ServerResponse, maximum: number) {
      const { headers, method } = request;
      const { "content-length": length, "transfer-encoding": coding } = headers;
      const bytes = coding === undefined ? Number(length) : Math.max(chunkedBodyBytes, maximum);
      const leave = () => {
        response.shouldKeepAlive = false;
        leaveUnread(request.socket);
      };
      // check-request.ts refuses the request by its length.
      if (Number(length ?? 0) > maximum) return leave();
      const giveBack = shares.take(clientAddress(request, trustedProxies), bytes);
      if (giveBack === null) {
        refused.add(request);
        return leave();
      }
      if (method === "POST") gather(request, Number(length ?? maximum));
      // Routes read only the body of a POST.
      else request.resume();
      response.once("close", giveBack);
    },
    /** Checks that a request's body was not refused. @throws Problem if it exceeded the budget. */
    check(request: IncomingMessage) {
      if (!refused.has(request)) return;
      throw unavailable(
        "overloaded",
        "Too many request bodies are arriving from this network at once.",
      );
    },
  };
}

/**
 * Gathers a body and passes it on in one piece. Otherwise a body that arrives byte by byte, in chunks or packets, would
 * take hundreds of bytes of memory for each byte.
 * @param bytes maximum number of bytes to gather. The rest of a longer chunked body is passed on as it arrives, and
 *   `readBody` refuses it.
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
