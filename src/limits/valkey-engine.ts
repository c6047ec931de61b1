/** Counts in Valkey or Redis, by a script for all requests of a turn. */
import { createHash } from "node:crypto";
import {
  agesFrom,
  type Charge,
  type Decision,
  decisionFrom,
  decisionNumbers,
  type Engine,
  type EngineServer,
  type Group,
  signedRequests,
  slotsFrom,
} from "./engine.ts";
import {
  type Argument,
  infoOf,
  openValkeyConnection,
  parts,
  type Server,
} from "./valkey-connection.ts";
import type { CountersSetting } from "./valkey-faults.ts";
import { chargeScript, takeScript } from "./valkey-scripts.ts";

/** Accounts in one call. */
const callMax = 128;

interface ValkeyOptions {
  /** That has the URL, for errors. */
  setting?: CountersSetting;
  /** Lua that sets `clock`, for tests. */
  readClock?: string;
}

/** @param url `valkey:`, `redis:`, or with TLS `valkeys:`, `rediss:`. */
export async function openValkeyEngine(
  url: string,
  { setting = "COUNTERS_URL", readClock }: ValkeyOptions = {},
): Promise<Engine> {
  const take = scriptOf(takeScript(readClock));
  const charge = scriptOf(chargeScript(readClock));
  const { place, connect, disconnect, send, servers, takesAnyKeys } = await openValkeyConnection(
    url,
    setting,
  );

  const call = async (
    script: Script,
    keys: readonly string[],
    values: readonly Argument[],
  ): Promise<unknown> => {
    const given = [String(keys.length), ...keys, ...values];
    try {
      return await send(keys[0]!, ["EVALSHA", script.digest, ...given]);
    } catch (error) {
      // A server that was restarted, or a replica that took over, does not have it yet.
      if (!(error as Error).message.startsWith("NOSCRIPT")) throw error;
      return send(keys[0]!, ["EVAL", script.text, ...given]);
    }
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
    connect,
    disconnect,
    groupsMax: 1024,
    partOf: (account) => account % parts,
    async decide(groups) {
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
    async inspect() {
      return Promise.all((await servers()).map(inspectServer));
    },
    async read(accounts) {
      const now = await readTime((await servers())[0]!);
      const keys = accounts.map(keyOf);
      const stored = await Promise.all(keys.map((key) => send(key, ["GET", key])));
      return accounts.map((account, i) => ({
        account,
        ages: agesOf(stored[i] as Buffer | null, now),
      }));
    },
    async replace(counted) {
      const now = await readTime((await servers())[0]!);
      await Promise.all(
        counted.map(({ account, ages }) => {
          const key = keyOf(account);
          return ages.length === 0
            ? send(key, ["EXPIRE", key, "0"])
            : send(key, ["SET", key, storedOf(ages, now), "EX", String(keptSeconds)]);
        }),
      );
    },
  };
}

async function inspectServer(server: Server): Promise<EngineServer> {
  const info = await infoOf(server);
  const begun = Date.now();
  const now = await readTime(server);
  const field = (name: string) => new RegExp(`^${name}:(\\S+)`, "m").exec(info)?.[1];
  // Valkey tells the version of Redis that it is compatible with under the old name.
  const valkey = field("valkey_version");
  const appendOnly = field("aof_enabled");
  return {
    program: valkey === undefined ? `Redis ${field("redis_version")}` : `Valkey ${valkey}`,
    aheadMilliseconds: now / 1000 - (begun + Date.now()) / 2,
    keepsCounts: appendOnly === undefined ? null : appendOnly === "1",
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

/** In µs since 1970. */
async function readTime(server: Server): Promise<number> {
  const [seconds, microseconds] = (await server.sendCommand(["TIME"])) as Argument[];
  return Number(seconds) * 1e6 + Number(microseconds);
}

/** As the scripts lay it out: valkey-scripts.ts. */
const headBytes = 24;
const slotBytes = 5;
/** As the scripts have it: an hour or two after the newest request has left the day. */
const keptSeconds = 90_000;

function agesOf(stored: Buffer | null, now: number): number[] {
  if (stored === null) return [];
  const newest = stored.readDoubleBE(0);
  const next = stored.readUInt32BE(8);
  const day = stored.readUInt32BE(20);
  const ring = stored.subarray(headBytes);
  const slots = ring.length / slotBytes;
  const ordered = Array.from({ length: day }, (_, i) => {
    const slot = (next - day + i + slots) % slots;
    return ring.subarray(slotBytes * slot, slotBytes * (slot + 1));
  });
  return agesFrom(Buffer.concat(ordered), newest, now);
}

function storedOf(ages: readonly number[], now: number): Buffer {
  const { slots, newest } = slotsFrom(ages, now);
  const head = Buffer.alloc(headBytes);
  head.writeDoubleBE(newest, 0);
  for (const at of [8, 12, 16, 20]) head.writeUInt32BE(ages.length, at);
  const room = Math.floor(ages.length / 8) + 4;
  return Buffer.concat([head, slots, Buffer.alloc(slotBytes * room)]);
}

/** Places of the groups of one call each: of one part unless they may be mixed, and not too many. */
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

/** As the script reads it. */
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
 * Not by an iterator, because this runs for every request.
 * @throws Error for what is no answer for so many groups, as a proxy may give: nobody is to be admitted or refused by it.
 */
function doublesOf(answer: unknown, groups: number): Float64Array {
  const length = groups * decisionNumbers;
  if (!Buffer.isBuffer(answer) || answer.length !== 8 * length)
    throw new Error("its answer is not one of the script that counts");
  const view = new DataView(answer.buffer, answer.byteOffset, answer.length);
  const numbers = new Float64Array(length);
  for (let i = 0; i < length; i++) numbers[i] = view.getFloat64(8 * i);
  return numbers;
}
