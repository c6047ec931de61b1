/** Servers that count: PostgreSQL and Redis, one of each for a test file, and engines on them whose clock a test sets. */
import pg from "pg";
import type { Engine } from "#limits/shared-counters.ts";
import { openPostgresEngine } from "#limits/postgres-engine.ts";
import { runSql, startPostgres, template, urlOf, whyNoPostgres } from "./postgres.ts";
import { startRedis, whyNoRedis } from "./redis.ts";

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

export interface PostgresServer extends CountingServer {
  /** Runs statements as the superuser on a connection that stays open. */
  sql(text: string): Promise<Record<string, unknown>[]>;
}

const testClock = `
create table test_clock (now bigint not null);
insert into test_clock values (0);
create or replace function quota_now() returns bigint language sql volatile as $$ select now from test_clock $$;
`;

/** As long as a busy machine may take, in ms: with these no session is given up. */
const patient = { connect: 30_000, statement: 30_000, answer: 30_000 };

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
  for (const name of ["counts", "clocked"])
    await runSql(server.url, `create database ${name} template ${template}`);
  await connectAdmins();
  await admins!.clocked.query(testClock);
  return {
    name: "PostgreSQL",
    url: own,
    openEngine: async () => openPostgresEngine(own),
    openEngineWithClock: async () => openPostgresEngine(clocked, patient),
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
  {
    name: "Redis",
    skip: whyNoRedis() ?? false,
    // With everysec, a killed Redis forgets what it acknowledged during a flush of a busy disk.
    start: () => startRedis(["--appendfsync", "always"]),
  },
  { name: "PostgreSQL", skip: whyNoPostgres() ?? false, start: startCountingPostgres },
];
