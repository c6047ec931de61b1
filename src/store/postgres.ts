/** Connections to PostgreSQL: their time-outs, their transactions, and how often a server that is away is tried. */
import { Socket } from "node:net";
import type { ClientConfig } from "pg";
import { StoreFault } from "./domain-error.ts";
import { postgresFault } from "./store-fault.ts";

/** Where a database is, and when it may be tried. */
export interface PostgresPlace {
  /** `DATABASE_URL`; it may hold a password, so it goes into no message. */
  url: string;
  /** One for all threads of a process; a command that connects once needs none. */
  gate?: ConnectGate;
  /** Where a pool on it writes down how it is used; for one pool at a time. */
  poolMemory?: PoolMemory;
}

/** Host, port and database: what messages may tell of the URL. */
export function placeName(url: string): string {
  const { hostname, port, pathname, searchParams } = new URL(url);
  const host = searchParams.get("host") ?? decodeURIComponent(hostname);
  return `PostgreSQL at ${host}${port === "" ? "" : `:${port}`}${pathname}`;
}

/** Memory that the threads of a process share, so that they try a server that is away once a second together. */
export type GateMemory = SharedArrayBuffer;
export const makeGateMemory = (): GateMemory => new SharedArrayBuffer(16);

/** Memory in which the thread of a pool says how it is used, so that another one can read it. */
export type PoolMemory = SharedArrayBuffer;
export const makePoolMemory = (): PoolMemory => new SharedArrayBuffer(12);

/** Connections of a pool, and queries that wait for one. */
interface PoolUse {
  used: number;
  idle: number;
  waiting: number;
}

export function readPool(memory: PoolMemory): PoolUse {
  const [used, idle, waiting] = new Int32Array(memory);
  return { used: used!, idle: idle!, waiting: waiting! };
}

export const notePool = (memory: PoolMemory, { used, idle, waiting }: PoolUse): void =>
  new Int32Array(memory).set([used, idle, waiting]);

interface ConnectGate {
  /** Whether to connect now; while the server is away true at most once a second, for one of all threads. */
  mayTry(): boolean;
  /** What came of it. */
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

/** How long a session waits, in milliseconds; 0 for as long as it takes. */
interface SessionLimits {
  /** For a connection. */
  connect: number;
  /** For an answer, before it gives up the connection. */
  answer: number;
  /** The server for a statement, before it gives up that statement. */
  statement: number;
  /** The server for a lock. */
  lock: number;
  /** The server for the next statement of a transaction: a program that stops in the middle of a change holds up all others until then. */
  idleInTransaction: number;
}

/** All less than the two seconds within which every request has an answer; the server gives up before we do. */
const usualLimits: SessionLimits = {
  connect: 1500,
  answer: 1900,
  statement: 1700,
  lock: 1500,
  idleInTransaction: 5000,
};

/**
 * Set by a query and not at the start of the session, where a pooler refuses what it does not know. A machine that loses its power
 * is noticed within 25 s, which ends its session and the locks of it.
 */
export function beginSession(
  { statement, lock, idleInTransaction }: SessionLimits = usualLimits,
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

/** Oids of `int8` and `numeric`, which `pg` gives as text; here they are counts below 2^53. */
const numberTypes = [20, 1700];

/** @param sockets is filled with those that are open, so that they can be closed under a server that does not answer. */
export async function clientConfig(
  url: string,
  sockets: Set<Socket>,
  { name, limits }: { name: string; limits: SessionLimits } = {
    name: "gp-records",
    limits: usualLimits,
  },
): Promise<ClientConfig> {
  const { types } = await import("pg");
  const parsed = new URL(url);
  // With the meanings that sslmode has everywhere; alone, pg would take `require` for `verify-full`, and warn.
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

/** `pg` cannot connect for a reason outside the program, whatever it is; a fault of a query may be one of the program. */
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

/** An error of a statement leaves the connection as it was; any other one ends it. */
export const endsConnection = (error: unknown): boolean =>
  (error as { severity?: unknown } | null)?.severity !== "ERROR";

/**
 * What is sent for a value: PostgreSQL takes no NUL in a text, and nothing that is stored has one, so a text with one, such as
 * a mistyped address, has to match nothing and not to fail.
 */
export const bindable = (value: unknown): unknown =>
  typeof value === "string" ? value.replaceAll("\0", "\uFFFD") : value;

/** A statement that the server prepares once for each connection, under a name of its own. */
export interface PreparedStatement {
  name: string;
  text: string;
}

/** One connection; its queries are made one after the other, whoever asks for them. */
export interface PostgresSession {
  /** @throws DomainError as `postgresFault` says, else what `pg` throws; `postgresCodeOf` tells PostgreSQL's code of either. */
  query<Row>(sql: string | PreparedStatement, values?: readonly unknown[]): Promise<Row[]>;
  /**
   * Commits what `work` does on this session, or nothing of it where it throws.
   * @param begin with the isolation that the work needs, where the database's own is not enough.
   * @throws what `work` throws; a fault of the commit itself leaves open which of the two it was.
   */
  inTransaction<R>(work: () => Promise<R>, begin?: string): Promise<R>;
  /** Whether a pooler stands between, which has given the connection to another server process than it says. */
  readonly isPooled: boolean;
  /** Whether it ended; then only a new one helps. */
  readonly isOver: boolean;
  /** Ends it at once, a query under way included. */
  close(): void;
}

interface SessionOptions {
  /** What `pg_stat_activity` shows; cut after 63 bytes. */
  name?: string;
  /** Those that differ from `usualLimits`. */
  limits?: Partial<SessionLimits>;
  /** Settings of the session besides its limits, which are no user's input. */
  settings?: Readonly<Record<string, string>>;
  /** Called when the server notifies of what was listened for. */
  onNotice?: () => void;
  /** Called once, when the session ended, also by `close`. */
  onEnd?: () => void;
}

/** @throws StoreFault within 2 s, at once where the gate is closed. */
export async function connectPostgres(
  { url, gate = openGate() }: PostgresPlace,
  {
    name = "gp-records",
    settings = {},
    onNotice = () => {},
    onEnd = () => {},
    ...options
  }: SessionOptions = {},
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
  const client = new Client(await clientConfig(url, sockets, { name, limits }));
  // Also where it comes late, of a connection that nobody uses any more: without a listener it would end the process.
  client.on("error", () => (isOver = true));
  client.on("end", () => (isOver = true));
  client.on("notification", onNotice);
  try {
    await client.connect();
    const { rows } = await client.query<{ pid: number }>(beginSession(limits, settings));
    gate.tried(true);
    client.once("end", onEnd);
    // The process whose id the connection was told is the one that answers, unless a pooler made the id up.
    const { processID } = client as unknown as { processID: number | null };
    const isPooled = rows[0]!.pid !== processID;
    let isFree: Promise<unknown> = Promise.resolve();
    /** In the order of the calls; `pg` would keep them waiting itself, but is going to stop that. */
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
        // Several statements in one text have a result each.
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
          // Where the connection has ended this fails as well, and what was begun is given up with it.
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
