/** Connections to PostgreSQL: their time-outs and transactions, and the gate that limits attempts while it is away. */
import { Socket } from "node:net";
import type { ClientConfig } from "pg";
import { StoreFault } from "./domain-error.ts";
import { postgresFault } from "./store-fault.ts";

/** The place of a database, and the gate before it. */
export interface PostgresPlace {
  /** `DATABASE_URL`. It may contain a password, so no message has it. */
  url: string;
  /** Gate for all threads of a process. A command that connects once needs none. */
  gate?: ConnectGate;
}

/** Returns the part of the URL that messages may have: host, port and database. */
export function placeName(url: string): string {
  const { hostname, port, pathname, searchParams } = new URL(url);
  const host = searchParams.get("host") ?? decodeURIComponent(hostname);
  return `PostgreSQL at ${host}${port === "" ? "" : `:${port}`}${pathname}`;
}

/** Memory that the threads of a process share, so that together they try a server that is away once a second. */
export type GateMemory = SharedArrayBuffer;
export const makeGateMemory = (): GateMemory => new SharedArrayBuffer(16);

interface ConnectGate {
  /** Reports whether to connect now. While the server is away that is true for one thread, at most once a second. */
  mayTry(): boolean;
  /** Notes the result of an attempt. */
  tried(isThere: boolean): void;
}

const betweenTriesNanoseconds = 1_000_000_000n;
const isAwayAt = 0;
const triedAt = 1;

export function openGate(
  memory: GateMemory = makeGateMemory(),
  now: () => bigint = () => process.hrtime.bigint(),
): ConnectGate {
  const shared = new BigInt64Array(memory);
  return {
    mayTry() {
      if (Atomics.load(shared, isAwayAt) === 0n) return true;
      const last = Atomics.load(shared, triedAt);
      return (
        now() - last >= betweenTriesNanoseconds &&
        Atomics.compareExchange(shared, triedAt, last, now()) === last
      );
    },
    tried(isThere) {
      if (!isThere && Atomics.load(shared, isAwayAt) === 0n) Atomics.store(shared, triedAt, now());
      Atomics.store(shared, isAwayAt, isThere ? 0n : 1n);
    },
  };
}

/**
 * Longest waits of a session, in ms; 0 for no limit. They are below the 2 s within which every request has an answer. The
 * server gives up a statement before we do.
 */
const usualLimits = {
  /** Wait for a connection. */
  connect: 1500,
  /** Wait for an answer, before the connection is given up. */
  answer: 1900,
  /** Time after which the server gives up a statement. */
  statement: 1700,
  /** Time that the server waits for a lock. */
  lock: 1500,
  /** Time that the server waits for the next statement of a transaction: a program that stops there blocks all others. */
  idleInTransaction: 5000,
};

type SessionLimits = typeof usualLimits;

/**
 * Returns the query that sets up a session: at its start a pooler would refuse settings that it does not know. The server
 * notices within 25 s that a machine lost its power, and ends its session and locks.
 */
export function beginSession(
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

/** Oids of `int8` and `numeric`, which `pg` returns as text; here they are counts below 2^53. */
const numberTypes = [20, 1700];

/** @param sockets filled with the open ones, so that they can be closed even if the server does not answer. */
export async function clientConfig(
  url: string,
  sockets: Set<Socket>,
  name = "gp-records",
  limits = usualLimits,
): Promise<ClientConfig> {
  const { types } = await import("pg");
  const parsed = new URL(url);
  // With the meanings that sslmode has everywhere: pg alone would take `require` for `verify-full`, and warn.
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

/** Returns the fault of a connection, which always has a reason outside the program. A fault of a query may be our own. */
export function connectFault(error: unknown, place: string): unknown {
  const fault = postgresFault(error, place);
  if (fault instanceof StoreFault || !(error instanceof Error)) return fault;
  return new StoreFault(
    "unusable",
    `${place} cannot be used: ${error.message}. Correct DATABASE_URL.`,
    { cause: error },
  );
}

export const notTriedNow = (place: string) =>
  new StoreFault("busy", `${place} cannot be reached; it is tried again each second.`);

/** Reports whether an error ends the connection. The error of a statement does not; all others do. */
export const endsConnection = (error: unknown): boolean =>
  (error as { severity?: unknown } | null)?.severity !== "ERROR";

/**
 * Returns a value to send. PostgreSQL accepts no NUL in a text, and no stored text has one. A text with one, such as a
 * mistyped address, must therefore match nothing instead of failing.
 */
export const bindable = (value: unknown): unknown =>
  typeof value === "string" ? value.replaceAll("\0", "\uFFFD") : value;

/** A statement that the server prepares once for each connection, by name. */
export interface PreparedStatement {
  name: string;
  text: string;
}

/** One connection. Its queries run one after the other, whoever asks for them. */
export interface PostgresSession {
  /** Runs a query. @throws DomainError as `postgresFault` says, else an error of `pg`; `postgresCodeOf` tells its code. */
  query<Row>(sql: string | PreparedStatement, values?: readonly unknown[]): Promise<Row[]>;
  /**
   * Commits the changes of `work` on this session, or none of them if it throws.
   * @param begin statement with the isolation that the work needs, if the database's own is not enough.
   * @throws whatever `work` throws. After a fault of the commit itself nobody knows whether the changes were committed.
   */
  inTransaction<R>(work: () => Promise<R>, begin?: string): Promise<R>;
  /** Is a pooler in between? It then gave the connection another server process than it says. */
  readonly isPooled: boolean;
  /** Has the session ended? Then only a new one helps. */
  readonly isOver: boolean;
  /** Ends the session at once, with any query under way. */
  close(): void;
}

interface SessionOptions {
  /** Name in `pg_stat_activity`, cut after 63 bytes. */
  name?: string;
  /** Limits that differ from `usualLimits`. */
  limits?: Partial<SessionLimits>;
  /** Further settings of the session. They are never a user's input. */
  settings?: Readonly<Record<string, string>>;
  /** Called for each notification on a channel that the session listens to. */
  onNotice?: () => void;
  /** Called once when the session ended, even by `close`. */
  onEnd?: () => void;
}

/** Connects. @throws StoreFault within 2 s, or at once if the gate is closed. */
export async function connectPostgres(
  { url, gate = openGate() }: PostgresPlace,
  { name, settings = {}, onNotice = () => {}, onEnd = () => {}, ...options }: SessionOptions = {},
): Promise<PostgresSession> {
  const place = placeName(url);
  const limits = { ...usualLimits, ...options.limits };
  const { Client } = await import("pg");
  if (!gate.mayTry()) throw notTriedNow(place);
  const sockets = new Set<Socket>();
  let isOver = false;
  const close = () => {
    isOver = true;
    client.end().catch(() => {});
    for (const socket of sockets) socket.destroySoon();
  };
  const client = new Client(await clientConfig(url, sockets, name, limits));
  // An error without a listener would end the process, even one that comes late from an unused connection.
  client.on("error", () => (isOver = true));
  client.on("end", () => (isOver = true));
  client.on("notification", onNotice);
  try {
    await client.connect();
    const { rows } = await client.query<{ pid: number }>(beginSession(limits, settings));
    gate.tried(true);
    client.once("end", onEnd);
    // The server process answers that has the id given at the start, unless a pooler made that id up.
    const { processID } = client as unknown as { processID: number | null };
    const isPooled = rows[0]!.pid !== processID;
    let isFree: Promise<unknown> = Promise.resolve();
    /** Runs queries in the order of the calls. `pg` still queues them itself, but is going to stop that. */
    const query: PostgresSession["query"] = <Row>(
      sql: string | PreparedStatement,
      values: readonly unknown[] = [],
    ) => {
      const answer = isFree.then(() => send<Row>(sql, values));
      isFree = answer.catch(() => {});
      return answer;
    };
    const send = async <Row>(
      sql: string | PreparedStatement,
      values: readonly unknown[],
    ): Promise<Row[]> => {
      if (isOver) throw new StoreFault("busy", `${place} has ended the connection. Try again.`);
      const bound = values.map(bindable);
      try {
        const result = await (typeof sql === "string"
          ? client.query(sql, bound)
          : client.query({ ...sql, values: bound }));
        // Each of several statements in one text has a result.
        return Array.isArray(result) ? [] : (result.rows as Row[]);
      } catch (error) {
        if (endsConnection(error)) close();
        throw postgresFault(error, place);
      }
    };
    return {
      query,
      async inTransaction(work, begin = "begin") {
        await query(begin);
        try {
          const result = await work();
          await query("commit");
          return result;
        } catch (error) {
          // This fails, too, if the connection has ended: the transaction ended with it.
          await query("rollback").catch(() => {});
          throw error;
        }
      },
      isPooled,
      get isOver() {
        return isOver;
      },
      close,
    };
  } catch (error) {
    gate.tried(false);
    close();
    throw connectFault(error, place);
  }
}

/** Does work in a session of its own. @throws as `connectPostgres`. */
export async function withSession<R>(
  place: PostgresPlace,
  work: (session: PostgresSession) => Promise<R>,
  options: SessionOptions = {},
): Promise<R> {
  const session = await connectPostgres(place, options);
  try {
    return await work(session);
  } finally {
    session.close();
  }
}
