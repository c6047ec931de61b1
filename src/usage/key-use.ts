/** Remembers when each key was last used, at most once a minute for each key. */
import type { UsageStore } from "#store/stores.ts";
import type { Writer } from "#store/writer.ts";

export interface KeyUse {
  /** Costs one look-up unless the key's minute is over; never waits. `now` is milliseconds since 1970. */
  note(keyId: string, now: number): void;
  /** Resolves when everything noted was handed to the disk, or was tried and is kept by the writer. */
  close(): Promise<void>;
}

const everyMilliseconds = 60_000;
const gatherMilliseconds = 1000;

/** @param writer stays open at `close`; other users may share it. */
export function openKeyUse({ writer }: { writer: Writer }): KeyUse {
  // Bounded by the number of keys: only verified ones are noted.
  const notedAt = new Map<string, number>();
  const gathered = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;

  const send = () => {
    clearTimeout(timer);
    timer = undefined;
    if (gathered.size === 0) return;
    const rows = Array.from(gathered, ([key_id, at]) => ({
      key_id,
      last_used_at: new Date(at).toISOString(),
    }));
    gathered.clear();
    writer.write({ kind: "keyUse", rows });
  };

  return {
    note(keyId, now) {
      const before = notedAt.get(keyId);
      // A clock that was set back must not keep a key silent until it catches up.
      if (before !== undefined && now >= before && now - before < everyMilliseconds) return;
      notedAt.set(keyId, now);
      gathered.set(keyId, now);
      timer ??= setTimeout(send, gatherMilliseconds).unref();
    },
    async close() {
      send();
      await writer.settled();
    },
  };
}

/** ISO time of the last use by key id; keys never used are missing. */
export async function readLastUse(usage: UsageStore): Promise<Map<string, string>> {
  const rows = await usage.database.selectFrom("key_use").selectAll().execute();
  return new Map(rows.map((row) => [row.key_id, row.last_used_at]));
}
