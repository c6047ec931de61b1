/** Servers that count: PostgreSQL and Redis, one of each for a test file, and engines on them whose clock a test sets. */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { Redis } from "iovalkey";
import pg from "pg";
import type { Engine } from "#limits/engine.ts";
import { migratePostgres } from "#store/postgres-schema.ts";
import { openPostgresEngine } from "#limits/postgres-engine.ts";
import { openValkeyEngine } from "#limits/valkey-engine.ts";
import { temporaryFolder } from "../../bench/clean-up.ts";
import { findRedis, NoRedis, spawnRedis } from "../../bench/redis.ts";
import { freePort } from "./free-port.ts";
import { runSql, startPostgres, urlOf, whyNoPostgres } from "./postgres.ts";

/** A server, or a stand that several clients share; its clock stands still until it is set. */
export interface CountingServer {
  name: string;
  /** With the server's own clock. */
  url: string;
  /** One instance's engine on it. */
  openEngine(): Promise<Engine>;
  /** The same, counting by the clock of `setClock`. */
  openEngineWithClock(): Promise<Engine>;
  /** In µs since 1970. */
  setClock(microseconds: number): Promise<void>;
  /** Forgets all counts, and whatever else clients can make a server forget. */
  empty(): Promise<void>;
  pause(): void;
  resume(): void;
  /** Ends it, without losing a count: Redis by kill -9, PostgreSQL with its connections. */
  end(): Promise<void>;
  start(): Promise<void>;
}

/**
 * Why no Redis can be started here; null where one can.
 * @throws Error in CI: there a skipped test would look like one that passed.
 */
export function whyNoRedis(): string | null {
  try {
    findRedis();
    return null;
  } catch (error) {
    if (!(error instanceof NoRedis) || process.env["CI"]) throw error;
    return `skipped: ${error.message}`;
  }
}

async function untilItAnswers(what: string, ask: () => Promise<unknown>): Promise<void> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    try {
      await ask();
      return;
    } catch (error) {
      if (performance.now() > deadline) throw new Error(`${what} did not start`, { cause: error });
      await wait(10);
    }
  }
}

export interface RedisServer extends CountingServer {
  port: number;
  /** Runs a command on a connection of its own. */
  ask(...command: [string, ...string[]]): Promise<unknown>;
}

const luaClock = "local clock = tonumber(redis.call('GET', 'clock') or '0')";

/** Starts a redis-server, which ends with this process. @param args as on its command line. */
export async function startRedis(args: readonly string[] = []): Promise<RedisServer> {
  const port = await freePort();
  const folder = temporaryFolder("test");
  const password = /--requirepass (\S+)/.exec(args.join(" "))?.[1];
  const url = `redis://${password === undefined ? "" : `:${password}@`}127.0.0.1:${port}`;
  let child: ChildProcess;
  let admin: Redis | null = null;
  const start = async () => {
    child = await spawnRedis({ port, folder, args });
    admin = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
    admin.on("error", () => {});
    await admin.connect();
  };
  await start();
  return {
    name: "Redis",
    port,
    url,
    openEngine: () => openValkeyEngine(url),
    openEngineWithClock: () => openValkeyEngine(url, luaClock),
    async setClock(microseconds) {
      await admin!.set("clock", microseconds);
    },
    async empty() {
      await admin!.flushall();
      await admin!.call("SCRIPT", "FLUSH");
    },
    ask: (name, ...rest) => admin!.call(name, ...rest),
    pause: () => void child.kill("SIGSTOP"),
    resume: () => void child.kill("SIGCONT"),
    async end() {
      admin?.disconnect();
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    },
    start,
  };
}

interface RedisCluster {
  /** Of one of its nodes. */
  url: string;
  port: number;
  end(): Promise<void>;
}

export async function startRedisCluster(nodeCount = 3): Promise<RedisCluster> {
  const nodes = await Promise.all(
    Array.from({ length: nodeCount }, async () => {
      const busPort = await freePort();
      const node = await startRedis([
        "--cluster-enabled",
        "yes",
        "--cluster-port",
        `${busPort}`,
        // Otherwise a node learns its own address, and tells it, only once another one has met it.
        "--cluster-announce-ip",
        "127.0.0.1",
      ]);
      return { ...node, busPort };
    }),
  );
  const [first] = nodes as [(typeof nodes)[0]];
  for (const [i, { ask, port, busPort }] of nodes.entries()) {
    const [from, to] = [i, i + 1].map((one) => Math.floor((one * 16_384) / nodeCount));
    await ask("CLUSTER", "ADDSLOTSRANGE", String(from), String(to! - 1));
    await first.ask("CLUSTER", "MEET", "127.0.0.1", String(port), String(busPort));
  }
  await untilItAnswers("the cluster", async () => {
    for (const { ask } of nodes) {
      const info = String(await ask("CLUSTER", "INFO"));
      for (const line of [
        "cluster_state:ok",
        `cluster_known_nodes:${nodeCount}`,
        "cluster_slots_ok:16384",
      ])
        if (!info.includes(line)) throw new Error(info);
    }
  });
  return {
    url: first.url,
    port: first.port,
    end: async () => void (await Promise.all(nodes.map(({ end }) => end()))),
  };
}

export interface PostgresServer extends CountingServer {
  /** Runs statements as the superuser on a connection that stays open. */
  sql(text: string): Promise<Record<string, unknown>[]>;
}

const testClock = `
create table test_clock (now bigint not null);
insert into test_clock values (0);
create or replace function quota_now() returns bigint language sql volatile as $$ select now from test_clock $$;
`;

/** Starts a PostgreSQL with two databases of counts, of which one has the clock of `setClock`. */
export async function startCountingPostgres(): Promise<PostgresServer> {
  const server = await startPostgres();
  const [own, clocked] = ["counts", "clocked"].map((name) => urlOf(server, name)) as [
    string,
    string,
  ];
  let admins: Record<"own" | "clocked", pg.Client>;
  const connected = async (url: string) => {
    const client = new pg.Client({ connectionString: url });
    client.on("error", () => {});
    await client.connect();
    return client;
  };
  const connectAdmins = async () => {
    admins = { own: await connected(own), clocked: await connected(clocked) };
  };
  await runSql(server.url, "create database counts");
  await runSql(server.url, "create database clocked");
  for (const url of [own, clocked]) await migratePostgres({ url });
  await connectAdmins();
  await admins!.clocked.query(testClock);
  return {
    name: "PostgreSQL",
    url: own,
    openEngine: async () => openPostgresEngine({ url: own }),
    openEngineWithClock: async () => openPostgresEngine({ url: clocked }),
    async setClock(microseconds) {
      await admins.clocked.query("update test_clock set now = $1", [microseconds]);
    },
    async empty() {
      for (const admin of Object.values(admins))
        await admin.query("truncate quota_count, quota_charge");
    },
    async sql(text) {
      return (await admins.own.query(text)).rows as Record<string, unknown>[];
    },
    pause: server.pause,
    resume: server.resume,
    async end() {
      for (const admin of Object.values(admins)) await admin.end();
      await server.stop();
    },
    async start() {
      await server.start();
      await connectAdmins();
    },
  };
}

/** What each guarantee of shared counters is tried on. */
export const countingServers: readonly {
  name: "Redis" | "PostgreSQL";
  skip: string | false;
  start(): Promise<CountingServer>;
}[] = [
  { name: "Redis", skip: whyNoRedis() ?? false, start: () => startRedis() },
  { name: "PostgreSQL", skip: whyNoPostgres() ?? false, start: startCountingPostgres },
];
