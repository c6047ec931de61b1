/** Keeps the datasets of several machines in PostgreSQL: a row for each, and its file in parts of a megabyte. */
import { createHash } from "node:crypto";
import { readFileSync, renameSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { timeText } from "#store/dataset-tables.ts";
import { StoreFault } from "#store/domain-error.ts";
import { openLastingSession } from "#store/lasting-session.ts";
import { connectPostgres, openGate, placeName, type PostgresSession } from "#store/postgres.ts";
import { postgresCodeOf } from "#store/store-fault.ts";
import type { DatasetCache } from "./dataset-cache.ts";
import { DatasetFault } from "./dataset-fault.ts";
import type { Generation } from "./generation.ts";
import { openInstances } from "./instances.ts";
import {
  type DatasetRemote,
  ownFormat,
  type SharedGeneration,
  type SharedState,
} from "./remote.ts";
import { checkParts, pack, partLimits, pullParts, pushParts, unpack } from "./stored-parts.ts";
import { writeSynced } from "./whole-file.ts";

const lookEveryMilliseconds = 500;
const sideBytesMax = 16 * 1024 * 1024;
const sideNameShape = /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/;
const channel = "gp_records_dataset";
/** Two numbers of our own: the lock is known by them in the whole database. */
const lockKeys = [0x6770_7265, 1];

/** @param cache that files are fetched into; null for who fetches none. */
export function openPostgresRemote(
  url: string,
  cache: DatasetCache | null,
  gate = openGate(),
): DatasetRemote {
  const place = { url, gate };
  const main = openLastingSession(place, channel);
  const { query } = main;
  const publisher = `process ${process.pid} on ${hostname()}`;
  let seen: SharedState | null = null;

  const read = () => readShared(main);

  /** @returns the object seen before, where nothing changed since. */
  async function look(): Promise<SharedState> {
    const [row] = await query<{ change: number }>("select change from dataset_state");
    if (seen === null || seen.change !== row!.change) seen = await read();
    return seen;
  }

  const current = async () => (await read()).current;

  const changed = async (sql: string, values: readonly unknown[], version: string) => {
    const [row] = await query<Row>(sql, values);
    if (row === undefined) throw gone(version);
    return generationOf(row);
  };

  /** As a whole, on a connection of its own that may take its time: whatever ends it, nobody ever sees a part of it. */
  const storing = async (work: (session: PostgresSession) => Promise<void>) => {
    const session = await connectPostgres(place, { limits: partLimits });
    try {
      await session.inTransaction(() => work(session));
    } finally {
      session.close();
    }
  };

  return {
    read,
    current,
    async pull(generation, signal) {
      const session = await connectPostgres(place, { limits: partLimits });
      const stop = () => session.close();
      signal?.addEventListener("abort", stop);
      const path = cache!.temporaryPath();
      try {
        signal?.throwIfAborted();
        await pullParts(session, generation, path);
        signal?.throwIfAborted();
        return cache!.adopt(path, generation);
      } catch (error) {
        rmSync(path, { force: true });
        // What closing the session brought about is not what went wrong.
        signal?.throwIfAborted();
        throw error;
      } finally {
        signal?.removeEventListener("abort", stop);
        session.close();
      }
    },
    push: (path, generation, status) =>
      storing(async (session) => {
        await insertRow(session, generation, status, publisher);
        await pushParts(session, path, generation);
        await session.query(`${raiseChange} returning pg_notify('${channel}', '')`);
      }),
    take: (path, generation, format) =>
      storing(async (session) => {
        await insertRow(session, generation, "staged", publisher, format);
        await pushParts(session, path, generation);
        await checkParts(session, generation);
        await session.query(agreeSql, agreedValues(generation));
      }),
    agree: (generations, current) =>
      storing(async (session) => {
        const versions = generations.map(({ version }) => version);
        for (const generation of generations)
          await session.query(agreeSql, agreedValues(generation));
        await session.query("update dataset_state set current = $1, change = change + 1", [
          current,
        ]);
        await session.query("delete from dataset where version <> all($1::text[])", [versions]);
      }),
    async publish(version, expected) {
      let rows: Row[];
      try {
        rows = await query<Row>(publishSql, [version, expected, publisher]);
      } catch (error) {
        if (postgresCodeOf(error) === foreignKeyViolation) throw gone(version);
        if (!(error instanceof StoreFault)) throw error;
        return afterLostAnswer(version, current, error);
      }
      if (rows[0] !== undefined) return generationOf(rows[0]);
      const now = (await current())?.version ?? "nothing";
      throw new DatasetFault(
        `${version} was not published: ${now} became current meanwhile, not ${expected ?? "nothing"}, and what that brought would be given up. Import again.`,
      );
    },
    pin: (version, isPinned) => changed(pinSql, [version, isPinned], version),
    async remove(version) {
      try {
        await query(removeSql("version = $1"), [version]);
      } catch (error) {
        if (postgresCodeOf(error) !== foreignKeyViolation) throw error;
        throw new DatasetFault(`${version} is the current dataset, which is not removed.`);
      }
    },
    async removeAdded() {
      await query(removeSql("status = 'added'"));
    },
    async pushFile(name, path) {
      refuseSideName(name);
      const bytes = readFileSync(path);
      if (bytes.length > sideBytesMax)
        throw new DatasetFault(
          `${path} has ${bytes.length} bytes; a file beside the datasets has at most ${sideBytesMax}.`,
        );
      await query(pushFileSql, [name, sha256Of(bytes), await pack(bytes)]);
    },
    async pullFile(name) {
      refuseSideName(name);
      const sql = "select sha256, bytes from dataset_file where name = $1";
      const [row] = await query<{ sha256: string; bytes: Buffer }>(sql, [name]);
      if (row === undefined) return null;
      const damaged = (reason: string) => new DatasetFault(`The stored file ${name} ${reason}.`);
      const bytes = await unpack(row.bytes).catch((error: Error) => {
        throw damaged(`is damaged: ${error.message}`);
      });
      if (sha256Of(bytes) !== row.sha256) throw damaged("is damaged: its SHA-256 differs");
      const path = cache!.sidePath(name);
      const aside = cache!.temporaryPath();
      writeSynced(aside, bytes);
      renameSync(aside, path);
      return path;
    },
    watch(onLook) {
      let isEnded = false;
      let looking: Promise<void> | null = null;
      let isAgain = false;
      const lookOnce = async () => {
        const found = await look().catch((error: Error) => error);
        if (!isEnded) onLook(found);
      };
      const lookNow = () => {
        if (isEnded) return;
        if (looking !== null) isAgain = true;
        else
          looking = lookOnce().finally(() => {
            looking = null;
            if (isAgain) lookNow();
            isAgain = false;
          });
      };
      const endListening = main.listen(lookNow);
      const timer = setInterval(lookNow, lookEveryMilliseconds);
      lookNow();
      return () => {
        isEnded = true;
        clearInterval(timer);
        endListening();
      };
    },
    async lock() {
      const name = `gp-records ${publisher}`;
      const session = await connectPostgres(place, { name });
      try {
        const [row] = await session.query<{ is_ours: boolean }>(
          "select pg_try_advisory_lock($1, $2) as is_ours",
          lockKeys,
        );
        if (row!.is_ours) return lockOf(session, url);
        const importer = await findImporter(session);
        const who = importer === null ? "" : `: ${importer}`;
        throw new StoreFault(
          "busy",
          `Another import is running on ${placeName(url)}${who}. Try again when it has ended.`,
        );
      } catch (error) {
        session.close();
        throw error;
      }
    },
    instances: openInstances(main),
    close: main.close,
  };
}

const uniqueViolation = "23505";
const foreignKeyViolation = "23503";

interface Row {
  version: string;
  format: string;
  hash: string;
  sha256: string;
  bytes: number;
  records: Generation["records"];
  built_at: string;
  built_from: string | null;
  status: SharedGeneration["status"];
  published_at: string | null;
  published_after: string | null;
  pinned_at: string | null;
  publisher: string;
}

const columns = `d.version, d.format, d.hash, d.sha256, d.bytes, d.records, ${timeText("d.built_at", "built_at")},
  d.built_from, d.status, ${timeText("d.published_at", "published_at")}, d.published_after,
  ${timeText("d.pinned_at", "pinned_at")}, d.publisher`;

const generationOf = (row: Row): SharedGeneration => {
  const { version, format, hash, sha256, bytes, records, built_at, built_from } = row;
  const { status, published_at, published_after, pinned_at, publisher } = row;
  const file = { version, format, hash, sha256, bytes, records, built_at, built_from };
  return { ...file, status, published_at, published_after, pinned_at, publisher };
};

type StateRow = Row & { change: number; current: string | null; read_at: number };

type Query = Pick<PostgresSession, "query">;

export const readShared = async ({ query }: Query): Promise<SharedState> =>
  stateOf(await query<StateRow>(readAll));

/** Who holds the lock of imports, and since when; null where nobody does. */
export async function findImporter({ query }: Query): Promise<string | null> {
  const [holder] = await query<{ name: string; since: string }>(holderSql, lockKeys);
  return holder === undefined ? null : `${whoOf(holder.name)}, since ${holder.since}`;
}

/** One statement, so that it is the state of one moment. */
const readAll = `select s.change, s.current, extract(epoch from now()) * 1000 as read_at, ${columns}
  from dataset_state s left join dataset d on true order by d.version`;

function stateOf(rows: readonly StateRow[]): SharedState {
  const { change, current, read_at } = rows[0]!;
  // Without any dataset there is one row, whose version is null.
  const generations = rows
    .filter(({ version }) => (version as string | null) !== null)
    .map(generationOf);
  return {
    change,
    current: generations.find(({ version }) => version === current) ?? null,
    generations,
    readAt: read_at,
  };
}

const raiseChange = "update dataset_state set change = change + 1";

/** One statement: whoever published meanwhile holds the row until then, and it no longer names what was expected. */
const publishSql = `
  with moved as (
    update dataset_state set current = $1, change = change + 1
    where current is not distinct from $2 returning current
  ), d as (
    update dataset set status = 'published', published_at = date_trunc('second', now()), publisher = $3,
      published_after = case when published_at is null then $2 else published_after end
    where version = (select current from moved) returning *
  )
  select ${columns}, pg_notify('${channel}', '') from d`;

const pinSql = `
  with d as (
    update dataset set pinned_at = case when $2 then coalesce(pinned_at, date_trunc('second', now())) end
    where version = $1 and status <> 'added' returning *
  ), raised as (${raiseChange})
  select ${columns}, pg_notify('${channel}', '') from d`;

const removeSql = (condition: string) => `
  with gone as (delete from dataset where ${condition} returning version),
  raised as (${raiseChange} where exists (select from gone))
  select pg_notify('${channel}', '') from gone`;

const pushFileSql = `insert into dataset_file (name, sha256, bytes) values ($1, $2, $3)
  on conflict (name) do update set sha256 = excluded.sha256, bytes = excluded.bytes`;

/** Since when the session is there, which took the lock at once. */
const holderSql = `
  select a.application_name as name, ${timeText("a.backend_start", "since")}
  from pg_locks l join pg_stat_activity a on a.pid = l.pid
  where l.locktype = 'advisory' and l.classid = $1 and l.objid = $2 and l.objsubid = 2 and l.granted
    and l.database = (select oid from pg_database where datname = current_database())`;

/** Another role may not be allowed to see the name. */
const whoOf = (name: string | null) =>
  name?.replace(/^gp-records /, "") ?? "a session of another role";

const gone = (version: string) =>
  new DatasetFault(
    `There is no dataset '${version}'; 'gp-records datasets list' shows those there are.`,
  );

/** The statement may have been carried out although its answer was lost. */
async function afterLostAnswer(
  version: string,
  current: DatasetRemote["current"],
  cause: StoreFault,
): Promise<SharedGeneration> {
  const found = await current().catch(() => undefined);
  if (found?.version === version) return found;
  const whether =
    found === undefined
      ? `Whether ${version} was published is not known: 'gp-records datasets list' tells once the database answers.`
      : `${version} was not published.`;
  throw new StoreFault(cause.kind, `${cause.message} ${whether}`, { cause });
}

function lockOf(session: PostgresSession, url: string) {
  return {
    check() {
      if (session.isOver)
        throw new StoreFault(
          "busy",
          `The connection to ${placeName(url)} that held the lock of this import ended, so another one may have begun. Nothing was published. Import again.`,
        );
    },
    // Closing alone would free it only once the server has read so, and the next command may come first.
    async release() {
      await session.query("select pg_advisory_unlock($1, $2)", lockKeys).catch(() => {});
      session.close();
    },
  };
}

async function insertRow(
  session: PostgresSession,
  generation: Generation,
  status: string,
  publisher: string,
  format = ownFormat,
): Promise<void> {
  const { version, hash, sha256, bytes, records, built_at, built_from } = generation;
  const values = [version, format, hash, sha256, bytes, records, built_at, built_from];
  try {
    await session.query(
      `insert into dataset (version, format, hash, sha256, bytes, records, built_at, built_from, status, publisher)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
      [...values, status, publisher],
    );
  } catch (error) {
    if (postgresCodeOf(error) !== uniqueViolation) throw error;
    throw new DatasetFault(`${version} is stored already, by another import. Import again.`);
  }
}

const agreeSql = `update dataset set status = case when $2::timestamptz is null then 'staged' else 'published' end,
    published_at = $2::timestamptz, published_after = $3, pinned_at = $4::timestamptz
  where version = $1`;

const agreedValues = ({ version, published_at, published_after, pinned_at }: Generation) => [
  version,
  published_at,
  published_after,
  pinned_at,
];

const sha256Of = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

function refuseSideName(name: string): void {
  if (!sideNameShape.test(name))
    throw new DatasetFault(
      `A file beside the datasets cannot be called '${name}'. Use up to 200 letters, digits, '.', '_' and '-'.`,
    );
}
