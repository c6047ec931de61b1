/** Counts in Valkey or Redis: one script for all requests of a turn. */
import { createHash, randomUUID } from "node:crypto";
import {
  type Charge,
  type Decision,
  decisionFrom,
  decisionNumbers,
  type Engine,
  type Group,
  signedRequests,
} from "./engine.ts";
import { type Argument, openValkeyConnection, parts } from "./valkey-connection.ts";
import { chargeScript, markScript, takeScript } from "./valkey-scripts.ts";

/** Maximum number of accounts in one call. */
const callMax = 128;
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
    values: readonly Argument[],
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
  const mark = scriptOf(markScript);
  let seenMarks: string | null = null;
  let lookedAt = 0;
  /** Reports lost counts: each part has a mark, which no server loses alone. A missing mark is set again. */
  const lookAtMarks = async () => {
    lookedAt = performance.now();
    const own = randomUUID();
    const marked = Array.from({ length: takesAnyKeys() ? 1 : parts }, (_, part) =>
      call(mark, [`q:{${part}}:mark`], [own]),
    );
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
    try {
      const numbers = doublesOf(await call(take, keys, [bytesOf(called)]), called.length);
      return called.map((_, i) => decisionFrom(numbers, i * decisionNumbers));
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
    groupsMax: 1024,
    partOf: (account) => account % parts,
    async decide(groups) {
      lookSometimes();
      if (takesAnyKeys() && groups.length <= callMax) return decideCall(groups);
      const decisions: Decision[] = [];
      const decideApart = async (places: readonly number[]) => {
        const decided = await decideCall(places.map((place) => groups[place]!));
        for (const [i, place] of places.entries()) decisions[place] = decided[i]!;
      };
      await Promise.all(calls(groups, takesAnyKeys()).map(decideApart));
      return decisions;
    },
    async charge({ instance, number, part, accounts }: Charge) {
      const keys = [`q:{${part}}:charged:${instance}`];
      await call(
        charge,
        [...keys, ...accounts.map(({ account }) => keyOf(account))],
        [String(number), ...accounts.map(({ ages }) => bytesOfDoubles(ages))],
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

/** Returns the places of the groups in each call: at most `callMax`, and of one part unless parts may be mixed. */
function calls(groups: readonly Group[], takesAnyKeys: boolean): number[][] {
  const found = new Map<number, number[][]>();
  for (const [place, { account }] of groups.entries()) {
    const part = takesAnyKeys ? 0 : account % parts;
    const ofPart = found.getOrInsertComputed(part, () => []);
    const last = ofPart.at(-1);
    if (last === undefined || last.length === callMax) ofPart.push([place]);
    else last.push(place);
  }
  return [...found.values()].flat();
}

/** Returns groups as the script reads them. */
function bytesOf(groups: readonly Group[]): Buffer {
  const bytes = Buffer.allocUnsafe(16 * groups.length);
  for (const [i, group] of groups.entries()) {
    const { quotas } = group;
    bytes.writeInt32BE(signedRequests(group), 16 * i);
    bytes.writeUInt32BE(quotas.minute, 16 * i + 4);
    bytes.writeUInt32BE(quotas.hour, 16 * i + 8);
    bytes.writeUInt32BE(quotas.day, 16 * i + 12);
  }
  return bytes;
}

function bytesOfDoubles(numbers: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(8 * numbers.length);
  for (const [i, number] of numbers.entries()) bytes.writeDoubleBE(number, 8 * i);
  return bytes;
}

/**
 * Returns the numbers of an answer; without an iterator, because this runs for every request.
 * @throws Error if it is no answer for this many groups. A proxy may give one, which must admit and refuse nobody.
 */
function doublesOf(answer: unknown, groups: number): Float64Array {
  const length = groups * decisionNumbers;
  if (!Buffer.isBuffer(answer) || answer.length !== 8 * length)
    throw new Error("its answer is not that of the counting script");
  const view = new DataView(answer.buffer, answer.byteOffset, answer.length);
  const numbers = new Float64Array(length);
  for (let i = 0; i < length; i++) numbers[i] = view.getFloat64(8 * i);
  return numbers;
}
