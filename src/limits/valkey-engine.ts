/** Counts in Valkey or Redis, by a script for all requests of a turn. */
import { createHash } from "node:crypto";
import type { Cluster, Redis } from "iovalkey";
import { StoreFault } from "#store/domain-error.ts";
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
import { chargeScript, takeScript } from "./valkey-scripts.ts";

/** Accounts in one call. */
const callMax = 128;
/** Keys with the same text in braces are on one node of a cluster, where only those may be in one call. */
const parts = 64;

/**
 * @param url `valkey:`, `redis:`, or with TLS `valkeys:`, `rediss:`.
 * @param readClock Lua that sets `clock`, for tests.
 */
export async function openValkeyEngine(url: string, readClock?: string): Promise<Engine> {
  const { Cluster, Redis } = await import("iovalkey");
  const take = scriptOf(takeScript(readClock));
  const charge = scriptOf(chargeScript(readClock));
  const address = url.replace(/^valkey/, "redis");
  const place = placeOf(url);
  let client: Redis | Cluster | null = null;
  /** Whether accounts of all parts may be in one call. */
  let takesAnyKeys = false;

  /** Commands are refused while it is not connected, and it never connects again by itself: `connect` does. */
  const options = {
    lazyConnect: true,
    enableOfflineQueue: false,
    enableReadyCheck: false,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
    connectTimeout: 500,
    keepAlive: 10_000,
  };
  const call = async (
    script: Script,
    keys: readonly string[],
    values: readonly (string | Buffer)[],
  ): Promise<Buffer> => {
    if (client === null) throw new Error("there is no connection");
    const given = [keys.length, ...keys, ...values];
    try {
      return (await client.callBuffer("EVALSHA", script.digest, ...given)) as Buffer;
    } catch (error) {
      // A server that was restarted, or a replica that took over, does not have it yet.
      if (!(error as Error).message.startsWith("NOSCRIPT")) throw error;
      return (await client.callBuffer("EVAL", script.text, ...given)) as Buffer;
    }
  };

  const engine: Engine = {
    place,
    groupsMax: 1024,
    partOf: (account) => account % parts,
    async connect(onLost) {
      engine.disconnect();
      const single = new Redis(address, options);
      client = single;
      const info = await connected(single, place, () => single.info());
      refuseEviction(info, place);
      let current: Redis | Cluster = single;
      const isCluster = /^redis_mode:cluster/m.test(info);
      takesAnyKeys = !isCluster && (await mayMixParts(single));
      if (isCluster) {
        const { host, port, username, password, tls } = single.options;
        const cluster = new Cluster([{ host: host!, port: port! }], {
          ...options,
          clusterRetryStrategy: () => null,
          redisOptions: { ...options, username, password, tls, lazyConnect: false },
        } as ConstructorParameters<typeof Cluster>[1]);
        single.disconnect();
        client = current = cluster;
        const infos = () => Promise.all(cluster.nodes("master").map((node) => node.info()));
        for (const ofNode of await connected(cluster, place, infos)) refuseEviction(ofNode, place);
      }
      current.once("end", () => {
        if (client === current) onLost(new Error("the connection ended"));
      });
    },
    async decide(groups) {
      const decideCall = async (called: readonly Group[]) => {
        const keys = called.map(({ account }) => keyOf(account));
        const numbers = doublesOf(await call(take, keys, [bytesOf(called)]));
        return called.map((_, i) => decisionFrom(numbers, i * decisionNumbers));
      };
      if (takesAnyKeys && groups.length <= callMax) return decideCall(groups);
      const decisions: Decision[] = [];
      const decideApart = async (places: readonly number[]) => {
        const decided = await decideCall(places.map((place) => groups[place]!));
        for (const [i, place] of places.entries()) decisions[place] = decided[i]!;
      };
      await Promise.all(calls(groups, takesAnyKeys).map(decideApart));
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
      if (client === null) throw new Error("there is no connection");
      return Promise.all(("nodes" in client ? client.nodes("master") : [client]).map(inspectNode));
    },
    async read(accounts) {
      const [now, ...stored] = await Promise.all([
        readTime(client),
        ...accounts.map((account) => client!.getBuffer(keyOf(account))),
      ]);
      return accounts.map((account, i) => ({ account, ages: agesOf(stored[i] ?? null, now) }));
    },
    async replace(counted) {
      const now = await readTime(client);
      await Promise.all(
        counted.map(({ account, ages }) =>
          ages.length === 0
            ? client!.del(keyOf(account))
            : client!.set(keyOf(account), storedOf(ages, now), "EX", keptSeconds),
        ),
      );
    },
    disconnect() {
      const old = client;
      client = null;
      old?.disconnect();
    },
  };
  return engine;
}

async function inspectNode(node: Redis): Promise<EngineServer> {
  const info = await node.info();
  const begun = Date.now();
  const [seconds, microseconds] = await node.time();
  const field = (name: string) => new RegExp(`^${name}:(\\S+)`, "m").exec(info)?.[1];
  // Valkey tells the version of Redis that it is compatible with under the old name.
  const valkey = field("valkey_version");
  const appendOnly = field("aof_enabled");
  return {
    program: valkey === undefined ? `Redis ${field("redis_version")}` : `Valkey ${valkey}`,
    aheadMilliseconds:
      1000 * Number(seconds) + Number(microseconds) / 1000 - (begun + Date.now()) / 2,
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

/** Connects, and asks a first question. @throws StoreFault where user or password are not accepted. */
async function connected<T>(
  client: Redis | Cluster,
  place: string,
  ask: () => Promise<T>,
): Promise<T> {
  let fault: Error | undefined;
  // Without a listener it would print what it cannot do.
  client.on("error", (error: Error) => void (fault = error));
  try {
    await client.connect();
    return await ask();
  } catch (error) {
    const cause = fault ?? (error as Error);
    if (/^(NOAUTH|WRONGPASS|NOPERM|ERR invalid password|ERR AUTH)/.test(cause.message))
      throw new StoreFault(
        "unusable",
        `${place} refuses user or password of COUNTERS_URL: ${cause.message}.`,
      );
    throw cause;
  }
}

/** An evicted account would have its whole quota again. Managed services hide the configuration, but not this line. */
function refuseEviction(info: string, place: string): void {
  const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1];
  if (policy === "noeviction") return;
  throw new StoreFault(
    "unusable",
    `${place} has the maxmemory-policy '${policy ?? "unknown"}', by which it may forget counts. Set 'maxmemory-policy noeviction' in its configuration.`,
  );
}

function placeOf(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname.length > 1 ? pathname : ""}`;
}

const keyOf = (account: number) => `q:{${account % parts}}:${account}`;

/** In µs since 1970. */
async function readTime(client: Redis | Cluster | null): Promise<number> {
  if (client === null) throw new Error("there is no connection");
  const [seconds, microseconds] = await client.time();
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

/** Whether it is one server, as far as keys go, and no proxy before several. */
async function mayMixParts(client: Redis): Promise<boolean> {
  try {
    await client.eval("return 1", 2, keyOf(0), keyOf(1));
    return true;
  } catch (error) {
    if (!(error as Error).message.startsWith("CROSSSLOT")) throw error;
    return false;
  }
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

/** Not by an iterator, because this runs for every request. */
function doublesOf(bytes: Buffer): Float64Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const numbers = new Float64Array(bytes.length / 8);
  for (let i = 0; i < numbers.length; i++) numbers[i] = view.getFloat64(8 * i);
  return numbers;
}
