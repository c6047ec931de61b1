/** Connections to PostgreSQL, single or in a pool, with time-outs, and a gate that limits attempts during an outage. */
import { Socket } from "node:net";
import { getEnvironmentData, setEnvironmentData } from "node:worker_threads";
import type { PostgresPool } from "kysely";
import type { ClientConfig, PoolClient } from "pg";
import { postgresFault, StoreFault } from "./store-fault.ts";

/** Returns a name for messages. It contains only the host, port and database of the URL, not the password. */
export function placeName(url: string): string {
  const { hostname, port, pathname, searchParams } = new URL(url);
  const host = searchParams.get("host") ?? decodeURIComponent(hostname);
  return `PostgreSQL at ${host}${port === "" ? "" : `:${port}`}${pathname}`;
}

const gates = new Map<string, ReturnType<typeof openGate>>();

/**
 * Returns the gate to a database. A thread inherits the gate's memory from the thread that started it. All threads of
 * a process together therefore try an unreachable server only once a second.
 */
export const gateOf = (url: string) =>
  gates.getOrInsertComputed(url, () => {
    const name = `gate to ${url}`;
    const inherited = getEnvironmentData(name) as SharedArrayBuffer | undefined;
    const memory = inherited ?? new SharedArrayBuffer(16);
    setEnvironmentData(name, memory);
    return openGate(memory);
  });

const betweenTriesNanoseconds = 1_000_000_000n;
const isAwayAt = 0;
const triedAt = 1;

export function openGate(
  memory: SharedArrayBuffer,
  now: () => bigint = () => process.hrtime.bigint(),
) {
  const shared = new BigInt64Array(memory);
  return {
    /** Reports whether to connect now. During an outage, returns true to one thread, at most once a second. */
    mayTry(): boolean {
      if (Atomics.load(shared, isAwayAt) === 0n) return true;
      const last = Atomics.load(shared, triedAt);
      return (
        now() - last >= betweenTriesNanoseconds &&
        Atomics.compareExchange(shared, triedAt, last, now()) === last
      );
    },
    /** Records the result of an attempt. */
    tried(isThere: boolean): void {
      if (!isThere && Atomics.load(shared, isAwayAt) === 0n) Atomics.store(shared, triedAt, now());
      Atomics.store(shared, isAwayAt, isThere ? 0n : 1n);
    },
  };
}

/**
 * Longest waits of a session, in ms; 0 means no limit. All but the last are below 2 s, the time in which every request
 * is answered. The server gives up on a statement before this process does.
 */
const usualLimits = {
  /** Wait for a connection. */
  connect: 1500,
  /** Wait for an answer, after which the connection is closed. */
  answer: 1900,
  /** Time after which the server gives up on a statement. */
  statement: 1700,
  /** Server's wait for a lock. */
  lock: 1500,
  /**
   * Server's wait for a transaction's next statement. Without this limit, a program that hangs in a transaction would
   * block all others.
   */
  idleInTransaction: 5000,
};

export type SessionLimits = typeof usualLimits;

/**
 * Returns the query that sets up a session. A pooler would refuse some of the settings if they were sent when
 * connecting. The server notices within 25 s if a client's machine loses power, and ends the session and its locks.
 */
function beginSession(
  { statement, lock, idleInTransaction } = usualLimits,
  settings: Readonly<Record<string, string>> = {},
): string {
  const all = {
    statement_timeout: statement,
    lock_timeout: lock,
    idle_in_transaction_session_timeout: idleInTransaction,
    tcp_keepalives_idle: 10,
    tcp_keepalives_interval: 5,
    tcp_keepalives_count: 3,
    ...settings,
  };
  const set = Object.entries(all).map(
    ([name, value]) => `set_config('${name}', '${value}', false)`,
  );
  return `select pg_backend_pid() as pid, ${set.join(", ")}`;
}

/** Oids of `int8` and `numeric`. By default `pg` returns their values as text, but all values here are below 2^53. */
const numberTypes = [20, 1700];

/**
 * Returns a connection's settings for `pg`.
 * @param sockets receives the open sockets, so that they can be closed even if the server does not answer.
 */
async function clientConfig(
  url: string,
  sockets: Set<Socket>,
  name = "gp-records",
  limits = usualLimits,
): Promise<ClientConfig> {
  const { types } = await import("pg");
  const parsed = new URL(url);
  // This gives sslmode the meaning that it has in libpq. By default `pg` treats `require` as `verify-full`, and warns.
  if (parsed.searchParams.has("sslmode")) parsed.searchParams.set("uselibpqcompat", "true");
  return {
    connectionString: parsed.href,
    ssl: false,
    application_name: name,
    connectionTimeoutMillis: limits.connect,
    ...(limits.answer === 0 ? {} : { query_timeout: limits.answer }),
    keepAlive: true,
    types: {
      getTypeParser: ((oid: number, format?: "text") =>
        numberTypes.includes(oid)
          ? Number
          : types.getTypeParser(oid, format)) as typeof types.getTypeParser,
    },
    stream: () => {
      const socket = new Socket();
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
      return socket;
    },
  };
}

/** Returns the fault for a failed connection. Its cause always lies outside the program, unlike a failed query's. */
function connectFault(error: unknown, place: string, setting = "DATABASE_URL"): unknown {
  const fault = postgresFault(error, place, setting);
  if (fault instanceof StoreFault || !(error instanceof Error)) return fault;
  return new StoreFault(
    "unusable",
    `${place} cannot be used: ${error.message}. Correct ${setting}, or the certificates and keys that it names.`,
    { cause: error },
  );
}

const notTriedNow = (place: string) =>
  new StoreFault(
    "busy",
    `No connection to ${place}; another is tried each second. Make sure that it is running and has free connections, and that this machine can connect to it.`,
  );

const connectionEnded = (place: string) =>
  new StoreFault("busy", `${place} has ended the connection. Try again.`);

/** Reports whether an error ends the connection. Only a statement's error, which has severity ERROR, does not. */
const endsConnection = (error: unknown): boolean =>
  (error as { severity?: unknown } | null)?.severity !== "ERROR";

/**
 * Returns a value to send, with U+FFFD in place of each NUL. PostgreSQL accepts no NUL in text, so no stored text
 * contains one. A search for text with a NUL, such as a mistyped address, must find nothing instead of failing.
 */
const bindable = (value: unknown): unknown =>
  typeof value === "string" ? value.replaceAll("\0", "\uFFFD") : value;

/** A named statement that the server prepares once for each connection. */
export interface PreparedStatement {
  name: string;
  text: string;
}

/** One connection. Its queries run one after another, in the order of the calls. */
export type PostgresSession = Awaited<ReturnType<typeof connectPostgres>>;

interface SessionOptions {
  /** Setting or option that gives the database's URL, for messages; DATABASE_URL by default. */
  setting?: string;
  /** Name in `pg_stat_activity`, truncated to 63 bytes. */
  name?: string;
  /** Limits that differ from `usualLimits`. */
  limits?: Partial<SessionLimits>;
  /** Further settings of the session. They must not contain user input. */
  settings?: Readonly<Record<string, string>>;
  /** Called for each notification on a channel that the session listens to. */
  onNotice?: () => void;
  /** Called once when the session ends, even by `close`. */
  onEnd?: () => void;
}

/**
 * Opens a session with a connection of its own.
 * @throws StoreFault if the database cannot be used or does not answer in time, or at once if the gate allows no
 *   attempt.
 */
export async function connectPostgres(
  url: string,
  { name, settings = {}, onNotice = () => {}, onEnd = () => {}, ...options }: SessionOptions = {},
) {
  const place = placeName(url);
  const { setting = "DATABASE_URL" } = options;
  const limits = { ...usualLimits, ...options.limits };
  const { Client } = await import("pg");
  const gate = gateOf(url);
  if (!gate.mayTry()) throw notTriedNow(place);
  const sockets = new Set<Socket>();
  let isOver = false;
  const close = () => {
    isOver = true;
    client.end().catch(() => {});
    for (const socket of sockets) socket.destroySoon();
  };
  const client = new Client(await clientConfig(url, sockets, name, limits));
  // Without a listener an error would end the process, even a late one from an unused connection.
  client.on("error", () => (isOver = true));
  client.on("end", () => (isOver = true));
  client.on("notification", onNotice);
  try {
    await client.connect();
    const { rows } = await client.query<{ pid: number }>(beginSession(limits, settings));
    gate.tried(true);
    client.once("end", onEnd);
    // Without a pooler, the process that answers has the id given at the start. A pooler makes that id up.
    const { processID } = client as unknown as { processID: number | null };
    const isPooled = rows[0]!.pid !== processID;
    let isFree: Promise<unknown> = Promise.resolve();
    /**
     * Runs queries in the order of the calls. `pg` 8 still queues them itself, but version 9 will not.
     * @throws DomainError from `postgresFault`, or else the error from `pg`; `postgresCodeOf` returns its code.
     */
    const query = <Row>(sql: string | PreparedStatement, values: readonly unknown[] = []) => {
      const answer = isFree.then(() => send<Row>(sql, values));
      isFree = answer.catch(() => {});
      return answer;
    };
    const send = async <Row>(
      sql: string | PreparedStatement,
      values: readonly unknown[],
    ): Promise<Row[]> => {
      if (isOver) throw connectionEnded(place);
      const bound = values.map(bindable);
      try {
        const result = await (typeof sql === "string"
          ? client.query(sql, bound)
          : client.query({ ...sql, values: bound }));
        // Several statements in one string return an array of results.
        return Array.isArray(result) ? [] : (result.rows as Row[]);
      } catch (error) {
        if (endsConnection(error)) close();
        throw postgresFault(error, place, setting);
      }
    };
    return {
      query,
      /**
       * Runs `work` in a transaction on this session. Rolls back if `work` throws.
       * @param begin statement that begins the transaction, if `work` needs an isolation level other than the
       *   database's default.
       * @throws whatever `work` or a query throws. The changes may or may not have been committed if the commit itself
       *   fails.
       */
      async inTransaction<R>(work: () => Promise<R>, begin = "begin"): Promise<R> {
        await query(begin);
        try {
          const result = await work();
          await query("commit");
          return result;
        } catch (error) {
          // This fails too if the connection has ended, but then so has the transaction.
          await query("rollback").catch(() => {});
          throw error;
        }
      },
      /** Setting or option that gives the database's URL, for messages. */
      setting,
      /** True behind a pooler, where the server process that answers is not the one named at the start. */
      isPooled,
      /** True once the session has ended. It cannot be used again. */
      get isOver() {
        return isOver;
      },
      /** Ends the session at once, along with any query in progress. */
      close,
    };
  } catch (error) {
    gate.tried(false);
    close();
    throw connectFault(error, place, setting);
  }
}

/**
 * Opens a session, runs `work` with it, and closes it. @throws as `connectPostgres` does, or whatever `work` throws.
 */
export async function withSession<R>(
  url: string,
  work: (session: PostgresSession) => Promise<R>,
  options: SessionOptions = {},
): Promise<R> {
  const session = await connectPostgres(url, options);
  try {
    return await work(session);
  } finally {
    session.close();
  }
}

/** Returns a session that is opened when it is first needed, and reopened after it has ended. */
export function openLastingSession(url: string): Pick<PostgresSession, "query" | "close"> {
  let session: PostgresSession | null = null;
  let opening: Promise<PostgresSession> | null = null;
  let isClosed = false;
  const openOnce = async () => {
    session = await connectPostgres(url);
    if (isClosed) session.close();
    return session;
  };
  const opened = async () => {
    if (session !== null && !session.isOver) return session;
    return (opening ??= openOnce().finally(() => (opening = null)));
  };
  return {
    query: async (sql, values) => (await opened()).query(sql, values),
    close() {
      isClosed = true;
      session?.close();
    },
  };
}

const connectionsMax = 4;
/** Time after which an unused connection of a pool is closed, in ms. */
const idleMilliseconds = 30_000;

/** Opens a pool that connects when it must. Its queries wait at most 1.5 s for a connection. */
export async function openPool(url: string): Promise<PostgresPool> {
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

/** Returns a connection that converts errors into faults. The pool drops a connection that an error has ended. */
function guarded(client: PoolClient, place: string): ReturnType<PostgresPool["connect"]> {
  let isOver = false;
  const query = async (text: string, values: readonly unknown[]) => {
    // Fails at once: without the connection, not even a rollback is worth a wait.
    if (isOver) throw connectionEnded(place);
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
