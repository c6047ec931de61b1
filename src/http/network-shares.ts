/** Limits the amount that each client network has at a time, and for IPv6 each site. */
import { networksOf } from "#limits/client-network.ts";

interface NetworkShares {
  /**
   * Takes an amount for the networks of an address.
   * @returns a function that gives it back, or null, with nothing taken, if one of them would have too much.
   */
  take(address: string, amount: number): (() => void) | null;
}

/** Share of a site: as much as 4 of its 65,536 networks. */
const networksPerSite = 4;

/** @param most largest amount of a network at a time. */
export function openNetworkShares(most: number): NetworkShares {
  const taken = new Map<string, number>();
  const add = (network: string, amount: number) => {
    const sum = (taken.get(network) ?? 0) + amount;
    if (sum === 0) taken.delete(network);
    else taken.set(network, sum);
  };
  return {
    take(address, amount) {
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
