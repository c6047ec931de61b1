/** Who sent a request, according to its connection and headers. */
import type { IncomingMessage } from "node:http";
import { isIP, type BlockList } from "node:net";
import type { Client } from "#gateway/gateway.ts";
import type { Config } from "#config.ts";
import { keyPattern } from "#keys/api-key.ts";

/** What is known of a client besides its key; computed only when asked for. */
export const clientOf = ({ trustedProxies }: Config, request: IncomingMessage): Client => ({
  address: () => clientAddress(request, trustedProxies),
  isForwarded: () => isForwarded(request),
  misplacedKey: () => misplacedKey(request),
});

/** The value of `x-api-key`; Node joins several lines to one value, which is no valid key. */
export const presentedKey = ({ headers }: IncomingMessage) =>
  headers["x-api-key"] as string | undefined;

/** The same where `Authorization: Bearer` is read, too, as MCP clients send a secret. */
export const presentedKeyOrBearer = (request: IncomingMessage): string | undefined =>
  presentedKey(request) || bearerOf(request);

/** Does it present one key in `x-api-key` and another as Bearer? What is no key may be meant for a proxy. */
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

/** The right-most address that is not a trusted proxy's; anything further left can be invented by the client. */
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

/** Is it the address of a trusted proxy? */
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

/** Did the request come through a proxy? */
const isForwarded = ({ headers }: IncomingMessage) =>
  forwardingHeaders.some((name) => headers[name] !== undefined);
