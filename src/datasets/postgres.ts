/** Connections to PostgreSQL: bounded in time, and tried once a second at most while the server is away. */
import { Socket } from "node:net";
import { Client } from "pg";
import { StoreFault } from "#store/domain-error.ts";
import { openGate, placeName } from "#store/postgres.ts";

/** Where a database is, and when it may be tried. */
interface PostgresPlace {
  /** `DATABASE_URL`; it may hold a password, so it goes into no message. */
  url: string;
  gate: ReturnType<typeof openGate>;
}

/** One connection; its queries are made one after the other. */
export interface PostgresSession {
  /**
   * @throws StoreFault `unusable` where the server cannot be reached or does not answer in time; else what `pg` throws, whose
   * `code` is PostgreSQL's.
   */
  query<Row>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Whether it ended; then only a new one helps. */
  readonly isOver: boolean;
  /** Ends it at once, a query under way included. */
  close(): void;
}

interface SessionOptions {
  /** What `pg_stat_activity` shows; cut after 63 bytes. */
  name?: string;
  /** Called when the server notifies of what was listened for. */
  onNotice?: () => void;
  /** For a query; less than the two seconds within which every request has an answer, unless it moves a megabyte. */
  queryMilliseconds?: number;
}

const connectMilliseconds = 1500;
const usualQueryMilliseconds = 1900;
/** A query that waits for a lock is given up by the server before we give up the connection. */
const lockMilliseconds = 1500;
/** A program that stops in the middle of a change holds up all others until then. */
const idleInTransactionMilliseconds = 60_000;

/** Oids of `int8` and `numeric`, which `pg` gives as text; here they are counts below 2^53. */
const numberTypes = [20, 1700];

/** @throws StoreFault within 2 s, at once where the gate is closed. */
export async function connectPostgres(
  { url, gate }: PostgresPlace,
  options: SessionOptions = {},
): Promise<PostgresSession> {
  const { name = "gp-records", onNotice = () => {} } = options;
  const place = placeName(url);
  if (!gate.mayTry())
    throw new StoreFault("unusable", `${place} cannot be reached; it is tried again each second.`);
  const parsed = new URL(url);
  // With the meanings that sslmode has everywhere; alone, pg would take `require` for `verify-full`, and warn.
  if (parsed.searchParams.has("sslmode")) parsed.searchParams.set("uselibpqcompat", "true");
  const sockets = new Set<Socket>();
  let isOver = false;
  const client = new Client({
    connectionString: parsed.href,
    application_name: name,
    connectionTimeoutMillis: connectMilliseconds,
    query_timeout: options.queryMilliseconds ?? usualQueryMilliseconds,
    keepAlive: true,
    stream: () => {
      const socket = new Socket();
      sockets.add(socket);
      return socket;
    },
  });
  for (const oid of numberTypes) client.setTypeParser(oid, Number);
  const close = () => {
    isOver = true;
    client.end().catch(() => {});
    for (const socket of sockets) socket.destroySoon();
  };
  // Also where it comes late, of a connection that nobody uses any more: without a listener it would end the process.
  client.on("error", () => (isOver = true));
  client.on("end", () => (isOver = true));
  client.on("notification", onNotice);
  const query = async <Row>(sql: string, values: readonly unknown[] = []) => {
    try {
      if (isOver) throw new Error("the connection ended");
      const { rows } = await client.query(sql, [...values]);
      return rows as Row[];
    } catch (error) {
      // An error of a statement leaves the connection as it was; any other one ends it.
      if ((error as { severity?: unknown }).severity === "ERROR") throw error;
      close();
      throw unreachable(place, error);
    }
  };
  try {
    await client.connect();
    gate.tried(true);
    // By a query and not at the start of the session, where a pooler refuses what it does not know.
    await query(
      `select set_config('lock_timeout', '${lockMilliseconds}', false),
         set_config('idle_in_transaction_session_timeout', '${idleInTransactionMilliseconds}', false),
         set_config('tcp_keepalives_idle', '10', false), set_config('tcp_keepalives_interval', '5', false),
         set_config('tcp_keepalives_count', '3', false)`,
    );
    return {
      query,
      get isOver() {
        return isOver;
      },
      close,
    };
  } catch (error) {
    gate.tried(false);
    close();
    throw error instanceof StoreFault ? error : unreachable(place, error);
  }
}

function unreachable(place: string, cause: unknown): StoreFault {
  // Node gives one for each address of a host.
  const { message, errors } = cause as AggregateError;
  const reason = message === "" ? (errors?.[0] as Error | undefined)?.message : message;
  return new StoreFault(
    "unusable",
    `${place} cannot be used: ${reason}. See that it runs, and that DATABASE_URL is right.`,
    { cause },
  );
}
