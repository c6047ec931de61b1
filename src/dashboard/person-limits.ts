/**
 * Limits page requests: by person across all their accounts, and by network for people who are not signed in. Also
 * limits requests for private feeds.
 */
import { networksOf, networksPerSite } from "#limits/client-network.ts";
import { type KeyedPolicy, type LimitStatus, openKeyedLimit } from "#limits/keyed-limit.ts";

const minute: KeyedPolicy = { name: "minute", quota: 120, window: 60 };
const day: KeyedPolicy = { name: "day", quota: 2000, window: 86_400 };

const anonymousMinute: KeyedPolicy = { name: "minute", quota: 60, window: 60 };
const anonymousDay: KeyedPolicy = { name: "day", quota: 600, window: 86_400 };

/** Kinds of requests: for viewing a page, for sending a form, and by a page's script. */
export type PersonRequest = "view" | "form" | "background";

export type PersonLimiter = ReturnType<typeof openPersonLimiter>;

/**
 * Maximum number of people or networks in memory for each kind of request. They usually take 1 or 2 MB in total, but
 * 160 MB if each person has used up every limit, because 2,000 views or forms take 16 KiB.
 */
const namesMax = 5000;
/** Maximum number of sites in memory for each kind of request. A site takes about as much memory as a person. */
const sitesMax = 1000;

export function openPersonLimiter() {
  // Requests are answered concurrently, so an earlier one may be counted after a later one.
  let latest = 0;
  const clock = { monotonicMicroseconds: () => latest };
  const open = (policies: readonly KeyedPolicy[], max = namesMax) =>
    openKeyedLimit<string>(policies, clock, max);
  // Suggestions use up no views, and a person with no views left can still send the form on the page.
  const limits = {
    view: open([minute, day]),
    form: open([minute, day]),
    background: open([minute]),
    // Each private feed counts as a person who may ask once a minute.
    feed: open([{ ...minute, quota: 1 }]),
  };
  const openNetworks = (...policies: KeyedPolicy[]) => {
    const networks = open(policies);
    const ofSite = policies.map((one) => ({ ...one, quota: one.quota * networksPerSite }));
    const sites = open(ofSite, sitesMax);
    return (address: string) => {
      const [network, site] = networksOf(address);
      return networks.take(network, site === undefined ? undefined : () => sites.take(site));
    };
  };
  const view = openNetworks(anonymousMinute, anonymousDay);
  // An anonymous form asks for a download, which counts as a view.
  const anonymous = { view, form: view, background: openNetworks(anonymousMinute) };
  const refusal = ({ admitted, policy, retryAfterSeconds }: LimitStatus) =>
    admitted ? null : { name: policy.name, quota: policy.quota, retryAfterSeconds };
  return {
    /**
     * Counts a request of a person or of a feed, by id. At a limit, refuses the request without counting it.
     * @param now microseconds on a monotonic clock. @returns the exhausted window with the longest wait; null for none.
     */
    take(person: string, kind: PersonRequest | "feed", now: number) {
      latest = Math.max(latest, now);
      return refusal(limits[kind].take(person));
    },
    /** Counts an anonymous request against the network and site of an address. Refuses and returns as `take` does. */
    takeAnonymous(address: string, kind: PersonRequest, now: number) {
      latest = Math.max(latest, now);
      return refusal(anonymous[kind](address));
    },
  };
}
