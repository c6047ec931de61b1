/** Servers that share a PostgreSQL and, where wanted, a Redis, each of which reaches PostgreSQL by a way of its own. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { createAccount } from "#accounts/accounts.ts";
import { issueKey } from "#keys/keys.ts";
import type { Quotas } from "#limits/policy.ts";
import { migratePostgres } from "#store/postgres-schema.ts";
import { openControl } from "#store/stores.ts";
import { temporaryFolder } from "../bench/clean-up.ts";
import { whyNot } from "../bench/not-installed.ts";
import { findPostgres, initCluster, signalPostgres } from "../bench/postgres.ts";
import { type Server, startProgram } from "../bench/program.ts";
import { writeRecords } from "../bench/records.ts";
import { findRedis } from "../bench/redis.ts";
import { type RedisServer, startRedis } from "../test/support/redis.ts";
import { type FarAway, openFarAway } from "../test/support/far-away.ts";
import { holdSocket } from "../test/support/ports.ts";
import { ask } from "../bench/ask.ts";
import { importOf, serveQuietly, type Work } from "./work.ts";

/** Returns why they cannot be started here; null where they can. */
export const whyNoEngines = () => whyNot(findPostgres) ?? whyNot(findRedis);

export const path = "/fetch-projects?limit=5";
const recordCount = 5000;

export interface OneOfSeveral extends Server {
  way: FarAway;
  countersMode(): Promise<string>;
}

export interface SeveralServers {
  servers: readonly OneOfSeveral[];
  redis: RedisServer;
  postgres: {
    /** Of the superuser, past the ways of the servers. */
    url: string;
    run(sql: string): Promise<void>;
    stop(): Promise<void>;
    /** Ends all its processes at once by kill -9. */
    kill(): Promise<void>;
    start(): Promise<void>;
    signal(name: "SIGSTOP" | "SIGCONT"): void;
  };
  /** A key of a new account. */
  newKey(quotas?: Partial<Quotas>): Promise<{ id: string; key: string }>;
  end(): Promise<void>;
}

/**
 * @param counters who counts for them.
 * @param settings of each server, besides.
 */
export async function startSeveral(
  work: Work,
  counters: "PostgreSQL" | "Redis",
  settings: readonly Record<string, string>[],
): Promise<SeveralServers> {
  const undone: (() => unknown)[] = [];
  const t = { after: (undo: () => unknown) => void undone.push(undo) };
  // Its folder must be one that PostgreSQL's user may enter, unlike those of the work.
  const cluster = initCluster(temporaryFolder("faults"), {
    shared_buffers: "32MB",
    max_connections: "80",
  });
  let server = await cluster.start();
  const data = decodeURIComponent(new URL(server.url).hostname);
  const url = server.url.replace(/\/postgres$/, "/records");
  await runSql(server.url, "create role serving login");
  await runSql(server.url, "create database records");
  await migratePostgres(url);
  await runSql(
    url,
    "grant select, insert, update, delete on all tables in schema public to serving",
  );
  const dataDir = work.folder();
  const source = await writeRecords(join(dataDir, "records.ndjson"), recordCount, 1);
  const order = { dataDir, settings: { DATABASE_URL: url } };
  const { exitCode, err } = await startProgram(importOf(source.path), order).ended;
  if (exitCode !== 0) throw new Error(`import: exit ${exitCode}: ${err}`);
  const redis = await startRedis();
  const control = await openControl("/nowhere", { databaseUrl: url });
  let accounts = 0;
  const newKey = async (quotas: Partial<Quotas> = {}) => {
    const now = Date.now();
    const account = await createAccount(control, { name: `account ${++accounts}`, quotas, now });
    return issueKey(control, { account, name: "try", expiresAt: null, now });
  };
  const startOne = async (own: Record<string, string>): Promise<OneOfSeveral> => {
    const way = await openFarAway(t, join(data, ".s.PGSQL.5432"));
    const admin = holdSocket();
    t.after(() => admin.close());
    const running = await serveQuietly({
      dataDir: work.folder(),
      sockets: [{ fd: admin.fd, name: "admin" }],
      settings: {
        DATABASE_URL: `postgres://serving@127.0.0.1:${way.port}/records`,
        ...(counters === "Redis" && { COUNTERS_URL: redis.url }),
        ...own,
      },
    });
    const countersMode = async () => {
      const { body } = await ask({ port: admin.port, path: "/metrics" });
      return /^gp_records_counters_mode\{mode="(\w+)"\} 1$/m.exec(body)?.[1] ?? "unknown";
    };
    const one = { ...running, way, countersMode };
    const until = performance.now() + 20_000;
    while ((await ask({ port: one.port, path: "/ready" })).status !== 200) {
      if (performance.now() > until) throw new Error("a server does not become ready");
      await wait(20);
    }
    return one;
  };
  const servers = await Promise.all(settings.map(startOne));
  return {
    servers,
    redis,
    postgres: {
      url,
      run: (sql) => runSql(url, sql),
      stop: () => server.stop(),
      async kill() {
        const ended = new Promise((resolve) => server.child.once("exit", resolve));
        signalPostgres(server, "SIGKILL");
        await ended;
        // What says that it runs, and is ready.
        rmSync(join(data, "postmaster.pid"), { force: true });
      },
      async start() {
        server = await cluster.start();
      },
      signal: (name) => signalPostgres(server, name),
    },
    newKey,
    async end() {
      await Promise.all(servers.map((server) => server.stop()));
      await control.close().catch(() => {});
      await redis.end();
      await server.stop();
      for (const undo of undone) undo();
    },
  };
}

async function runSql(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(text);
  await client.end();
}

/** So few are under way at each server at once that others are not held up by them. */
const atOnce = 10;

/** Statuses of so many requests to each of the servers. */
export async function askEach(
  servers: readonly OneOfSeveral[],
  key: string,
  requests: number,
): Promise<Map<number | null, number>> {
  const statuses = new Map<number | null, number>();
  const clients = servers.flatMap(({ port }) =>
    Array.from({ length: atOnce }, async (_, client) => {
      for (let sent = client; sent < requests; sent += atOnce) {
        const { status } = await ask({ port, path, key });
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    }),
  );
  await Promise.all(clients);
  return statuses;
}

/** Resolves to the milliseconds until it is so for every server, or null after 30 s. */
export async function untilAll(
  servers: readonly OneOfSeveral[],
  isSo: (server: OneOfSeveral) => Promise<boolean>,
): Promise<number | null> {
  const startedAt = performance.now();
  const waited = () => performance.now() - startedAt;
  const each = await Promise.all(
    servers.map(async (server) => {
      while (!(await isSo(server))) {
        if (waited() > 30_000) return null;
        await wait(10);
      }
      return waited();
    }),
  );
  return each.reduce((most: number | null, one) => {
    return most === null || one === null ? null : Math.max(most, one);
  }, 0);
}
