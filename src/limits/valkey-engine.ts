/** Counts in Valkey or Redis: one script for all requests of a turn. */
import { createHash, randomUUID } from "node:crypto";
import { type Charge, type Decision, type Engine, type Group, signedRequests } from "./engine.ts";
import { openValkeyConnection, parts } from "./valkey-connection.ts";
import { chargeScript, takeScript } from "./valkey-scripts.ts";

const lookEveryMilliseconds = 1000;

interface ValkeyOptions {
  /** Called when a server has lost all counts, as by FLUSHALL or by a restart without saved data. */
  onEmptied?: () => void;
  /** Lua that sets `clock`, for tests only. */
  readClock?: string;
}

/** @param url `valkey:`, `redis:`, or with TLS `valkeys:`, `rediss:`. */
export async function openValkeyEngine(
  url: string,
  { onEmptied, readClock }: ValkeyOptions = {},
): Promise<Engine> {
  const take = scriptOf(takeScript(readClock));
  const charge = scriptOf(chargeScript(readClock));
  const { place, connect, disconnect, send, takesAnyKeys } = await openValkeyConnection(url);

  const call = async (
    script: Script,
    keys: readonly string[],
    values: readonly string[],
  ): Promise<unknown> => {
    const given = [String(keys.length), ...keys, ...values];
    try {
      return await send(keys[0]!, ["EVALSHA", script.digest, ...given]);
    } catch (error) {
      // A restarted server, or a replica that took over, does not have the script yet.
      if (!(error as Error).message.startsWith("NOSCRIPT")) throw error;
      return send(keys[0]!, ["EVAL", script.text, ...given]);
    }
  };
  let seenMarks: string | null = null;
  let lookedAt = 0;
  /** Reports lost counts: each part has a mark, which no server loses alone. A missing mark is set again. */
  const lookAtMarks = async () => {
    lookedAt = performance.now();
    const own = randomUUID();
    const marked = Array.from({ length: takesAnyKeys() ? 1 : parts }, async (_, part) => {
      const key = `q:{${part}}:mark`;
      await send(key, ["SET", key, own, "NX"]);
      return send(key, ["GET", key]);
    });
    const marks = (await Promise.all(marked)).join();
    if (seenMarks !== null && marks !== seenMarks) onEmptied!();
    seenMarks = marks;
  };
  const lookSometimes = () => {
    if (onEmptied === undefined || performance.now() - lookedAt < lookEveryMilliseconds) return;
    // The question at hand notices a connection that fails.
    lookAtMarks().catch(() => {});
  };
  const decideCall = async (called: readonly Group[]): Promise<Decision[]> => {
    const keys = called.map(({ account }) => keyOf(account));
    const values = called.flatMap((group) => {
      const { minute, hour, day } = group.quotas;
      return [signedRequests(group), minute, hour, day].map(String);
    });
    try {
      const decisions = await call(take, keys, values);
      // A proxy may give another answer, which must admit and refuse nobody.
      if (Array.isArray(decisions) && decisions.length === called.length) return decisions;
      throw new Error("its answer is not that of the counting script");
    } catch (error) {
      // While the keys of a part move to another node, each is on one of the two.
      if (called.length === 1 || !(error as Error).message.startsWith("TRYAGAIN")) throw error;
      return (await Promise.all(called.map((group) => decideCall([group])))).flat();
    }
  };

  return {
    get place() {
      return place();
    },
    async connect(onLost) {
      await connect(onLost);
      if (onEmptied !== undefined) await lookAtMarks();
    },
    disconnect,
    partOf: (account) => account % parts,
    async decide(groups) {
      lookSometimes();
      if (takesAnyKeys()) return decideCall(groups);
      const decisions = new Map<Group, Decision>();
      const decidePart = async (ofPart: readonly Group[]) => {
        const decided = await decideCall(ofPart);
        for (const [i, group] of ofPart.entries()) decisions.set(group, decided[i]!);
      };
      const byPart = Map.groupBy(groups, ({ account }) => account % parts);
      await Promise.all([...byPart.values()].map(decidePart));
      return groups.map((group) => decisions.get(group)!);
    },
    async charge({ instance, number, part, accounts }: Charge) {
      const keys = [`q:{${part}}:charged:${instance}`];
      await call(
        charge,
        [...keys, ...accounts.map(({ account }) => keyOf(account))],
        [String(number), ...accounts.map(({ ages }) => ages.join(" "))],
      );
    },
  };
}

interface Script {
  text: string;
  digest: string;
}

const scriptOf = (text: string): Script => ({
  text,
  digest: createHash("sha1").update(text).digest("hex"),
});

const keyOf = (account: number) => `q:{${account % parts}}:${account}`;
