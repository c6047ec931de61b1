/** The sender of a request to the account pages, as far as a connection tells. */
import { clientNetwork } from "#limits/client-network.ts";

export interface Client {
  /** IP address, as the HTTP server gives it. */
  address: string;
  userAgent: string;
  /** Value of the cookie of a browser that signed in before. */
  browserToken: string | null;
}

/** Returns the network of the client: of IPv6 only the first 64 bits, because anyone can get that many addresses. */
export const networkOf = ({ address }: Client): string => clientNetwork(address);

// The order matters: Edge and Opera also call themselves Chrome, and Chrome calls itself Safari.
const browsers = [
  ["Edg", "Edge"],
  ["OPR/", "Opera"],
  ["Firefox/", "Firefox"],
  ["FxiOS/", "Firefox"],
  ["Chrome/", "Chrome"],
  ["CriOS/", "Chrome"],
  ["Safari/", "Safari"],
  ["curl/", "curl"],
] as const;

const systems = [
  ["Windows", "Windows"],
  ["Android", "Android"],
  ["iPhone", "iPhone"],
  ["iPad", "iPad"],
  ["Mac OS X", "macOS"],
  ["CrOS", "ChromeOS"],
  ["Linux", "Linux"],
] as const;

/** Returns a name by which people recognise a browser, such as `Firefox on Linux`. No more of the header is stored. */
export function browserOf({ userAgent }: Client): string {
  const named = (words: readonly (readonly [string, string])[]) =>
    words.find(([mark]) => userAgent.includes(mark))?.[1];
  const browser = named(browsers) ?? "another browser";
  const system = named(systems);
  return system === undefined ? browser : `${browser} on ${system}`;
}
