/** Counts in PostgreSQL, with one function call for a batch of requests. The function is in store/postgres-steps.ts. */
import {
  connectPostgres,
  placeName,
  type PostgresSession,
  type PreparedStatement,
  type SessionLimits,
} from "#store/postgres.ts";
import type { Engine } from "./shared-counters.ts";

const forgetEveryMilliseconds = 600_000;

/**
 * Opens an engine, which connects only in `connect`.
 * @param url database, reached directly or through a session pooler.
 * @param limits longest waits of a session, in ms. The server gives up on a statement after `statement`, because the
 *   outage mode applies by then.
 */
export function openPostgresEngine(
  url: string,
  limits: Partial<SessionLimits> = { statement: 1000 },
): Engine {
  let session: PostgresSession | null = null;
  let attempt = 0;
  let forgotAt = performance.now();

  const query = async (
    statement: PreparedStatement | string,
    values: readonly string[] = [],
  ): Promise<number[][]> => {
    if (session === null) throw new Error("there is no connection");
    const rows = await session.query<Record<string, number>>(statement, values);
    return rows.map((row) => Object.values(row));
  };
  const forget = () => {
    if (performance.now() - forgotAt < forgetEveryMilliseconds) return;
    forgotAt = performance.now();
    // The next call notices if the connection has failed.
    query(statements.forget).catch(() => {});
  };

  return {
    place: placeName(url),
    groupsMax: 128,
    async connect(onLost) {
      const own = ++attempt;
      const opened = await connectPostgres(url, {
        name: "gp-records counters",
        limits,
        settings: sessionSettings,
        onEnd() {
          if (attempt === own) onLost(new Error("the connection ended"));
        },
      });
      if (attempt !== own) {
        opened.close();
        throw new Error("the connection was given up");
      }
      session = opened;
      await query(writeNothing);
    },
    async decide(groups) {
      const rows = await query(statements.take, [
        arrayOf(groups.map(({ account }) => account)),
        arrayOf(groups.map(({ requests }) => requests)),
        arrayOf(groups.map(({ quotas }) => quotas.minute)),
        arrayOf(groups.map(({ quotas }) => quotas.hour)),
        arrayOf(groups.map(({ quotas }) => quotas.day)),
      ]);
      forget();
      return rows;
    },
    async charge({ instance, number, accounts }) {
      await query(statements.add, [
        instance,
        String(number),
        arrayOf(accounts.flatMap(({ account, ages }) => ages.map(() => account))),
        arrayOf(accounts.flatMap(({ ages }) => ages)),
      ]);
    },
    disconnect() {
      attempt++;
      session?.close();
      session = null;
    },
  };
}

/**
 * Session settings. A crash of the server may lose the counts of the last second, just as a power failure may for a
 * process that counts alone.
 */
const sessionSettings = {
  synchronous_commit: "off",
  default_transaction_isolation: "read committed",
  jit: "off",
};

/** Statement that fails on a standby, which could answer looks but not count. */
const writeNothing = "select from quota_count where false for update";

const statements = {
  take: { name: "quota_take", text: "select * from quota_take($1, $2, $3, $4, $5)" },
  add: { name: "quota_add", text: "select quota_add($1, $2, $3, $4) is null" },
  forget: { name: "quota_forget", text: "select quota_forget() is null" },
};

const arrayOf = (numbers: readonly number[]) => `{${numbers.join(",")}}`;
