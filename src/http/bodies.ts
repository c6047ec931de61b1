/** Reads the bodies of requests, and bounds how many bytes of them are held until they are complete. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Config } from "#config.ts";
import { Problem } from "#problems.ts";
import { clientAddress } from "./client-address.ts";
import { leaveUnread } from "./connections.ts";
import { openNetworkShares } from "./network-shares.ts";
import type { Exchange } from "./routes.ts";

/** For a form of the account pages and a message to `/mcp`; the operations ignore a small body. */
export const bodyBytesMax = 64 * 1024;

export const bodyTooLarge = (maximum = bodyBytesMax) =>
  new Problem("content-too-large", `A request body may have ${maximum} bytes at most.`, {
    maximum,
  });

/** Returns the media type of a body without its parameters; empty where none was sent. */
export const sentType = ({ request }: Exchange): string =>
  (request.headers["content-type"] ?? "").split(";")[0]!.trim().toLowerCase();

/** Returns the refusal of a body that is not of the type its route reads. */
export function otherType({ route }: Exchange): Problem {
  const { type } = route!.body!;
  return new Problem("unsupported-media-type", `This path reads ${type}.`, { available: [type] });
}

/**
 * Resolves to the whole body.
 * @throws Problem where it has more than `bytesMax` bytes, or its connection ends before it does.
 */
export async function readBody(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  request.on("data", (piece: Buffer) => {
    bytes += piece.length;
    if (bytes > bytesMax) reject(bodyTooLarge(bytesMax));
    else pieces.push(piece);
  });
  request.once("end", resolve);
  // Nobody receives it, but it is no internal error either.
  request.once("error", () =>
    reject(new Problem("malformed-request", "The connection ended before the body did.")),
  );
  await promise;
  return Buffer.concat(pieces);
}

/** Bodies that one client network may be sending at a time, in bytes. */
const bodiesBytesMax = 16 * bodyBytesMax;
/** What a body in chunks counts as: each may be one byte, and takes the parser 0.6 µs. */
const chunkedBodyBytes = 8 * bodyBytesMax;

interface BodyBudget {
  /** Called with each request that has a body, as it arrives. Discards a body that no route reads; leaves one unread that is too large, or beyond the budget of the client's network. */
  take(request: IncomingMessage, response: ServerResponse): void;
  /** @throws Problem where the body of the request was beyond the budget. */
  check(request: IncomingMessage): void;
}

/** Bounds the bodies that are held until they are complete, however slowly they come and however long their requests wait. */
export function openBodyBudget(trustedProxies: Config["trustedProxies"]): BodyBudget {
  const shares = openNetworkShares(bodiesBytesMax);
  const refused = new WeakSet<IncomingMessage>();
  return {
    take(request, response) {
      const { headers, method } = request;
      const { "content-length": length, "transfer-encoding": coding } = headers;
      const bytes = coding === undefined ? Number(length) : chunkedBodyBytes;
      const leave = () => {
        response.shouldKeepAlive = false;
        leaveUnread(request.socket);
      };
      // It is refused by its length.
      if (Number(length ?? 0) > bodyBytesMax) return leave();
      const giveBack = shares.take(clientAddress(request, trustedProxies), bytes);
      if (giveBack === null) {
        refused.add(request);
        return leave();
      }
      if (method === "POST") gather(request, Number(length ?? bodyBytesMax));
      // Nobody reads it.
      else request.resume();
      response.once("close", giveBack);
    },
    check(request) {
      if (!refused.has(request)) return;
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
