/** The engines that several machines share, with records, accounts and keys in PostgreSQL, and the program as one instance on them. */
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { freePort } from "../test/support/ports.ts";
import { temporaryFolder } from "./clean-up.ts";
import { type Checkout, type Fixtures, importRecords, runCommand } from "./fixtures.ts";
import { type Cluster, findPostgres, initCluster, measuredSettings } from "./postgres.ts";
import { findRedis, spawnRedis } from "./redis.ts";
import { ask } from "./ask.ts";
import { requestsOf } from "./requests.ts";
import type { ProgramOrder } from "./program.ts";
import { type RunningServer, stop } from "./servers.ts";

/** PostgreSQL alone, or with Redis, which counts then. */
const engineSets = {
  postgres: ["PostgreSQL"],
  valkey: ["PostgreSQL", "Redis"],
} as const;
export type EngineSet = keyof typeof engineSets;
type EngineName = (typeof engineSets)["valkey"][number];

/** How many accounts, with a key each, ask the mix: as many as elsewhere. */
const keyCount = 200;

interface SharedInstallation {
  /** Name under which the load client knows the mix, asked with keys of these accounts. */
  requests: string;
  /** Starts engines on which nothing was asked yet, and instances that have the dataset in their cache; the first one has the others as siblings. */
  start(settings: ProgramOrder["settings"]): Promise<RunningServer>;
}

/**
 * Imports 65,000 records, and issues keys.
 * @param instances how many are started.
 * @throws NotInstalled
 */
export async function openInstallation(
  engineSet: EngineSet,
  instances: number,
  fixtures: Fixtures,
  checkout: Checkout,
): Promise<SharedInstallation> {
  const hasRedis = engineSet === "valkey";
  findPostgres();
  if (hasRedis) findRedis();
  const { cluster, url, folder, keys } = await makeInstallation(fixtures, checkout);
  const requests = `mix of ${engineSet} with keys of ${checkout.name}`;
  fixtures.load.prepare(requests, requestsOf(await fixtures.mix(), keys));
  return {
    requests,
    async start(settings) {
      const copy = cluster.copy();
      const postgres = await copy.start();
      const redisPort = await freePort();
      const redis = hasRedis
        ? await spawnRedis({ port: redisPort, folder: fixtures.emptyFolder() })
        : null;
      const startInstance = async () => {
        const dataDir = fixtures.emptyFolder();
        symlinkSync(join(folder, "datasets"), join(dataDir, "datasets"));
        const instance = await fixtures.start(checkout, {
          dataDir,
          settings: {
            ...settings,
            DATABASE_URL: url,
            ...(redis !== null && { COUNTERS_URL: `redis://127.0.0.1:${redisPort}` }),
          },
        });
        await untilReady(instance);
        return instance;
      };
      const first = await startInstance();
      const all = [first];
      while (all.length < instances) all.push(await startInstance());
      const [, ...siblings] = all;
      const helpers = new Map<EngineName, number>([["PostgreSQL", postgres.pid]]);
      if (redis !== null) helpers.set("Redis", redis.pid!);
      return {
        ...first,
        siblingPids: siblings.map(({ pid }) => pid),
        siblingPorts: siblings.map(({ port }) => port),
        helpers,
        lineCount: () => all.reduce((sum, one) => sum + one.lineCount(), 0),
        async stop() {
          await Promise.all(all.map((one) => one.stop()));
          await Promise.all([postgres.stop(), redis === null ? undefined : stop(redis)]);
          copy.remove();
        },
      };
    },
  };
}

/** @returns with the data folder of the command that imported, whose datasets are a cache. */
async function makeInstallation(fixtures: Fixtures, checkout: Checkout) {
  const { cluster, url } = await openCluster();
  const folder = fixtures.emptyFolder();
  const server = await cluster.start();
  const order = { dataDir: folder, settings: { DATABASE_URL: url } };
  await runCommand(checkout, order, ["migrate"]);
  const { path } = await fixtures.records(1);
  await importRecords(checkout, order, path);
  const { issueKeys } = await fixtures.keysOf(checkout);
  const keys = await issueKeys(checkout.root, folder, keyCount, url);
  await server.stop();
  return { cluster, url, folder, keys };
}

/** Reached over TCP as on another machine, and syncing as an operator's. @returns it, and the URL of its empty database. */
async function openCluster(): Promise<{ cluster: Cluster; url: string }> {
  const port = await freePort();
  const own = { listen_addresses: "127.0.0.1", port: String(port), fsync: "on" };
  const cluster = initCluster(temporaryFolder("bench"), { ...measuredSettings, ...own });
  return { cluster, url: `postgresql://postgres@127.0.0.1:${port}/postgres` };
}

const readyMillisecondsMax = 60_000;

/** Until it has a dataset. */
async function untilReady({ port }: RunningServer): Promise<void> {
  const deadline = performance.now() + readyMillisecondsMax;
  while ((await ask({ port, path: "/ready" })).status !== 200) {
    if (performance.now() > deadline) throw new Error("The instance did not get its dataset.");
    await wait(50);
  }
}
