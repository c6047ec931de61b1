/** Checks a PostgreSQL once, before it holds anything: can it do what is needed here? */
import { StoreFault } from "./domain-error.ts";
import {
  connectPostgres,
  placeName,
  type PostgresPlace,
  type PostgresSession,
} from "./postgres.ts";

interface ServerFacts {
  /** Version of the server, such as `15.14`. */
  version: string;
  encoding: string;
  isStandby: boolean;
}

/**
 * Refuses a server that cannot do what is needed here: a standby, an encoding other than UTF-8, or a pooler that gives each
 * transaction another connection. Neither LISTEN nor a lock of a session lasts there.
 * @throws StoreFault `unusable`.
 */
export async function refuseUnfit(
  session: PostgresSession,
  database: PostgresPlace,
): Promise<ServerFacts> {
  const place = placeName(database.url);
  const refuse = (reason: string) => {
    throw new StoreFault("unusable", `${place} ${reason}`);
  };
  const [facts] = await session.query<ServerFacts>(
    `select split_part(current_setting('server_version'), ' ', 1) as version,
       current_setting('server_encoding') as encoding, pg_is_in_recovery() as "isStandby"`,
  );
  const { encoding, isStandby } = facts!;
  if (isStandby) refuse("is a standby, which takes no writes. Name the primary in DATABASE_URL.");
  if (encoding !== "UTF8")
    refuse(
      `has the encoding ${encoding}. Create the database with: create database … encoding 'UTF8'`,
    );
  if (session.isPooled && (await sharesConnections(session, database)))
    refuse(
      "is behind a pooler in transaction mode, such as pgbouncer with pool_mode = transaction, where LISTEN and locks do not last. Connect to PostgreSQL itself, or set pool_mode = session for this database.",
    );
  return facts!;
}

/** Reports whether a second session gets the server process of the first, or takes it away. */
async function sharesConnections(
  first: PostgresSession,
  database: PostgresPlace,
): Promise<boolean> {
  const processOf = async (session: PostgresSession) =>
    (await session.query<{ pid: number }>("select pg_backend_pid() as pid"))[0]!.pid;
  const before = await processOf(first);
  const second = await connectPostgres(database);
  try {
    await second.query("begin");
    const others = await processOf(second);
    const after = await processOf(first);
    return others === before || after !== before;
  } finally {
    second.close();
  }
}
