/** Opens a store in PostgreSQL: Kysely on a bounded pool of connections, with the same transactions as in SQLite. */
import type { Socket } from "node:net";
import {
  CompiledQuery,
  Kysely,
  PostgresDialect,
  type PostgresPool,
  sql,
  type Transaction,
} from "kysely";
import type { PoolClient } from "pg";
import { StoreFault } from "./domain-error.ts";
import {
  beginSession,
  bindable,
  clientConfig,
  connectFault,
  endsConnection,
  gateOf,
  notTriedNow,
  placeName,
} from "./postgres.ts";
import { refuseUnready } from "./postgres-schema.ts";
import { postgresFault } from "./store-fault.ts";

/** Advisory lock number for writes. It is the same in every version of gp-records, and differs from the migration's. */
const writeLock = 7_240_318_115_002;

/**
 * Opens a store that connects with the first query. Queries beyond the pool's size wait for a connection, and fail
 * after 1.5 s.
 */
export async function openPostgresStore<Tables>(url: string) {
  const pool = await openPool(url);
  const kysely = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  return {
    database: kysely,
    write: <R>(work: (transaction: Transaction<Tables>) => Promise<R>): Promise<R> =>
      kysely
        .transaction()
        .setIsolationLevel("read committed")
        .execute(async (transaction) => {
          // Only one transaction writes at a time, as in SQLite, so that facts it has read stay true until it commits.
          // The lock has its own statement. Under READ COMMITTED, the next statement then sees everything that was
          // committed during the wait.
          await sql`select pg_advisory_xact_lock(${writeLock})`.execute(transaction);
          return work(transaction);
        }),
    close: () => kysely.destroy(),
  };
}

/**
 * Opens a store and checks its schema.
 * @throws DomainError `conflict` if the schema must be migrated or this program cannot use it, StoreFault if the
 *   database cannot be used.
 */
export async function openReadyStore<Tables>(url: string) {
  const store = await openPostgresStore<Tables>(url);
  const query = async <Row>(text: string) =>
    (await store.database.executeQuery<Row>(CompiledQuery.raw(text))).rows;
  try {
    await refuseUnready({ query, setting: "DATABASE_URL" }, placeName(url));
  } catch (error) {
    await store.close();
    throw error;
  }
  return store;
}

const connectionsMax = 4;
const idleMilliseconds = 30_000;

async function openPool(url: string): Promise<PostgresPool> {
  const place = placeName(url);
  const gate = gateOf(url);
  const { Pool } = await import("pg");
  const sockets = new Set<Socket>();
  const pool = new Pool({
    ...(await clientConfig(url, sockets)),
    max: connectionsMax,
    idleTimeoutMillis: idleMilliseconds,
    allowExitOnIdle: true,
    onConnect: (client) => client.query(beginSession()),
  });
  // Without these listeners a connection that ends between two queries would end the process.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  const connect = async () => {
    const mustConnect = pool.idleCount === 0 && pool.totalCount < connectionsMax;
    if (mustConnect && !gate.mayTry()) throw notTriedNow(place);
    try {
      const client = await pool.connect();
      if (mustConnect) gate.tried(true);
      return client;
    } catch (error) {
      if (mustConnect) gate.tried(false);
      throw connectFault(error, place);
    }
  };
  return {
    // Kysely uses these only to cancel queries, which never happens here.
    options: {},
    connect: async () => guarded(await connect(), place),
    async end() {
      await pool.end();
      // Otherwise the sockets to a server that does not answer would stay open.
      for (const socket of sockets) socket.destroySoon();
    },
  };
}

/** Returns a connection that converts errors into faults. After an error that ends it, the pool drops it. */
function guarded(client: PoolClient, place: string): ReturnType<PostgresPool["connect"]> {
  let isOver = false;
  const query = async (text: string, values: readonly unknown[]) => {
    // Fails at once: without the connection, not even a rollback is worth a wait.
    if (isOver) throw new StoreFault("busy", `${place} has ended the connection. Try again.`);
    try {
      return await client.query(text, values.map(bindable));
    } catch (error) {
      isOver = endsConnection(error);
      throw postgresFault(error, place);
    }
  };
  const release = (isBroken?: boolean) => client.release(isBroken === true || isOver);
  return { query, release } as unknown as ReturnType<PostgresPool["connect"]>;
}
