/** Remembers when and from where each key was last used, at most once a minute for each key. */
import { minuteMilliseconds } from "#store/durations.ts";
import type { UsageStore } from "#store/stores.ts";
import type { KeyUseTable } from "#store/usage-tables.ts";
import type { Writer } from "./writer.ts";

interface KeyUse {
  /**
   * Costs one look-up unless the key's minute is over; never waits. `now` is milliseconds since 1970.
   * @param networkOf the network the request came from; called only where it is written.
   */
  note(keyId: string, now: number, networkOf?: () => string): void;
  /** Sends the rest to the writer. */
  close(): void;
}

const everyMilliseconds = minuteMilliseconds;
const gatherMilliseconds = 1000;

/** @param writer stays open at `close`; other users may share it. */
export function openKeyUse({ writer }: { writer: Writer }): KeyUse {
  // Bounded by the number of keys: only verified ones are noted.
  const notedAt = new Map<string, number>();
  const gathered = new Map<string, KeyUseTable>();
  let timer: NodeJS.Timeout | undefined;

  const send = () => {
    clearTimeout(timer);
    timer = undefined;
    if (gathered.size === 0) return;
    const rows = [...gathered.values()];
    gathered.clear();
    writer.write({ kind: "keyUse", rows });
  };

  return {
    note(keyId, now, networkOf) {
      const before = notedAt.get(keyId);
      // A clock that was set back must not keep a key silent until it catches up.
      if (before !== undefined && now >= before && now - before < everyMilliseconds) return;
      notedAt.set(keyId, now);
      gathered.set(keyId, {
        key_id: keyId,
        last_used_at: new Date(now).toISOString(),
        network: networkOf?.() ?? null,
      });
      timer ??= setTimeout(send, gatherMilliseconds).unref();
    },
    close: send,
  };
}

export interface LastUse {
  /** ISO time. */
  at: string;
  /** Such as `203.0.113.0/24`; null where it was not recorded. */
  network: string | null;
}

/** By key id; keys never used are missing. @param keyIds only these; all where it is left out. */
export async function readLastUse(
  usage: UsageStore,
  keyIds?: readonly string[],
): Promise<Map<string, LastUse>> {
  const all = usage.database.selectFrom("key_use").selectAll();
  const asked = keyIds === undefined ? all : all.where("key_id", "in", keyIds);
  const rows = await asked.execute();
  return new Map(
    rows.map(({ key_id, last_used_at: at, network }) => [key_id, { at, network }] as const),
  );
}
