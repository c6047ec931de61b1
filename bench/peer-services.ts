/** The services that users would write instead: how each is started beside its database, on the same records and keys. */
import { execFileSync, fork } from "node:child_process";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { openCatalogue } from "#datasets/catalogue.ts";
import { loadGeneration } from "#datasets/served.ts";
import { freePort } from "../test/support/ports.ts";
import { endWithUs } from "./clean-up.ts";
import { type Fixtures, remember } from "./fixtures.ts";
import { peerLines } from "./peer-records.ts";
import { makeCluster } from "./postgres.ts";
import { spawnRedis } from "./redis.ts";
import { messageFrom, type RunningServer, stop } from "./servers.ts";

interface PeerKind {
  settings?: Readonly<Record<string, string>>;
  /** Is there a Redis for it? */
  hasRedis: boolean;
  /** How many requests it is asked, as a share of those of the program. */
  share: number;
}

const peerKinds = {
  /** Remembers answers, and counts in its own memory; it writes no log and records nothing. */
  lean: { hasRedis: false, share: 1 },
  /** Does what the program does beside. */
  same: { hasRedis: true, share: 1 },
  /** Likewise, and compresses each answer anew, which takes far longer than the code that V8 would settle. */
  compressing: { hasRedis: true, share: 1 / 8, settings: { COMPRESS: "true" } },
} satisfies Record<string, PeerKind>;
export type PeerName = keyof typeof peerKinds;

/**
 * Resolves once its answers have been compared with the program's.
 * @throws NotInstalled; Error naming the first question whose answers differ.
 */
export async function openPeer(name: PeerName, fixtures: Fixtures) {
  const { settings, hasRedis, share }: PeerKind = peerKinds[name];
  const { service, cluster, environment, published } = await install(fixtures);
  const start = async (): Promise<RunningServer> => {
    const database = await cluster.start();
    const redisPort = await freePort();
    const redis = hasRedis
      ? await spawnRedis({ port: redisPort, folder: fixtures.emptyFolder() })
      : null;
    const child = endWithUs(
      fork(service, {
        // Its log is read, as somebody collects it.
        stdio: ["ignore", "pipe", "inherit", "ipc"],
        env: {
          PATH: process.env["PATH"],
          NODE_ENV: "production",
          DATABASE_URL: database.url,
          ...environment,
          ...(redis !== null && { COUNTERS_URL: `redis://127.0.0.1:${redisPort}` }),
          ...settings,
        },
      }),
    );
    child.stdout!.resume();
    return {
      pid: child.pid!,
      port: await messageFrom<number>(child),
      siblingPids: [database.pid],
      ...(redis !== null && { helpers: new Map([["Redis", redis.pid!]]) }),
      async stop() {
        await stop(child);
        await Promise.all([database.stop(), redis === null ? undefined : stop(redis)]);
      },
    };
  };
  fixtures.tell(`comparing the answers of the peer '${name}' with the program's`);
  const dataDir = fixtures.serverFolder(published);
  const servers = [await start(), await fixtures.start(fixtures.checkouts[0]!, { dataDir })];
  try {
    for (const target of (await fixtures.mix()).targets) {
      const [theirs, ours] = await Promise.all(
        servers.map(({ port }) => foundBy(port, target, published.keys[0]!)),
      );
      if (theirs !== ours)
        throw new Error(`${name} answers ${target} with ${theirs}; the program with ${ours}.`);
    }
  } finally {
    for (const server of servers) await server.stop();
  }
  return { start, share };
}

/** Returns how many records were found and which are on the page, in their order: else other work would be compared. */
async function foundBy(port: number, target: string, key: string): Promise<string> {
  const headers = { "x-api-key": key };
  const response = await fetch(`http://127.0.0.1:${port}${target}`, { headers });
  const { data, pagination } = (await response.json()) as {
    data: { id: string }[];
    pagination: { total: number };
  };
  return `${pagination.total} in all, here ${data.map(({ id }) => id).join(" ")}`;
}

/** Installs their packages, and makes a database of the records. */
const install = remember(async (fixtures: Fixtures) => {
  const folder = fixtures.emptyFolder();
  cpSync(join(import.meta.dirname, "peers"), folder, { recursive: true });
  fixtures.tell("installing the packages of the peers");
  execFileSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
  });
  fixtures.tell("loading the records into PostgreSQL");
  const published = await fixtures.published(fixtures.checkouts[0]!, 1);
  const catalogue = openCatalogue(join(published.dataDir, "datasets"));
  const current = catalogue.current()!;
  const parts = loadGeneration(catalogue.pathOf(current.version), current);
  const lines = [...peerLines(parts, published.keys)].join("");
  return {
    service: join(folder, "fastify-service.js"),
    cluster: await makeCluster(join(folder, "schema.sql"), lines),
    environment: { DATASET_VERSION: parts.version, DATASET_UPDATED_AT: parts.updatedAt },
    published,
  };
});
