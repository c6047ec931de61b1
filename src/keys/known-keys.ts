/** All keys in memory, by digest; after a change elsewhere each is looked up by itself until all are read again. */
import { watchControl } from "#store/control-watch.ts";
import { digestBytes } from "./api-key.ts";
import { type KnownKey, keysByDigest } from "./live-key.ts";

interface KnownKeys {
  /** @param digest as `readKey` gives it. */
  find(digest: string): KnownKey | undefined;
  /** Asks the store whether it changed. */
  refresh(): void;
  close(): void;
}

export interface KnownKeysOptions {
  /** Path of `control.sqlite`. */
  path: string;
  /** Milliseconds since 1970. */
  now: () => number;
  /** Told once when the store can no longer be read (the keys last read stay in force), and null when it can. */
  onFault: (fault: Error | null) => void;
}

/** Read in one turn of the event loop: some 2 ms. */
const rowsInATurn = 250;

/** @throws StoreFault if the store cannot be read. */
export function openKnownKeys({ path, now, onFault }: KnownKeysOptions): KnownKeys {
  const watch = watchControl(path, now);
  let versionSeen = watch.version();
  let versionRead = versionSeen;
  let keys = keysByDigest(watch.list("", Number.MAX_SAFE_INTEGER));
  let nextPart: NodeJS.Immediate | undefined;
  let isFaulty = false;

  const setFault = (fault: Error | null) => {
    if ((fault !== null) !== isFaulty) onFault(fault);
    isFaulty = fault !== null;
  };

  // A change committed between two parts may be in neither; the version tells, and all are read once more.
  const readOn = (fresh: Map<string, KnownKey>, after: string) => {
    const rows = watch.list(after, rowsInATurn);
    for (const [digest, key] of keysByDigest(rows)) fresh.set(digest, key);
    if (rows.length === rowsInATurn)
      nextPart = setImmediate(() => attempt(() => readOn(fresh, rows.at(-1)!.id)));
    else if (watch.version() === versionSeen) {
      keys = fresh;
      versionRead = versionSeen;
    } else readAnew();
  };
  const readAnew = () => {
    clearImmediate(nextPart);
    versionSeen = watch.version();
    if (versionSeen !== versionRead) readOn(new Map(), "");
  };
  const attempt = (read: () => void) => {
    try {
      read();
      setFault(null);
    } catch (error) {
      // Whatever was half read is given up; the next request begins anew.
      clearImmediate(nextPart);
      versionSeen = undefined;
      setFault(error as Error);
    }
  };

  return {
    find(digest) {
      if (versionRead !== versionSeen && !isFaulty)
        attempt(() => {
          const row = watch.find(digestBytes(digest));
          // Kept, so that a revocation once seen is not forgotten should the store become unreadable now.
          if (row === undefined) keys.delete(digest);
          else for (const [found, key] of keysByDigest([row])) keys.set(found, key);
        });
      return keys.get(digest);
    },
    refresh: () =>
      attempt(() => {
        if (watch.version() !== versionSeen) readAnew();
      }),
    close() {
      clearImmediate(nextPart);
      watch.close();
    },
  };
}
