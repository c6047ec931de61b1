/** Digests of the keys accepted within the last second: to compute one costs more than all else that is asked of a key. */

interface RecentDigests {
  find(key: string): string | undefined;
  add(key: string, digest: string): void;
}

/**
 * No longer than the text of a request stays in memory by itself until it is collected: whoever can read the memory
 * of the process finds no more keys for it.
 */
const keptMilliseconds = 1000;
const keptMax = 1000;

export function openRecentDigests(): RecentDigests {
  const digests = new Map<string, string>();
  return {
    find: (key) => digests.get(key),
    add(key, digest) {
      if (digests.size === 0) setTimeout(() => digests.clear(), keptMilliseconds).unref();
      if (digests.size < keptMax) digests.set(key, digest);
    },
  };
}
