/** Counts in PostgreSQL, by a function for all requests of a turn; store/postgres-counts-sql.ts has its text. */
import type { Client } from "pg";
import { StoreFault } from "#store/domain-error.ts";
import { openGate } from "#store/postgres.ts";
import { decisionFrom, type Engine } from "./engine.ts";

const forgetEveryMilliseconds = 600_000;

/**
 * @param url `postgres:` or `postgresql:`, as libpq reads it; a direct or session-pooled connection.
 * @param gate shared with the other connections of the process, so that together they try a server that is away once a second.
 */
export async function openPostgresEngine(url: string, gate = openGate()): Promise<Engine> {
  const { default: pg } = await import("pg");
  const address = addressOf(url);
  let client: Client | null = null;
  let forgotAt = performance.now();

  const query = async (
    name: string,
    text: string,
    values: readonly string[],
  ): Promise<number[][]> => {
    if (client === null) throw new Error("there is no connection");
    const { rows } = await client.query({
      name,
      text,
      values: [...values],
      rowMode: "array",
      types: { getTypeParser: () => Number },
    });
    return rows as number[][];
  };
  const forget = () => {
    if (performance.now() - forgotAt < forgetEveryMilliseconds) return;
    forgotAt = performance.now();
    // A connection that fails is noticed by what is asked next.
    query("quota_forget", "select quota_forget() is null", []).catch(() => {});
  };

  const engine: Engine = {
    place: placeOf(url),
    groupsMax: 128,
    partOf: () => 0,
    async connect(onLost) {
      engine.disconnect();
      if (!gate.mayTry()) throw new Error("it is tried again each second");
      const current = new pg.Client({
        connectionString: address,
        connectionTimeoutMillis: 500,
        keepAlive: true,
        keepAliveInitialDelayMillis: 10_000,
        application_name: "gp-records counters",
      });
      client = current;
      current.on("error", () => {});
      try {
        await current.connect();
        gate.tried(true);
      } catch (error) {
        gate.tried(false);
        rethrow(error as Error);
      }
      await current.query(sessionSettings);
      current.once("end", () => {
        if (client === current) onLost(new Error("the connection ended"));
      });
    },
    async decide(groups) {
      const rows = await query("quota_take", take, [
        arrayOf(groups.map(({ account }) => account)),
        arrayOf(groups.map(({ requests }) => requests)),
        arrayOf(groups.map(({ quotas }) => quotas.minute)),
        arrayOf(groups.map(({ quotas }) => quotas.hour)),
        arrayOf(groups.map(({ quotas }) => quotas.day)),
      ]).catch(rethrow);
      forget();
      return rows.map((row) => decisionFrom(row, 0));
    },
    async charge({ instance, number, accounts }) {
      await query("quota_add", "select quota_add($1, $2, $3, $4) is null", [
        instance,
        String(number),
        arrayOf(accounts.flatMap(({ account, ages }) => ages.map(() => account))),
        arrayOf(accounts.flatMap(({ ages }) => ages)),
      ]);
    },
    disconnect() {
      const old = client;
      client = null;
      if (old === null) return;
      // Its `end` would wait for a server that does not answer.
      (
        old as unknown as { connection: { stream: { destroy(): void } } }
      ).connection.stream.destroy();
    },
  };
  return engine;
}

/**
 * Counts may be lost by a crash of the server within a second, as by a power failure where one process counts by itself.
 * Whoever waits for a row that another one holds gives up, since by then it counts for itself.
 */
const sessionSettings =
  "set synchronous_commit = off; set statement_timeout = 1000; set default_transaction_isolation = 'read committed'; set jit = off";

const take = "select * from quota_take($1, $2, $3, $4, $5)";

const arrayOf = (numbers: readonly number[]) => `{${numbers.join(",")}}`;

/** What the server says of a connection or a table that somebody has to set up, by its SQLSTATE. */
const unusable: Readonly<Record<string, string>> = {
  "28P01": "refuses user or password of DATABASE_URL",
  "28000": "refuses user or password of DATABASE_URL",
  "3D000": "does not have the database that DATABASE_URL names",
  "42883": "has no tables of counts: run gp-records migrate",
  "42P01": "has no tables of counts: run gp-records migrate",
  "42501": "does not let the user of DATABASE_URL use the tables of counts",
};

function rethrow(error: Error & { code?: string }): never {
  const reason = unusable[error.code ?? ""];
  if (reason === undefined) throw error;
  throw new StoreFault("unusable", `${reason} (${error.message})`);
}

/** With the meanings that sslmode has everywhere; alone, pg would take `require` for `verify-full`, and warn. */
function addressOf(url: string): string {
  const parsed = new URL(url);
  if (parsed.searchParams.has("sslmode")) parsed.searchParams.set("uselibpqcompat", "true");
  return parsed.href;
}

function placeOf(url: string): string {
  const { protocol, host, pathname, searchParams } = new URL(url);
  return `${protocol}//${searchParams.get("host") ?? host}${pathname}`;
}
