/** Whose request it is, by address: the connection's, or what a trusted proxy says. */
import type { IncomingMessage } from "node:http";
import { isIP, type BlockList } from "node:net";

/** The right-most address that is not a trusted proxy's; anything further left can be invented by the client. */
export function clientAddress(
  { socket, headers }: IncomingMessage,
  trusted: BlockList | null,
): string {
  const peer = socket.remoteAddress ?? "unknown";
  if (trusted === null || !isIn(trusted, peer)) return peer;
  const forwarded = headers["x-forwarded-for"];
  const hops = (Array.isArray(forwarded) ? forwarded.join(",") : (forwarded ?? "")).split(",");
  for (const hop of hops.toReversed()) {
    const address = hop.trim();
    if (isIP(address) === 0) break;
    if (!isIn(trusted, address)) return address;
  }
  return peer;
}

function isIn(ranges: BlockList, address: string): boolean {
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

/** Did the request come through something in front of us? */
export const isForwarded = ({ headers }: IncomingMessage) =>
  forwardingHeaders.some((name) => headers[name] !== undefined);
