/** Counts in Valkey or Redis, by a script for all requests of a turn. */
import { createHash } from "node:crypto";
import { isIP } from "node:net";
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
  const { createClient, createCluster, RedisClient, RESP_TYPES } = await import("@redis/client");
  const take = scriptOf(takeScript(readClock));
  const charge = scriptOf(chargeScript(readClock));
  const place = placeOf(url);
  let connection: Connection | null = null;
  /** Whether accounts of all parts may be in one call. */
  let takesAnyKeys = false;

  const { socket, ...account } = RedisClient.parseURL(url.replace(/^valkey/, "redis"));
  const { host, port, tls } = socket as { host: string; port?: number; tls: boolean };
  const common = {
    RESP: 2,
    // Whoever asks decides how long to wait, and then drops the connection.
    commandOptions: { timeout: 0, typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } },
  } as const;
  /** Commands are refused while it is not connected, and it never connects again by itself: `connect` does. */
  const options = {
    ...account,
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: "disabled",
    socket: {
      host,
      ...(port !== undefined && { port }),
      // Some services have many servers behind one address, told apart by this name.
      ...(tls && { tls, ...(isIP(host) === 0 && { servername: host }) }),
      connectTimeout: 500,
      keepAliveInitialDelay: 10_000,
      reconnectStrategy: false,
    },
  } as const;

  const current = (): Connection => {
    if (connection === null) throw new Error("there is no connection");
    return connection;
  };
  const call = async (
    script: Script,
    keys: readonly string[],
    values: readonly Argument[],
  ): Promise<Buffer> => {
    const { send } = current();
    const given = [String(keys.length), ...keys, ...values];
    try {
      return (await send(keys[0]!, ["EVALSHA", script.digest, ...given])) as Buffer;
    } catch (error) {
      // A server that was restarted, or a replica that took over, does not have it yet.
      if (!(error as Error).message.startsWith("NOSCRIPT")) throw error;
      return (await send(keys[0]!, ["EVAL", script.text, ...given])) as Buffer;
    }
  };

  const engine: Engine = {
    place,
    groupsMax: 1024,
    partOf: (account) => account % parts,
    async connect(onLost) {
      engine.disconnect();
      /** Has it in use, unless `disconnect` dropped it meanwhile. */
      const use = async (client: Client, opened: Connection) => {
        connection = opened;
        // Without a listener it would end this process.
        client.on("error", () => {});
        await client.connect();
        if (connection === opened) return;
        opened.destroy();
        throw new Error("the connection was dropped");
      };
      const single = createClient({ ...common, ...options });
      const info = await answerOf(place, async () => {
        await use(single, toServer(single));
        return infoOf(single);
      });
      refuseEviction(info, place);
      const isCluster = /^redis_mode:cluster/m.test(info);
      takesAnyKeys = !isCluster && (await mayMixParts(single));
      let used: Client = single;
      if (isCluster) {
        engine.disconnect();
        const cluster = createCluster({ ...common, rootNodes: [options], defaults: options });
        await answerOf(place, () => use(cluster, toCluster(cluster)));
        const infos = (await current().servers()).map(infoOf);
        for (const ofNode of await Promise.all(infos)) refuseEviction(ofNode, place);
        used = cluster;
      }
      const connected = connection;
      for (const event of ["error", "node-error"])
        used.on(event, (fault: Error) => {
          if (connection !== connected) return;
          engine.disconnect();
          onLost(fault);
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
      return Promise.all((await current().servers()).map(inspectServer));
    },
    async read(accounts) {
      const { send, servers } = current();
      const now = await readTime((await servers())[0]!);
      const keys = accounts.map(keyOf);
      const stored = await Promise.all(keys.map((key) => send(key, ["GET", key])));
      return accounts.map((account, i) => ({
        account,
        ages: agesOf(stored[i] as Buffer | null, now),
      }));
    },
    async replace(counted) {
      const { send, servers } = current();
      const now = await readTime((await servers())[0]!);
      await Promise.all(
        counted.map(({ account, ages }) => {
          const key = keyOf(account);
          return ages.length === 0
            ? send(key, ["DEL", key])
            : send(key, ["SET", key, storedOf(ages, now), "EX", String(keptSeconds)]);
        }),
      );
    },
    disconnect() {
      const old = connection;
      connection = null;
      old?.destroy();
    },
  };
  return engine;
}

type Argument = string | Buffer;

/** Of the package: one to a server, or one to each of a cluster. */
interface Client {
  on(event: string, listener: (fault: Error) => void): unknown;
  connect(): Promise<unknown>;
}

interface Server {
  sendCommand(command: readonly Argument[]): Promise<unknown>;
}

/** Strings in replies are bytes. */
interface Connection {
  /** @param key decides which server of a cluster is asked. */
  send(key: string, command: Argument[]): Promise<unknown>;
  /** All that count. */
  servers(): Promise<Server[]>;
  /** Whatever was asked is rejected. */
  destroy(): void;
}

const toServer = (client: Server & { destroy(): void }): Connection => ({
  send: (_, command) => client.sendCommand(command),
  servers: () => Promise.resolve([client]),
  destroy: () => client.destroy(),
});

interface Cluster<Node> {
  sendCommand(key: string, isReadonly: boolean, command: Argument[]): Promise<unknown>;
  masters: Node[];
  nodeClient(node: Node): Promise<Server>;
  destroy(): void;
}

const toCluster = <Node>(cluster: Cluster<Node>): Connection => ({
  send: (key, command) => cluster.sendCommand(key, false, command),
  servers: () => Promise.all(cluster.masters.map((node) => cluster.nodeClient(node))),
  destroy: () => cluster.destroy(),
});

const infoOf = async (server: Server) => String(await server.sendCommand(["INFO"]));

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

/** @throws StoreFault where user or password are not accepted. */
async function answerOf<T>(place: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    const { message } = error as Error;
    if (!/^(NOAUTH|WRONGPASS|NOPERM|ERR invalid password|ERR AUTH)/.test(message)) throw error;
    throw new StoreFault(
      "unusable",
      `${place} refuses user or password of COUNTERS_URL: ${message}.`,
    );
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

/** Whether it is one server, as far as keys go, and no proxy before several. */
async function mayMixParts(server: Server): Promise<boolean> {
  try {
    await server.sendCommand(["EVAL", "return 1", "2", keyOf(0), keyOf(1)]);
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
