/** Networks of client addresses: a small one for limits, and a larger one for the limits of sites and for display. */
import { isIP } from "node:net";

/**
 * Returns an IPv4 address itself, even if it is mapped into IPv6. Returns the /64 of any other IPv6 address, because
 * anyone can get that many addresses (RFC 6177). Returns `unknown` for all other text, so that all invalid addresses
 * share one limit.
 */
export function clientNetwork(address: string): string {
  const family = isIP(address);
  if (family === 4) return address;
  if (family === 0) return "unknown";
  const groups = groupsOf(address);
  return mappedAddress(groups) ?? prefixOf(groups, 4);
}

/**
 * Returns the /24 of an IPv4 address, even if it is mapped into IPv6, and the /48 of any other IPv6 address. Returns
 * `unknown` for other text. People can recognise a network of this size as theirs, and it is too large to locate them.
 */
export function coarseNetwork(address: string): string {
  const family = isIP(address);
  if (family === 0) return "unknown";
  const groups = family === 6 ? groupsOf(address) : [];
  const plain = family === 4 ? address : mappedAddress(groups);
  return plain === undefined ? prefixOf(groups, 3) : `${plain.replace(/\d+$/, "0")}/24`;
}

/**
 * Returns the network of an address, and the /48 if the network is a /64. One site can have a whole /48, which contains
 * 65,536 networks (RFC 6177).
 */
export function networksOf(address: string): [network: string, site?: string] {
  const network = clientNetwork(address);
  return network.endsWith("/64") ? [network, coarseNetwork(address)] : [network];
}

/** Returns the IPv4 address mapped into an IPv6 address. Returns undefined if there is none. */
function mappedAddress(groups: readonly number[]): string | undefined {
  const isMapped = groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0);
  if (!isMapped) return undefined;
  const bytes = groups.slice(6).flatMap((group) => [group >> 8, group & 255]);
  return bytes.join(".");
}

function prefixOf(groups: readonly number[], count: number): string {
  const prefix = groups.slice(0, count).map((group) => group.toString(16));
  return `${prefix.join(":")}::/${count * 16}`;
}

/** Returns the eight groups of a valid IPv6 address, without its zone. */
function groupsOf(address: string): number[] {
  // URL parsing also turns a trailing IPv4 address into two groups.
  const { hostname } = new URL(`http://[${address.replace(/%.*/, "")}]`);
  const [before = [], after = []] = hostname
    .slice(1, -1)
    .split("::")
    .map((part) => (part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16))));
  const between = Array.from({ length: 8 - before.length - after.length }, () => 0);
  return [...before, ...between, ...after];
}

/** Limit of a site, as a multiple of the limit of one of its 65,536 networks. */
export const networksPerSite = 4;

/** Limits the amount that each client network and each site holds at a time. @param most maximum for one network. */
export function openNetworkShares(most: number) {
  const taken = new Map<string, number>();
  const add = (network: string, amount: number) => {
    const sum = (taken.get(network) ?? 0) + amount;
    if (sum === 0) taken.delete(network);
    else taken.set(network, sum);
  };
  return {
    /**
     * Takes an amount for the networks of an address.
     * @returns a function that gives the amount back. Returns null, with nothing taken, if a network would exceed its
     *   limit.
     */
    take(address: string, amount: number): (() => void) | null {
      const [network, site] = networksOf(address);
      const fits = (name: string, bound: number) => (taken.get(name) ?? 0) + amount <= bound;
      if (!fits(network, most)) return null;
      if (site !== undefined && !fits(site, networksPerSite * most)) return null;
      const names = site === undefined ? [network] : [network, site];
      for (const name of names) add(name, amount);
      return () => {
        for (const name of names) add(name, -amount);
      };
    },
  };
}
