/** A session with PostgreSQL for as long as a process runs: opened when it is needed, and opened again when it ended. */
import { connectPostgres, type PostgresPlace, type PostgresSession } from "./postgres.ts";

interface LastingSession extends Pick<PostgresSession, "query"> {
  /**
   * Calls `onNotice` at each notification from now on; one that comes while the session is being opened again is lost.
   * @returns what ends it.
   */
  listen(onNotice: () => void): () => void;
  close(): void;
}

/** @param channel that is listened to once somebody does, in words that need no quotes. */
export function openLastingSession(place: PostgresPlace, channel: string): LastingSession {
  let main: PostgresSession | null = null;
  let opening: Promise<PostgresSession> | null = null;
  let isClosed = false;
  const listeners = new Set<() => void>();
  const onNotice = () => {
    for (const listener of listeners) listener();
  };
  const openOnce = async () => {
    const session = await connectPostgres(place, { onNotice });
    if (isClosed) session.close();
    else if (listeners.size > 0) await session.query(`listen ${channel}`);
    return (main = session);
  };
  const session = async () => {
    if (main !== null && !main.isOver) return main;
    return (opening ??= openOnce().finally(() => (opening = null)));
  };
  return {
    query: async (sql, values) => (await session()).query(sql, values),
    listen(listener) {
      listeners.add(listener);
      if (main !== null) main.query(`listen ${channel}`).catch(() => {});
      return () => void listeners.delete(listener);
    },
    close() {
      isClosed = true;
      main?.close();
    },
  };
}
