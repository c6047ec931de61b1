/** Lock for one import at a time on all machines: a lock of PostgreSQL that ends with its holder's session. */
import { timeText } from "#store/dataset-tables.ts";
import { StoreFault } from "#store/domain-error.ts";
import {
  connectPostgres,
  placeName,
  type PostgresPlace,
  type PostgresSession,
} from "#store/postgres.ts";
import type { RemoteLock } from "./remote.ts";

/** Two numbers that identify the lock in the whole database. */
const lockKeys = [0x6770_7265, 1];

/**
 * Takes the lock.
 * @param holder name that other imports are told.
 * @throws StoreFault `busy`, naming the holder, if another import has the lock.
 */
export async function lockImports(database: PostgresPlace, holder: string): Promise<RemoteLock> {
  const place = placeName(database.url);
  const session = await connectPostgres(database, { name: `gp-records ${holder}` });
  try {
    const [row] = await session.query<{ is_ours: boolean }>(
      "select pg_try_advisory_lock($1, $2) as is_ours",
      lockKeys,
    );
    if (row!.is_ours) return lockOf(session, place);
    const importer = await findImporter(session);
    const who = importer === null ? "" : `: ${importer}`;
    throw new StoreFault(
      "busy",
      `Another import is running on ${place}${who}. Try again when it has ended.`,
    );
  } catch (error) {
    session.close();
    throw error;
  }
}

const lockOf = (session: PostgresSession, place: string): RemoteLock => ({
  check() {
    if (session.isOver)
      throw new StoreFault(
        "busy",
        `The connection to ${place} that held the lock of this import ended, so another import may have begun. Nothing was published. Import again.`,
      );
  },
  // Closing alone would release it only when the server notices, and the next command may come first.
  async release() {
    await session.query("select pg_advisory_unlock($1, $2)", lockKeys).catch(() => {});
    session.close();
  },
});

/** Returns the holder of the lock, and since when. Returns null if nobody holds it. */
async function findImporter({ query }: Pick<PostgresSession, "query">): Promise<string | null> {
  const [holder] = await query<{ name: string; since: string }>(holderSql, lockKeys);
  return holder === undefined ? null : `${whoOf(holder.name)}, since ${holder.since}`;
}

/** Query for the holder. Its session took the lock at once, so the start of the session tells since when. */
const holderSql = `
  select a.application_name as name, ${timeText("a.backend_start", "since")}
  from pg_locks l join pg_stat_activity a on a.pid = l.pid
  where l.locktype = 'advisory' and l.classid = $1 and l.objid = $2 and l.objsubid = 2 and l.granted
    and l.database = (select oid from pg_database where datname = current_database())`;

/** Returns the name of the holder. Another role may not be allowed to see it. */
const whoOf = (name: string | null) =>
  name?.replace(/^gp-records /, "") ?? "a session of another role";
