/** Counts in PostgreSQL, by a function for all requests of a turn; store/postgres-counts-sql.ts has its text. */
import {
  connectPostgres,
  openGate,
  placeName,
  type PostgresPlace,
  type PostgresSession,
  type PreparedStatement,
} from "#store/postgres.ts";
import { decisionFrom, type Engine, signedRequests } from "./engine.ts";

const forgetEveryMilliseconds = 600_000;

/** @param place of a direct or session-pooled connection; its gate is that of all connections of the process. */
export function openPostgresEngine({ url, gate = openGate() }: PostgresPlace): Engine {
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
    // A connection that fails is noticed by what is asked next.
    query(statements.forget).catch(() => {});
  };

  const engine: Engine = {
    place: placeName(url),
    groupsMax: 128,
    partOf: () => 0,
    async connect(onLost) {
      engine.disconnect();
      const own = ++attempt;
      const opened = await connectPostgres(
        { url, gate },
        {
          name: "gp-records counters",
          limits: { connect: 500, statement: 1000 },
          settings: sessionSettings,
          onEnd() {
            if (attempt === own) onLost(new Error("the connection ended"));
          },
        },
      );
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
        arrayOf(groups.map(signedRequests)),
        arrayOf(groups.map(({ quotas }) => quotas.minute)),
        arrayOf(groups.map(({ quotas }) => quotas.hour)),
        arrayOf(groups.map(({ quotas }) => quotas.day)),
      ]);
      forget();
      return rows.map((row) => decisionFrom(row, 0));
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
  return engine;
}

/**
 * Counts may be lost by a crash of the server within a second, as by a power failure where one process counts by itself.
 * Whoever waits for a row that another one holds gives up, since by then it counts for itself.
 */
const sessionSettings = {
  synchronous_commit: "off",
  default_transaction_isolation: "read committed",
  jit: "off",
};

/** A standby would answer what a request would meet, and refuse each request. */
const writeNothing = "select from quota_count where false for update";

const statements = {
  take: { name: "quota_take", text: "select * from quota_take($1, $2, $3, $4, $5)" },
  add: { name: "quota_add", text: "select quota_add($1, $2, $3, $4) is null" },
  forget: { name: "quota_forget", text: "select quota_forget() is null" },
};

const arrayOf = (numbers: readonly number[]) => `{${numbers.join(",")}}`;
