/** What counts cost the engines themselves: processor time, memory and what they write to their disk, by how much an account has sent. */
import { createClient } from "@redis/client";
import pg from "pg";
import type { Engine, Group } from "#limits/engine.ts";
import { quotaMax } from "#limits/policy.ts";
import { openPostgresEngine } from "#limits/postgres-engine.ts";
import { openValkeyEngine } from "#limits/valkey-engine.ts";
import { migratePostgres } from "#store/postgres-schema.ts";
import { freePort } from "../../test/support/free-port.ts";
import { openCluster } from "../engines.ts";
import type { Fixtures } from "../fixtures.ts";
import { findPostgres } from "../postgres.ts";
import { findRedis, spawnRedis } from "../redis.ts";
import { asText } from "../report.ts";
import { openTreeMeter, stop } from "../servers.ts";

/** An engine, and what its server says of itself. */
interface Counting {
  name: string;
  engine: Engine;
  /** Its first process. */
  pid: number;
  /** Bytes of an account: in memory, or as a row. */
  accountBytes(account: number): Promise<number>;
  /** Bytes written to its log so far. */
  logBytes(): Promise<number>;
  /** Forgets all accounts. */
  empty(): Promise<void>;
  stop(): Promise<void>;
}

/** Requests an account has sent in the last day: none, the default quotas of a minute, an hour and a day. */
const sentBefore = [0, 60, 1000, 10_000];
/** Accounts in one question, each with one request: alone, as a busy instance asks, and as many as PostgreSQL takes. */
const batches = [1, 16, 128];
const accountCount = Math.max(...batches);
const measuredMilliseconds = 1000;

const quotas = { minute: quotaMax, hour: quotaMax, day: quotaMax };
const dayMicroseconds = 86_400e6;

/** @throws NoPostgres or NoRedis */
export async function profileEngines(fixtures: Fixtures): Promise<string> {
  findPostgres();
  findRedis();
  const lines = [
    ["", "sent before", "asked together", "processor", "at most", "its log", "an account"],
  ];
  for (const open of [openRedis, openPostgres]) {
    const counting = await open(fixtures);
    await counting.engine.connect(() => {});
    for (const sent of sentBefore) {
      await counting.empty();
      await fill(counting.engine, sent);
      const bytes = await counting.accountBytes(1);
      for (const batch of batches) {
        const cost = await measure(counting, batch);
        lines.push([
          counting.name,
          String(sent),
          String(batch),
          `${cost.microseconds.toFixed(0)} µs`,
          `${cost.perSecond.toFixed(0)}/s`,
          `${cost.logBytes.toFixed(0)} B`,
          `${bytes} B`,
        ]);
      }
    }
    counting.engine.disconnect();
    await counting.stop();
  }
  return [
    "What a count costs an engine, by how many requests an account has sent within a day; one question after the other.",
    asText(lines),
  ].join("\n\n");
}

/** So many requests of each account, evenly over the day. */
async function fill(engine: Engine, sent: number): Promise<void> {
  const ages = Array.from({ length: sent }, (_, i) => dayMicroseconds * (1 - (i + 1) / (sent + 1)));
  for (let account = 1; sent > 0 && account <= accountCount; account++)
    await engine.charge({
      instance: "bench",
      number: account,
      part: engine.partOf(account),
      accounts: [{ account, ages: ages.map(Math.round) }],
    });
}

async function measure({ engine, pid, logBytes }: Counting, batch: number) {
  // All accounts in turn, so that none has sent many more than before.
  let next = 0;
  const decide = () => {
    const first = 1 + (next % accountCount);
    next += batch;
    const groupOf = (_: unknown, i: number): Group => ({ account: first + i, quotas, requests: 1 });
    return engine.decide(Array.from({ length: batch }, groupOf));
  };
  // Its first answers have to be prepared.
  for (let i = 0; i < 10; i++) await decide();
  const logBefore = await logBytes();
  const microseconds = openTreeMeter([pid]);
  const begun = performance.now();
  let counts = 0;
  while (performance.now() - begun < measuredMilliseconds) {
    await decide();
    counts += batch;
  }
  const seconds = (performance.now() - begun) / 1000;
  return {
    microseconds: microseconds() / counts,
    perSecond: counts / seconds,
    logBytes: ((await logBytes()) - logBefore) / counts,
  };
}

async function openRedis(fixtures: Fixtures): Promise<Counting> {
  const port = await freePort();
  const args = ["--auto-aof-rewrite-percentage", "0"];
  const server = await spawnRedis({ port, folder: fixtures.emptyFolder(), args });
  const url = `redis://127.0.0.1:${port}`;
  const client = await createClient({ url }).connect();
  const engine = await openValkeyEngine(url);
  return {
    name: "Redis",
    engine,
    pid: server.pid!,
    async accountBytes(account) {
      const key = `q:{${engine.partOf(account)}}:${account}`;
      return Number((await client.memoryUsage(key)) ?? 0);
    },
    async logBytes() {
      const info = await client.info("persistence");
      return Number(/^aof_current_size:(\d+)/m.exec(info)?.[1]);
    },
    async empty() {
      await client.flushAll();
    },
    async stop() {
      client.destroy();
      await stop(server);
    },
  };
}

async function openPostgres(): Promise<Counting> {
  const { cluster, url } = await openCluster();
  const server = await cluster.start();
  await migratePostgres({ url });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const numberOf = async (sql: string) => {
    const { rows } = await client.query<{ number: string }>(sql);
    return Number(rows[0]?.number ?? 0);
  };
  return {
    name: "PostgreSQL",
    engine: openPostgresEngine({ url }),
    pid: server.pid,
    accountBytes: (account) =>
      numberOf(
        `select pg_column_size(quota_count.*) as number from quota_count where account = ${account}`,
      ),
    logBytes: () => numberOf("select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') as number"),
    async empty() {
      await client.query("truncate quota_count, quota_charge");
    },
    async stop() {
      await client.end();
      await server.stop();
    },
  };
}
