/** Connects to a Valkey or Redis, alone or a cluster, and makes sure that it can count. */
import { type LookupAddress, promises } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { StoreFault } from "#store/domain-error.ts";
import { connectMilliseconds, dropped, faultInWords } from "./valkey-faults.ts";
import { probeScript } from "./valkey-scripts.ts";

/** Keys with the same text in braces are on one node of a cluster, where only those may be in one call. */
export const parts = 64;

export type Argument = string | Buffer;

interface Server {
  sendCommand(command: readonly Argument[]): Promise<unknown>;
}

/** Strings in replies are bytes. */
interface Connection {
  /** @param key decides which server of a cluster is asked. */
  send(key: string, command: Argument[]): Promise<unknown>;
  /** All that count. */
  servers(): Promise<Server[]>;
}

interface ValkeyConnection extends Pick<Connection, "send"> {
  /** As a URL without user and password, and that it is a cluster, once that is known. */
  place(): string;
  /** As `Engine` has them. */
  connect(onLost: (fault: Error) => void): Promise<void>;
  disconnect(): void;
  /** Whether keys of all parts may be in one call. */
  takesAnyKeys(): boolean;
}

/**
 * @param url `valkey:`, `redis:`, or with TLS `valkeys:`, `rediss:`.
 * @throws sentences without a full stop, to follow the place; a StoreFault is a whole one. None has the password.
 */
export async function openValkeyConnection(url: string): Promise<ValkeyConnection> {
  const { createClient, createCluster, RedisClient, RESP_TYPES } = await import("@redis/client");
  const { socket, ...account } = RedisClient.parseURL(url.replace(/^valkey/, "redis"));
  const { host, port = 6379, tls } = socket as { host: string; port?: number; tls: boolean };
  const placeOfUrl = placeOf(url);
  let isCluster = false;
  /** Which node of a cluster fails is not always known. */
  const place = () => (isCluster ? `the cluster of ${placeOfUrl}` : placeOfUrl);
  let connection: Droppable | null = null;
  let takesAnyKeys = false;
  /** Where a cluster is asked for its nodes: at the address of the URL, and at all that it had. */
  let addresses: Address[] = [{ host, port }];

  const lookups = new Map<string, Promise<LookupAddress[]>>();
  const common = {
    RESP: 2,
    // Whoever asks decides how long to wait, and then drops the connection.
    commandOptions: { timeout: 0, typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } },
  } as const;
  /** Commands are refused while it is not connected, and it never connects again by itself: `connect` does. */
  const optionsOf = (address: Address) =>
    ({
      ...account,
      disableOfflineQueue: true,
      disableClientInfo: true,
      maintNotifications: "disabled",
      socket: {
        ...address,
        // Some services have many servers behind one address, told apart by this name.
        ...(tls && { tls, ...(isIP(host) === 0 && { servername: host }) }),
        connectTimeout: connectMilliseconds,
        lookup: lookupOnce(lookups),
        keepAliveInitialDelay: 10_000,
        reconnectStrategy: false,
      },
    }) as const;

  const worded = (fault: Error) =>
    faultInWords(fault, { place: place(), tls, password: account.password });
  const inWords = async <T>(answer: Promise<T>): Promise<T> => {
    try {
      return await answer;
    } catch (error) {
      throw worded(error as Error);
    }
  };
  const current = (): Connection => {
    if (connection === null) throw new Error(dropped);
    return connection;
  };
  const disconnect = () => {
    const old = connection;
    connection = null;
    old?.destroy();
  };

  const open = async (onLost: (fault: Error) => void) => {
    let isOpen = false;
    /** Why the connection ended, which a cluster's rejection, or that of a command, does not tell. */
    let cause: Error | undefined;
    /** Has it in use, unless `disconnect` dropped it meanwhile. */
    const use = async (client: Client, opened: Droppable) => {
      connection = opened;
      // Without a listener an error would end this process.
      for (const event of ["error", "node-error"] as const)
        client.on(event, (fault) => {
          cause ??= fault;
          if (!isOpen || connection !== opened) return;
          disconnect();
          onLost(worded(fault));
        });
      await client.connect();
      // Of the addresses of a cluster one is enough.
      cause = undefined;
      if (connection === opened) return;
      opened.destroy();
      throw new Error(dropped);
    };
    try {
      await find(use);
      isOpen = true;
    } catch (error) {
      throw error instanceof StoreFault ? error : (cause ?? error);
    }
  };
  /** Connects to the server, or to each of its cluster, and makes sure that all can count. */
  const find = async (use: (client: Client, opened: Droppable) => Promise<void>) => {
    if (!isCluster) {
      const single = createClient({ ...common, ...optionsOf({ host, port }) });
      await use(single, toServer(single));
      const info = await infoOf(single);
      refuseEviction(info, place());
      isCluster = /^redis_mode:cluster/m.test(info);
      takesAnyKeys = !isCluster && (await probe(current(), [0, 1]));
      if (isCluster) disconnect();
    }
    if (isCluster) {
      const cluster = createCluster({
        ...common,
        rootNodes: addresses.map(optionsOf),
        defaults: optionsOf({ host, port }),
        nodeAddressMap: (address) => withHost(address, host),
      });
      await use(cluster, toCluster(cluster));
      refuseHoles(cluster.slots);
      const servers = await current().servers();
      for (const info of await Promise.all(servers.map(infoOf))) refuseEviction(info, place());
      addresses = unique([{ host, port }, ...(await nodesOf(servers[0]!))]);
    }
    const all = Array.from({ length: parts }, (_, part) => part);
    if (!takesAnyKeys) await Promise.all(all.map((part) => probe(current(), [part])));
  };

  return {
    place,
    takesAnyKeys: () => takesAnyKeys,
    async connect(onLost) {
      disconnect();
      try {
        await inWords(open(onLost));
      } catch (error) {
        if (lookups.size > 0) throw new Error(unresolved, { cause: error });
        throw error;
      }
    },
    send: (key, command) => inWords(Promise.try(() => current().send(key, command))),
    disconnect,
  };
}

interface Address {
  host: string;
  port: number;
}

/** Of the package: one to a server, or one to each of a cluster. */
interface Client {
  on(event: string, listener: (fault: Error) => void): unknown;
  connect(): Promise<unknown>;
}

interface Droppable extends Connection {
  /** Whatever was asked is rejected. */
  destroy(): void;
}

const toServer = (client: Server & { destroy(): void }): Droppable => ({
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

const toCluster = <Node>(cluster: Cluster<Node>): Droppable => ({
  send: (key, command) => cluster.sendCommand(key, false, command),
  servers: () => Promise.all(cluster.masters.map((node) => cluster.nodeClient(node))),
  destroy: () => cluster.destroy(),
});

const infoOf = async (server: Server) => String(await server.sendCommand(["INFO"]));

/** An evicted account would have its whole quota again. Managed services hide the configuration, but not this line. */
function refuseEviction(info: string, place: string): void {
  const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1];
  if (policy === "noeviction") return;
  throw new StoreFault(
    "unusable",
    `${place} has the maxmemory-policy '${policy ?? "unknown"}', by which it may forget counts. Set 'maxmemory-policy noeviction' in its configuration.`,
  );
}

const slotCount = 16_384;

/** @throws Error where no node has some of the slots of a cluster: accounts of some parts could not be counted. */
function refuseHoles(slots: readonly object[]): void {
  const covered = Object.keys(slots).length;
  if (covered < slotCount)
    throw new Error(
      `no node of its cluster has ${slotCount - covered} of its ${slotCount} slots; \`redis-cli --cluster check\` names them`,
    );
}

type Told = [host: Buffer | null, port: number];

/** Lists the addresses of primaries and replicas of a cluster, but for one that does not know its own. */
async function nodesOf(server: Server): Promise<Address[]> {
  const ranges = (await server.sendCommand(["CLUSTER", "SLOTS"])) as [number, number, ...Told[]][];
  return ranges
    .flatMap(([, , ...told]) => told.map(([host, port]) => ({ host: String(host), port })))
    .filter(({ host }) => !isUnknown(host));
}

const isUnknown = (host: string) => host === "" || host === "?" || host === "null";

/** The address of a node, as the package has it, where it lacks a host. */
function withHost(address: string, host: string): Address | undefined {
  const colon = address.lastIndexOf(":");
  if (!isUnknown(address.slice(0, colon))) return undefined;
  return { host, port: Number(address.slice(colon + 1)) };
}

const unique = (addresses: readonly Address[]): Address[] => [
  ...new Map(addresses.map(({ host, port }) => [`${host}:${port}`, { host, port }])).values(),
];

/**
 * Whether keys of these parts may be in one call: they are on one server, and no proxy is before several.
 * @throws Error where that server would refuse to count: a replica, one without memory, a user without rights.
 */
async function probe(connection: Connection, ofParts: readonly number[]): Promise<boolean> {
  const keys = ofParts.map((part) => `q:{${part}}:probe`);
  try {
    await connection.send(keys[0]!, ["EVAL", probeScript, String(keys.length), ...keys]);
    return true;
  } catch (error) {
    if (!(error as Error).message.startsWith("CROSSSLOT")) throw error;
    return false;
  }
}

function placeOf(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname.length > 1 ? pathname : ""}`;
}

/**
 * Looks up a name once at a time: each question keeps one of the few threads for names until the system's resolver gives
 * up, which may take much longer than whoever asked waits, and a database's name needs these threads, too.
 */
const lookupOnce =
  (lookups: Map<string, Promise<LookupAddress[]>>): LookupFunction =>
  (name, options, callback) => {
    const found = lookups.getOrInsertComputed(name, () =>
      promises.lookup(name, { ...options, all: true }).finally(() => lookups.delete(name)),
    );
    found.then(
      (addresses) => {
        if (options.all === true) callback(null, addresses);
        else callback(null, addresses[0]!.address, addresses[0]!.family);
      },
      (fault: Error) => callback(fault, []),
    );
  };

const unresolved = `the name of its host cannot be resolved within ${connectMilliseconds} ms`;
