/** Finds out who sent a request, by its connection and headers. */
import type { IncomingMessage } from "node:http";
import { isIP, type BlockList } from "node:net";
import type { Client } from "#gateway/gateway.ts";
import type { Config } from "#config.ts";
import { keyPattern } from "#keys/api-key.ts";

/** Returns facts about a client, besides its key. Each is computed only when it is needed. */
export const clientOf = ({ trustedProxies }: Config, request: IncomingMessage): Client => ({
  address: () => clientAddress(request, trustedProxies),
  isForwarded: () => isForwarded(request),
  misplacedKey: () => misplacedKey(request),
});

/** Returns the value of `x-api-key`. Node joins several lines into one value, which is not a valid key. */
export const presentedKey = ({ headers }: IncomingMessage) =>
  headers["x-api-key"] as string | undefined;

/** Returns the value of `x-api-key`, or else of `Authorization: Bearer`, where MCP clients send a secret. */
export const presentedKeyOrBearer = (request: IncomingMessage): string | undefined =>
  presentedKey(request) || bearerOf(request);

/** Reports whether `x-api-key` has one key and Bearer another. A Bearer text that is no key may be meant for a proxy. */
export function hasTwoKeys(request: IncomingMessage): boolean {
  const bearer = bearerOf(request) ?? "";
  const key = presentedKey(request) || bearer;
  return key !== bearer && keyPattern.test(bearer);
}

const bearerOf = ({ headers }: IncomingMessage): string | undefined =>
  /^Bearer +(\S+) *$/i.exec(headers.authorization ?? "")?.[1];

function misplacedKey({ url = "", headers }: IncomingMessage): string | undefined {
  if (keyPattern.test(url.slice(url.indexOf("?") + 1))) return "the query string";
  if (keyPattern.test(headers.authorization ?? "")) return "the header Authorization";
  if (keyPattern.test(headers.cookie ?? "")) return "a cookie";
  return undefined;
}

/** Returns the right-most address that is not a trusted proxy's. The client could have invented any further left. */
export function clientAddress(
  { socket, headers }: IncomingMessage,
  trusted: BlockList | null,
): string {
  const peer = socket.remoteAddress ?? "unknown";
  if (!isTrusted(trusted, peer)) return peer;
  const forwarded = headers["x-forwarded-for"];
  const hops = (Array.isArray(forwarded) ? forwarded.join(",") : (forwarded ?? "")).split(",");
  for (const hop of hops.toReversed()) {
    const address = hop.trim();
    if (isIP(address) === 0) break;
    if (!isTrusted(trusted, address)) return address;
  }
  return peer;
}

/** Reports whether an address is a trusted proxy's. */
export function isTrusted(ranges: BlockList | null, address: string): boolean {
  if (ranges === null) return false;
  const mapped = address.startsWith("::ffff:") ? address.slice(7) : address;
  const family = isIP(mapped);
  return family !== 0 && ranges.check(mapped, family === 4 ? "ipv4" : "ipv6");
}

const forwardingHeaders = [
  "forwarded",
  "via",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-forwarded-port",
  "x-real-ip",
  "x-client-ip",
  "true-client-ip",
  "cf-connecting-ip",
] as const;

/** Reports whether the request came through a proxy. */
const isForwarded = ({ headers }: IncomingMessage) =>
  forwardingHeaders.some((name) => headers[name] !== undefined);
