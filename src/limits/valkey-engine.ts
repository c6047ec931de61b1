/**
 * Counts in Valkey or Redis, on a server or a cluster, with a script that decides many requests in one call. Checks
 * that the server can count, and puts its faults into words.
 */
import { createHash, randomUUID } from "node:crypto";
import { type LookupAddress, promises } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { StoreFault } from "#store/store-fault.ts";
import type { Charge, Decision, Engine, Group } from "./shared-counters.ts";
import { chargeScript, probeScript, takeScript } from "./valkey-scripts.ts";

/**
 * Number of parts that keys are divided into. Keys with the same part in braces are on one node of a cluster, as all
 * keys of one call must be.
 */
const parts = 64;

const lookEveryMilliseconds = 1000;

interface ValkeyOptions {
  /** Called if a server has lost its counts, for example by FLUSHALL or a restart without saved data. */
  onEmptied?: () => void;
  /** Lua that sets `clock`, for tests only. */
  readClock?: string;
}

/**
 * Opens an engine, which connects only in `connect`.
 * @param url `valkey:` or `redis:`, with TLS `valkeys:` or `rediss:`. Faults never contain its password.
 */
export async function openValkeyEngine(
  url: string,
  { onEmptied, readClock }: ValkeyOptions = {},
): Promise<Engine> {
  const take = scriptOf(takeScript(readClock));
  const charge = scriptOf(chargeScript(readClock));
  const { place, connect, disconnect, send, takesAnyKeys } = await openConnection(url);

  const call = async (
    script: ReturnType<typeof scriptOf>,
    keys: readonly string[],
    values: readonly string[],
  ): Promise<unknown> => {
    const given = [String(keys.length), ...keys, ...values];
    try {
      return await send(keys[0]!, ["EVALSHA", script.digest, ...given]);
    } catch (error) {
      // A restarted server, or a replica that took over, may not have the script yet.
      if (!(error as Error).message.startsWith("NOSCRIPT")) throw error;
      return send(keys[0]!, ["EVAL", script.text, ...given]);
    }
  };
  let seenMarks: string | null = null;
  let lookedAt = 0;
  /** Detects lost counts by marks, which a server loses only together with its counts. Sets missing marks. */
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
    // The call in progress reports a failed connection.
    lookAtMarks().catch(() => {});
  };
  const decideCall = async (called: readonly Group[]): Promise<Decision[]> => {
    const keys = called.map(({ account }) => keyOf(account));
    const values = called.flatMap(({ requests, quotas: { minute, hour, day } }) =>
      [requests, minute, hour, day].map(String),
    );
    try {
      const decisions = await call(take, keys, values);
      // A proxy may answer something else, which must neither admit nor refuse anybody.
      if (areDecisions(decisions, called.length)) return decisions;
      throw new Error(
        "its answer does not come from the counting script; a proxy may have sent it",
      );
    } catch (error) {
      // While a part's keys move to another node, each key is on one of the two nodes.
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
    groupsMax: 128,
    async decide(groups) {
      lookSometimes();
      if (takesAnyKeys()) return decideCall(groups);
      const decisions = new Map<Group, Decision>();
      const decidePart = async (ofPart: readonly Group[]) => {
        const decided = await decideCall(ofPart);
        for (const [i, group] of ofPart.entries()) decisions.set(group, decided[i]!);
      };
      await Promise.all([...byPart(groups).values()].map(decidePart));
      return groups.map((group) => decisions.get(group)!);
    },
    async charge({ instance, number, accounts }: Charge) {
      const chargePart = ([part, ofPart]: [number, Charge["accounts"]]) =>
        call(
          charge,
          [`q:{${part}}:charged:${instance}`, ...ofPart.map(({ account }) => keyOf(account))],
          [String(number), ...ofPart.map(({ ages }) => ages.join(" "))],
        );
      await Promise.all([...byPart(accounts)].map(chargePart));
    },
  };
}

const scriptOf = (text: string) => ({
  text,
  digest: createHash("sha1").update(text).digest("hex"),
});

/** Reports whether an answer is a list of this many decisions, each of ten whole numbers. */
const areDecisions = (answer: unknown, count: number): answer is Decision[] =>
  Array.isArray(answer) &&
  answer.length === count &&
  answer.every((one) => Array.isArray(one) && one.length === 10 && one.every(Number.isInteger));

const byPart = <One extends { account: number }>(all: readonly One[]) =>
  Map.groupBy(all, ({ account }) => account % parts);

const keyOf = (account: number) => `q:{${account % parts}}:${account}`;

/** Longest wait for a connection in ms, which error messages quote. */
const connectMilliseconds = 500;

/** A connection to one server, or to each server of a cluster. */
interface Connection {
  /** Sends a command. @param key determines which server of a cluster gets it. */
  send(key: string, command: string[]): Promise<unknown>;
  /** Closes the connection and rejects every command in progress. */
  destroy(): void;
}

/**
 * Prepares a connection, which `connect` opens. An error's message continues a sentence that begins with the place. A
 * StoreFault's message is a whole sentence. No message contains the password.
 */
async function openConnection(url: string) {
  const { createClient, createCluster, RedisClient } = await import("@redis/client");
  const { socket, ...account } = RedisClient.parseURL(url.replace(/^valkey/, "redis"));
  const { host, port = 6379, tls } = socket as { host: string; port?: number; tls: boolean };
  const named = new URL(url);
  const placeOfUrl = `${named.protocol}//${named.host}${named.pathname}`;
  let isCluster = false;
  /** Returns the name of the server, or of the whole cluster, because the node that fails is not always known. */
  const place = () => (isCluster ? `the cluster of ${placeOfUrl}` : placeOfUrl);
  let connection: Connection | null = null;
  let takesAnyKeys = false;
  /** Addresses to ask for the nodes of a cluster: the one in the URL, and those of the nodes last known. */
  let addresses: Address[] = [{ host, port }];

  const lookups = new Map<string, Promise<LookupAddress[]>>();
  // The caller decides how long to wait, and then drops the connection.
  const common = { RESP: 2, commandOptions: { timeout: 0 } } as const;
  /** Returns options for a client that refuses commands while it is disconnected, and never reconnects by itself. */
  const optionsOf = (address: Address) =>
    ({
      ...account,
      disableOfflineQueue: true,
      disableClientInfo: true,
      maintNotifications: "disabled",
      socket: {
        ...address,
        // Some services distinguish the many servers behind one address by this name.
        ...(tls && { tls, ...(isIP(host) === 0 && { servername: host }) }),
        connectTimeout: connectMilliseconds,
        lookup: lookupOnce(lookups),
        keepAliveInitialDelay: 10_000,
        reconnectStrategy: false,
      },
    }) as const;

  const worded = (fault: Error) => faultInWords(fault, place(), account.password);
  const inWords = async <T>(answer: Promise<T>): Promise<T> => {
    try {
      return await answer;
    } catch (error) {
      throw worded(error as Error);
    }
  };
  const sendNow: Connection["send"] = async (key, command) => {
    if (connection === null) throw new Error(dropped);
    return connection.send(key, command);
  };
  const disconnect = () => {
    const old = connection;
    connection = null;
    old?.destroy();
  };

  /** Connects to the server, or to each server of its cluster, and checks that all can count. */
  const open = async (onLost: (fault: Error) => void) => {
    let isOpen = false;
    /** Reason why the connection ended. The errors of a cluster and of commands do not contain it. */
    let cause: Error | undefined;
    /** Uses a client as the connection, and connects it. @throws Error if that fails, or if `disconnect` dropped it. */
    const use = async (client: Client, opened: Connection) => {
      connection = opened;
      // An error event without a listener would end this process.
      for (const event of ["error", "node-error"] as const)
        client.on(event, (fault) => {
          cause ??= fault;
          if (!isOpen || connection !== opened) return;
          disconnect();
          onLost(worded(fault));
        });
      await client.connect();
      // One reachable address of a cluster is enough, so faults at the others do not matter.
      cause = undefined;
      if (connection === opened) return;
      opened.destroy();
      throw new Error(dropped);
    };
    try {
      if (!isCluster) {
        const single = createClient({ ...common, ...optionsOf({ host, port }) });
        await use(single, {
          send: (_, command) => single.sendCommand(command),
          destroy: () => single.destroy(),
        });
        const info = await infoOf(single);
        refuseEviction(info, place());
        isCluster = /^redis_mode:cluster/m.test(info);
        takesAnyKeys = !isCluster && (await probe(sendNow, [0, 1]));
        if (isCluster) disconnect();
      }
      if (isCluster) {
        const cluster = createCluster({
          ...common,
          rootNodes: addresses.map(optionsOf),
          defaults: optionsOf({ host, port }),
          nodeAddressMap: (address) => withHost(address, host),
        });
        await use(cluster, {
          send: (key, command) => cluster.sendCommand(key, false, command),
          destroy: () => cluster.destroy(),
        });
        refuseHoles(cluster.slots);
        const servers = await Promise.all(cluster.masters.map((node) => cluster.nodeClient(node)));
        for (const info of await Promise.all(servers.map(infoOf))) refuseEviction(info, place());
        addresses = [{ host, port }, ...(await nodesOf(servers[0]!))];
      }
      const all = Array.from({ length: parts }, (_, part) => part);
      if (!takesAnyKeys) await Promise.all(all.map((part) => probe(sendNow, [part])));
      isOpen = true;
    } catch (error) {
      throw error instanceof StoreFault ? error : (cause ?? error);
    }
  };

  return {
    /** Returns the name of the server or cluster for messages, as in `Engine.place`. */
    place,
    /** Reports whether one call can use keys of all parts. */
    takesAnyKeys: () => takesAnyKeys,
    /** Connects, as `Engine.connect` does. */
    async connect(onLost: (fault: Error) => void): Promise<void> {
      disconnect();
      try {
        await inWords(open(onLost));
      } catch (error) {
        if (lookups.size > 0) throw new Error(unresolved, { cause: error });
        throw error;
      }
    },
    send: (key: string, command: string[]) => inWords(sendNow(key, command)),
    disconnect,
  };
}

interface Address {
  host: string;
  port: number;
}

/** Client of `@redis/client`, for one server or for each server of a cluster. */
interface Client {
  on(event: string, listener: (fault: Error) => void): unknown;
  connect(): Promise<unknown>;
}

interface Server {
  sendCommand(command: readonly string[]): Promise<unknown>;
}

const infoOf = async (server: Server) => String(await server.sendCommand(["INFO"]));

/**
 * Refuses a server that may evict keys, because an evicted account would have its whole quota again. Reads the policy
 * from INFO, because managed services may hide the configuration but not this line.
 * @throws StoreFault if the server may evict keys.
 */
function refuseEviction(info: string, place: string): void {
  const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1];
  if (policy === "noeviction") return;
  throw new StoreFault(
    "unusable",
    `${place} has the maxmemory-policy '${policy ?? "unknown"}', so it may forget counts. Set 'maxmemory-policy noeviction' in its configuration.`,
  );
}

const slotCount = 16_384;

/** Checks that nodes cover all slots of a cluster. @throws Error if some accounts could not be counted. */
function refuseHoles(slots: readonly object[]): void {
  const covered = Object.keys(slots).length;
  if (covered < slotCount)
    throw new Error(
      `no node of its cluster serves ${slotCount - covered} of its ${slotCount} slots; \`redis-cli --cluster check\` names them`,
    );
}

/** Lists the addresses of a cluster's primaries and replicas, except for nodes that do not know their own host. */
async function nodesOf(server: Server): Promise<Address[]> {
  type Told = [host: string | null, port: number];
  const ranges = (await server.sendCommand(["CLUSTER", "SLOTS"])) as [number, number, ...Told[]][];
  return ranges
    .flatMap(([, , ...told]) => told.map(([host, port]) => ({ host: String(host), port })))
    .filter(({ host, port }) => !withoutHost.test(`${host}:${port}`));
}

/** Pattern of the address of a node that does not know its own host. */
const withoutHost = /^(?:\?|null)?:(\d+)$/;

/** Adds a host to the address of a node. Returns undefined if the address already has one. */
function withHost(address: string, host: string): Address | undefined {
  const [, port] = withoutHost.exec(address) ?? [];
  return port === undefined ? undefined : { host, port: Number(port) };
}

/**
 * Reports whether one call can use keys of all these parts. A proxy in front of several servers may not allow that.
 * @throws Error if the server would refuse to count: a replica, no memory left, a user without rights.
 */
async function probe(send: Connection["send"], ofParts: readonly number[]): Promise<boolean> {
  const keys = ofParts.map((part) => `q:{${part}}:probe`);
  try {
    await send(keys[0]!, ["EVAL", probeScript, String(keys.length), ...keys]);
    return true;
  } catch (error) {
    if (!(error as Error).message.startsWith("CROSSSLOT")) throw error;
    return false;
  }
}

/**
 * Returns a function that looks up each name at most once at a time. A look-up keeps one of the few resolver threads
 * busy until the system gives up, which may take much longer than the caller waits. Looking up a database's name needs
 * these threads, too.
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

const unresolved = `its host name cannot be resolved within ${connectMilliseconds} ms`;

const dropped = "the connection was given up";
const tlsRemedy =
  "If the server does not use TLS at this port, begin COUNTERS_URL with valkey:// or redis://; otherwise check its TLS versions, and that it asks for no client certificate";

/**
 * Patterns of messages from servers, Node and `@redis/client`, each with its meaning; `$&` stands for the matched text.
 * A script's error may have other text before the message.
 */
const meanings: readonly (readonly [said: RegExp, meaning: string])[] = [
  [/^connect ECONNREFUSED .+/, "nothing listens at this address ($&)"],
  [
    /^Connection timeout$|^connect ETIMEDOUT.*|^connect E\w+UNREACH.*/,
    `no connection within ${connectMilliseconds} ms: the server is down, a firewall drops packets, or only one side speaks TLS`,
  ],
  [/^getaddrinfo (?:ENOTFOUND|EAI_AGAIN) .+/, "its host name cannot be resolved ($&)"],
  [
    /^Socket closed unexpectedly$|^(?:connect|read|write) E(?:CONNRESET|PIPE)\b.*/,
    "it closed the connection; its log may say why",
  ],
  [
    /^Client network socket disconnected before secure TLS connection was established$/,
    `it closed the connection during the TLS handshake. ${tlsRemedy}`,
  ],
  [/.*error:\w+:SSL routines:[^:]*:([^:]+).*/s, `the TLS handshake failed: $1. ${tlsRemedy}`],
  [
    /^Hostname\/IP does not match .+/,
    "its certificate is for a host other than the one in COUNTERS_URL",
  ],
  [
    /^((?:self-signed |unable to |certificate )[^;]+).*/s,
    "its certificate is not accepted: $1. To trust another authority, put its certificate into a file, and name the file in NODE_EXTRA_CA_CERTS",
  ],
  [/^(?:Disconnects client|The client is (?:closed|offline)|Cluster closed)$/, dropped],
  [/^Unknown RESP type.*/s, "it speaks the protocol of neither Valkey nor Redis"],
  [
    /^ERR unknown command \W?(\w+).*/s,
    "it does not know the command $1, which Valkey has and Redis has since version 6.2",
  ],
  [/.*\bOOM command not allowed.*/s, "it has no memory left for counts; raise its maxmemory"],
  [/.*\bREADONLY .*/s, "it is a replica, which cannot count; COUNTERS_URL has to name the primary"],
  [/.*\bMISCONF .*/s, "it cannot write to its disk and so takes no counts; its log says why"],
  [
    /.*\bNOREPLICAS .*/s,
    "it has fewer replicas than its min-replicas-to-write and so takes no counts",
  ],
  [/^LOADING .*/s, "it is still loading its data"],
  [/^BUSY .*/s, "it is busy with a script; `redis-cli script kill` ends the script"],
  [/^MASTERDOWN .*/s, "it is a replica without its primary; COUNTERS_URL has to name a primary"],
  [/^CLUSTERDOWN .*/s, "its cluster is down; `redis-cli --cluster check` says why"],
];

/** Patterns of faults that the operator has to fix. Each meaning continues a sentence that begins with the place. */
const misfits: typeof meanings = [
  [
    /^ERR (?:Client sent )?AUTH\b.*/s,
    "refuses the password in COUNTERS_URL, because its default user has none; leave the password out",
  ],
  [
    /^(?:NOAUTH|WRONGPASS|ERR invalid password)\b.*/s,
    "refuses the user or password in COUNTERS_URL: $&",
  ],
  [
    /.*\bNOPERM\b.*|.*\bThe user executing the script can't run this command.*/s,
    "does not give the user of COUNTERS_URL all the rights that docs/running.md lists",
  ],
  [/^ERR DB index is out of range$/, "has no database with the number in COUNTERS_URL"],
  [
    /^ERR SELECT is not allowed in cluster mode$/,
    "is a cluster, which has only database 0; leave the number out of COUNTERS_URL",
  ],
];

/**
 * Returns an error whose message continues a sentence that begins with the place. Returns a StoreFault, whose message
 * is a whole sentence, if the operator has to fix something. Neither message contains the password.
 */
function faultInWords(fault: Error, place: string, password: string | undefined): Error {
  if (fault instanceof StoreFault) return fault;
  // Node collects one error for each of the host's addresses.
  const { message } = fault instanceof AggregateError ? (fault.errors[0] as Error) : fault;
  const findIn = (known: typeof meanings) => {
    const found = known.find(([said]) => said.test(message));
    return found && message.replace(...found).trim();
  };
  const misfit = findIn(misfits);
  if (misfit !== undefined)
    return new StoreFault("unusable", `${place} ${misfit.replace(/\.$/, "")}.`);
  // An unknown message may repeat what was sent, so the password is masked in it.
  const asItCame = password === undefined ? message : message.replaceAll(password, "***");
  return new Error(findIn(meanings) ?? asItCame.trim());
}
