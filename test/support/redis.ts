/** Redis for tests: one server, or a cluster of them. */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createClient, type RedisClientType } from "@redis/client";
import { openValkeyEngine } from "#limits/valkey-engine.ts";
import { temporaryFolder } from "../../bench/clean-up.ts";
import { whyNot } from "../../bench/not-installed.ts";
import { findRedis, spawnRedis } from "../../bench/redis.ts";
import type { CountingServer } from "./counting-servers.ts";
import { eventually } from "./eventually.ts";
import { freePort } from "./ports.ts";

/** Returns why no Redis can be started here; null where one can. */
export const whyNoRedis = () => whyNot(findRedis);

/** A busy machine may take so many milliseconds. */
const patience = 60_000;

export interface RedisServer extends CountingServer {
  port: number;
  /** Runs a command on a connection of its own. */
  ask(...command: string[]): Promise<unknown>;
}

const luaClock = "local clock = tonumber(redis.call('GET', 'clock') or '0')";

/** Starts a redis-server, which ends with this process. @param args as on its command line. */
export async function startRedis(args: readonly string[] = []): Promise<RedisServer> {
  const port = await freePort();
  const folder = temporaryFolder("test");
  const password = /--requirepass (\S+)/.exec(args.join(" "))?.[1];
  const url = `redis://${password === undefined ? "" : `:${password}@`}127.0.0.1:${port}`;
  let child: ChildProcess;
  let admin: RedisClientType<{}, {}, {}, 2> | null = null;
  const start = async () => {
    child = await spawnRedis({ port, folder, args });
    // Replies are lists, as redis-cli prints them.
    admin = createClient({ url, RESP: 2, socket: { reconnectStrategy: false } });
    admin.on("error", () => {});
    await admin.connect();
  };
  await start();
  return {
    name: "Redis",
    port,
    url,
    openEngine: () => openValkeyEngine(url),
    openEngineWithClock: () => openValkeyEngine(url, { readClock: luaClock }),
    async setClock(microseconds) {
      await admin!.set("clock", String(microseconds));
    },
    async empty() {
      await admin!.flushAll();
      await admin!.scriptFlush();
    },
    ask: (...command) => admin!.sendCommand(command),
    pause: () => void child.kill("SIGSTOP"),
    resume: () => void child.kill("SIGCONT"),
    async end() {
      admin?.destroy();
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    },
    start,
  };
}

/** @param replicas whether each node has one, which takes over a second after its primary ended. */
export async function startRedisCluster(nodeCount = 3, replicas = false) {
  const count = replicas ? 2 * nodeCount : nodeCount;
  const nodes = await Promise.all(
    Array.from({ length: count }, async () => {
      const busPort = await freePort();
      const node = await startRedis([
        "--cluster-enabled",
        "yes",
        "--cluster-port",
        `${busPort}`,
        // Otherwise a node learns its own address, and tells it, only once another one has met it.
        "--cluster-announce-ip",
        "127.0.0.1",
        ...(replicas ? ["--cluster-node-timeout", "1000", "--repl-diskless-sync-delay", "0"] : []),
      ]);
      return { ...node, busPort };
    }),
  );
  const [first] = nodes as [(typeof nodes)[0]];
  for (const [i, { ask, port, busPort }] of nodes.entries()) {
    const [from, to] = [i, i + 1].map((one) => Math.floor((one * 16_384) / nodeCount));
    if (i < nodeCount) await ask("CLUSTER", "ADDSLOTSRANGE", String(from), String(to! - 1));
    await first.ask("CLUSTER", "MEET", "127.0.0.1", String(port), String(busPort));
  }
  await eventually(async () => {
    for (const { ask } of nodes) {
      const info = String(await ask("CLUSTER", "INFO"));
      for (const line of [
        "cluster_state:ok",
        `cluster_known_nodes:${count}`,
        "cluster_slots_ok:16384",
      ])
        if (!info.includes(line)) throw new Error(info);
    }
  }, patience);
  for (const [i, { ask }] of nodes.slice(nodeCount).entries()) {
    const primary = String(await nodes[i]!.ask("CLUSTER", "MYID"));
    await eventually(() => ask("CLUSTER", "REPLICATE", primary), patience);
    await eventually(async () => {
      const info = String(await ask("INFO", "replication"));
      if (!info.includes("master_link_status:up")) throw new Error(info);
    }, patience);
  }
  return {
    url: first.url,
    port: first.port,
    /** Runs a command on one of its nodes. */
    ask: first.ask,
    /** Primaries, then a replica of each where there are any. */
    nodes,
    end: async () => void (await Promise.all(nodes.map(({ end }) => end()))),
  };
}
