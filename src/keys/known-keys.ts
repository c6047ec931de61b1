/** All keys of an embedded store in memory; what the store holds at the time of the request is what counts. */
import type { KeyRow, KeySource } from "#store/control-watch.ts";
import { digestBytes } from "./api-key.ts";
import { keysByDigest, type KnownKey } from "./live-key.ts";

export interface KnownKeys {
  /**
   * @param digest as `readKey` gives it.
   * @throws Problem `unavailable` where nobody can tell now; it is a rejection where the result is a promise.
   */
  find(digest: string): KnownKey | undefined | Promise<KnownKey | undefined>;
  /** Asks the store whether it changed, where asking takes no time. */
  refresh(): void;
  close(): void | Promise<void>;
}

/** Of an embedded store, which has every answer at once. */
interface EmbeddedKeys extends KnownKeys {
  find(digest: string): KnownKey | undefined;
}

interface EmbeddedKeysOptions {
  /** Closed with the keys. */
  source: KeySource;
  /** Told once when the store can no longer be read (the keys last read stay in force), and null when it can. */
  onFault: (fault: Error | null) => void;
}

/** Read in one turn of the event loop: some 2 ms. */
const rowsInATurn = 250;

/**
 * After a change elsewhere each key is looked up by itself until all are read again.
 * @throws DomainError if the store cannot be read.
 */
export function openKnownKeys({ source, onFault }: EmbeddedKeysOptions): EmbeddedKeys {
  let versionSeen = source.version();
  let versionRead: unknown;
  let keys = new Map<string, KnownKey>();
  let nextPart: NodeJS.Immediate | undefined;
  let isFaulty = false;

  const setFault = (fault: Error | null) => {
    if ((fault !== null) !== isFaulty) onFault(fault);
    isFaulty = fault !== null;
  };
  const stopReading = () => clearImmediate(nextPart);
  // Whatever was half read is given up; the next request begins anew.
  const giveUp = (error: unknown) => {
    stopReading();
    versionSeen = undefined;
    setFault(error as Error);
  };
  const attempt = (read: () => void) => {
    try {
      read();
    } catch (error) {
      giveUp(error);
    }
  };

  // A change committed between two parts may be in neither; the version tells, and all are read once more.
  const readPart = (fresh: Map<string, KnownKey>, after: string, max: number) => {
    const part = source.list(after, max);
    for (const [digest, key] of keysByDigest(part)) fresh.set(digest, key);
    if (part.length === max)
      nextPart = setImmediate(() => attempt(() => readPart(fresh, part.at(-1)!.id, max)));
    else if (source.version() === versionSeen) {
      keys = fresh;
      versionRead = versionSeen;
    } else readAnew();
  };
  const readAnew = () => {
    stopReading();
    versionSeen = source.version();
    if (versionSeen !== versionRead) readPart(new Map(), "", rowsInATurn);
  };

  /** Kept, so that a revocation once seen is not forgotten should the store become unreadable now. */
  const keep = (digest: string, row: KeyRow | undefined) => {
    if (row === undefined) keys.delete(digest);
    else for (const [found, key] of keysByDigest([row])) keys.set(found, key);
    setFault(null);
    return keys.get(digest);
  };

  readPart(new Map(), "", Number.MAX_SAFE_INTEGER);
  return {
    find(digest) {
      if (versionRead === versionSeen || isFaulty) return keys.get(digest);
      try {
        return keep(digest, source.find(digestBytes(digest)));
      } catch (error) {
        giveUp(error);
        return keys.get(digest);
      }
    },
    refresh: () =>
      attempt(() => {
        if (source.version() !== versionSeen) readAnew();
        setFault(null);
      }),
    close() {
      stopReading();
      source.close();
    },
  };
}
