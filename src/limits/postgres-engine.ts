/** Counts in PostgreSQL, by a function for all requests of a turn; store/postgres-counts-sql.ts has its text. */
import {
  connectPostgres,
  openGate,
  placeName,
  type PostgresPlace,
  type PostgresSession,
  type PreparedStatement,
} from "#store/postgres.ts";
import { agesFrom, decisionFrom, type Engine, signedRequests, slotsFrom } from "./engine.ts";

const forgetEveryMilliseconds = 600_000;

/** @param place of a direct or session-pooled connection; its gate is that of all connections of the process. */
export function openPostgresEngine({ url, gate = openGate() }: PostgresPlace): Engine {
  let session: PostgresSession | null = null;
  let attempt = 0;
  let forgotAt = performance.now();

  const query = async (
    statement: PreparedStatement,
    values: readonly string[],
  ): Promise<number[][]> => {
    if (session === null) throw new Error("there is no connection");
    const rows = await session.query<Record<string, number>>(statement, values);
    return rows.map((row) => Object.values(row));
  };
  const rows = async <Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> => {
    if (session === null) throw new Error("there is no connection");
    return session.query<Row>(text, values);
  };
  const forget = () => {
    if (performance.now() - forgotAt < forgetEveryMilliseconds) return;
    forgotAt = performance.now();
    // A connection that fails is noticed by what is asked next.
    query(statements.forget, []).catch(() => {});
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
      await rows(writeNothing);
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
    async inspect() {
      if (session === null) throw new Error("there is no connection");
      const begun = Date.now();
      const [row] = await session.query<{ version: string; fsync: string; now: number }>(
        `select split_part(current_setting('server_version'), ' ', 1) as version,
           current_setting('fsync') as fsync, quota_now() as now`,
      );
      const { version, fsync, now } = row!;
      return [
        {
          program: `PostgreSQL ${version}`,
          aheadMilliseconds: now / 1000 - (begun + Date.now()) / 2,
          keepsCounts: fsync === "on",
        },
      ];
    },
    async read(accounts) {
      const found = await rows<StoredCounts>(readSql, [arrayOf(accounts)]);
      const byAccount = new Map(found.map((row) => [row.account, row]));
      return accounts.map((account) => {
        const row = byAccount.get(account);
        if (row === undefined) return { account, ages: [] };
        const slots = row.times.subarray(row.times.length - 5 * row.day);
        return { account, ages: agesFrom(slots, row.newest, row.now) };
      });
    },
    async replace(counted) {
      const [time] = await rows<{ now: number }>("select quota_now() as now");
      const { now } = time!;
      const some = counted.filter(({ ages }) => ages.length > 0);
      const stored = some.map(({ ages }) => slotsFrom(ages, now));
      await rows(replaceSql, [
        arrayOf(counted.map(({ account }) => account)),
        arrayOf(some.map(({ account }) => account)),
        arrayOf(stored.map(({ newest }) => newest)),
        arrayOf(some.map(({ ages }) => ages.length)),
        stored.map(({ slots }) => slots),
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

/**
 * A standby would answer what a request would meet, and refuse each request. Counts of an installation that was moved away
 * are read still, and this is no change that its mark forbids.
 */
const writeNothing = "select from quota_count where false for update";

const statements = {
  take: { name: "quota_take", text: "select * from quota_take($1, $2, $3, $4, $5)" },
  add: { name: "quota_add", text: "select quota_add($1, $2, $3, $4) is null" },
  forget: { name: "quota_forget", text: "select quota_forget() is null" },
};

interface StoredCounts {
  account: number;
  newest: number;
  day: number;
  times: Buffer;
  now: number;
}

const readSql = `select account, newest, day, times, quota_now() as now from quota_count
  where account = any($1::bigint[])`;

/** The counts of the windows are at most what is stored; the next request finds how many they are. */
const replaceSql = `
  with gone as (
    delete from quota_count where account = any($1::bigint[]) and account <> all($2::bigint[])
  )
  insert into quota_count (account, newest, minute, hour, day, times)
  select account, newest, count, count, count, times
  from unnest($2::bigint[], $3::bigint[], $4::integer[], $5::bytea[]) as given (account, newest, count, times)
  on conflict (account) do update set newest = excluded.newest, minute = excluded.minute, hour = excluded.hour,
    day = excluded.day, times = excluded.times`;

const arrayOf = (numbers: readonly number[]) => `{${numbers.join(",")}}`;
