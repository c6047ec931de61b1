/** Keeps the datasets of several machines in PostgreSQL: a row for each, and its file in parts of a megabyte. */
import { createHash } from "node:crypto";
import { closeSync, openSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs";
import { open } from "node:fs/promises";
import { hostname } from "node:os";
import { promisify } from "node:util";
import { constants, zstdCompress, zstdDecompress } from "node:zlib";
import { StoreFault } from "#store/domain-error.ts";
import type { DatasetCache } from "./dataset-cache.ts";
import { DatasetFault } from "./dataset-fault.ts";
import type { Generation } from "./generation.ts";
import { openGate, placeName } from "#store/postgres.ts";
import { connectPostgres, type PostgresSession } from "./postgres.ts";
import {
  type DatasetRemote,
  type Instance,
  ownFormat,
  type SharedGeneration,
  type SharedState,
} from "./remote.ts";
import { writeSynced } from "./whole-file.ts";

/** The session of a statement that carries a part must outlast a slow network. */
const partMilliseconds = 30_000;
const lookEveryMilliseconds = 500;
/** An instance says that it runs every two seconds; one that missed so many is not waited for. */
const liveSeconds = 15;
const sideBytesMax = 16 * 1024 * 1024;
const sideNameShape = /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/;
const channel = "gp_records_dataset";
/** Two numbers of our own: the lock is known by them in the whole database. */
const lockKeys = [0x6770_7265, 1];

/** @param cache that files are fetched into. */
export function openPostgresRemote(
  url: string,
  cache: DatasetCache,
  gate = openGate(),
): DatasetRemote {
  const place = { url, gate };
  const { query, listen, close } = openMainSession(url, place.gate);
  const publisher = `process ${process.pid} on ${hostname()}`;
  let seen: SharedState | null = null;

  async function read(): Promise<SharedState> {
    const rows = await query<StateRow>(readAll);
    return stateOf(rows);
  }

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

  return {
    read,
    current,
    async pull(generation, signal) {
      const session = await connectPostgres(place, { queryMilliseconds: partMilliseconds });
      const stop = () => session.close();
      signal?.addEventListener("abort", stop);
      const path = cache.temporaryPath();
      try {
        signal?.throwIfAborted();
        await pullParts(session, generation, path);
        signal?.throwIfAborted();
        return cache.adopt(path, generation);
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
    async push(path, generation, status) {
      const session = await connectPostgres(place, { queryMilliseconds: partMilliseconds });
      try {
        // One transaction: whatever ends it, nobody ever sees a part of it.
        await session.query("begin");
        await insertRow(session, generation, status, publisher);
        await pushParts(session, path, generation);
        await session.query(`${raiseChange} returning pg_notify('${channel}', '')`);
        await session.query("commit");
      } finally {
        session.close();
      }
    },
    async publish(version, expected) {
      let rows: Row[];
      try {
        rows = await query<Row>(publishSql, [version, expected, publisher]);
      } catch (error) {
        if (codeOf(error) === foreignKeyViolation) throw gone(version);
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
        if (codeOf(error) !== foreignKeyViolation) throw error;
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
      await query(pushFileSql, [name, sha256Of(bytes), await compress(bytes, zstdOptions)]);
    },
    async pullFile(name) {
      refuseSideName(name);
      const sql = "select sha256, bytes from dataset_file where name = $1";
      const [row] = await query<{ sha256: string; bytes: Buffer }>(sql, [name]);
      if (row === undefined) return null;
      const damaged = (reason: string) => new DatasetFault(`The stored file ${name} ${reason}.`);
      const bytes = await decompress(row.bytes).catch((error: Error) => {
        throw damaged(`is damaged: ${error.message}`);
      });
      if (sha256Of(bytes) !== row.sha256) throw damaged("is damaged: its SHA-256 differs");
      const path = cache.sidePath(name);
      const aside = cache.temporaryPath();
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
      const endListening = listen(lookNow);
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
        const [holder] = await session.query<{ name: string; since: string }>(holderSql, lockKeys);
        const who = holder === undefined ? "" : `: ${whoOf(holder.name)}, since ${holder.since}`;
        throw new StoreFault(
          "busy",
          `Another import is running on ${placeName(url)}${who}. Try again when it has ended.`,
        );
      } catch (error) {
        session.close();
        throw error;
      }
    },
    async noteInstance({ id, host, pid, startedAt, program, formats, served }) {
      await query(noteInstanceSql, [id, host, pid, startedAt, program, formats, served]);
    },
    async forgetInstance(id) {
      await query("delete from instance where id = $1", [id]);
    },
    async instances() {
      const rows = await query<InstanceRow>(instancesSql);
      return rows.map(({ started_at, seen_at, is_live, ...rest }) => {
        return { ...rest, startedAt: started_at, seenAt: seen_at, isLive: is_live };
      });
    },
    close,
  };
}

/** One session for all that is small, opened when it is needed, and opened again when it ended. */
function openMainSession(url: string, gate: ReturnType<typeof openGate>) {
  let main: PostgresSession | null = null;
  let opening: Promise<PostgresSession> | null = null;
  let isClosed = false;
  const listeners = new Set<() => void>();
  const onNotice = () => {
    for (const listener of listeners) listener();
  };
  const openOnce = async () => {
    const session = await connectPostgres({ url, gate }, { onNotice });
    if (isClosed) session.close();
    else if (listeners.size > 0) await session.query(`listen ${channel}`);
    return (main = session);
  };
  const session = async () => {
    if (main !== null && !main.isOver) return main;
    return (opening ??= openOnce().finally(() => (opening = null)));
  };
  return {
    async query<R>(sql: string, values: readonly unknown[] = []): Promise<R[]> {
      const usable = await session();
      try {
        return await usable.query<R>(sql, values);
      } catch (error) {
        if (codeOf(error) !== undefinedTable) throw error;
        throw new StoreFault(
          "unusable",
          `${placeName(url)} lacks the tables of datasets. Run 'gp-records migrate'.`,
          { cause: error },
        );
      }
    },
    listen(listener: () => void) {
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

const undefinedTable = "42P01";
const uniqueViolation = "23505";
const foreignKeyViolation = "23503";
const codeOf = (error: unknown) => (error as { code?: unknown }).code;

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

const timeText = (expression: string, name: string) =>
  `to_char(${expression} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as ${name}`;

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

const noteInstanceSql = `
  with old as (delete from instance where seen_at < now() - interval '1 day' and id <> $1)
  insert into instance (id, host, pid, started_at, seen_at, program, formats, served)
  values ($1, $2, $3, $4, now(), $5, $6, $7)
  on conflict (id) do update set seen_at = now(), served = excluded.served`;

type InstanceRow = Pick<Instance, "id" | "host" | "pid" | "program" | "formats" | "served"> & {
  started_at: string;
  seen_at: string;
  is_live: boolean;
};

const instancesSql = `select id, host, pid, ${timeText("started_at", "started_at")}, ${timeText("seen_at", "seen_at")},
    seen_at > now() - interval '${liveSeconds} seconds' as is_live, program, formats, served
  from instance order by host, pid, id`;

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
): Promise<void> {
  const { version, hash, sha256, bytes, records, built_at, built_from } = generation;
  const values = [version, ownFormat, hash, sha256, bytes, records, built_at, built_from];
  try {
    await session.query(
      `insert into dataset (version, format, hash, sha256, bytes, records, built_at, built_from, status, publisher)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
      [...values, status, publisher],
    );
  } catch (error) {
    if (codeOf(error) !== uniqueViolation) throw error;
    throw new DatasetFault(`${version} is stored already, by another import. Import again.`);
  }
}

const partBytes = 1024 * 1024;
const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);
/** Fast, and with a checksum, so that a damaged part is known by itself. */
const zstdOptions = {
  params: { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_checksumFlag]: 1 },
};
const sha256Of = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

/** A part is compressed while the one before it is on its way. */
async function pushParts(
  session: PostgresSession,
  path: string,
  { version, sha256 }: Generation,
): Promise<void> {
  const digest = createHash("sha256");
  const file = await open(path, "r");
  try {
    let sent: Promise<unknown> = Promise.resolve();
    for (let number = 0; ; number++) {
      const piece = Buffer.allocUnsafe(partBytes);
      const { bytesRead } = await file.read(piece, 0, partBytes, number * partBytes);
      if (bytesRead === 0) break;
      const part = piece.subarray(0, bytesRead);
      digest.update(part);
      const bytes = await compress(part, zstdOptions);
      await sent;
      const sql = "insert into dataset_part (version, number, bytes) values ($1, $2, $3)";
      sent = session.query(sql, [version, number, bytes]);
      // Awaited in the next round, where it throws.
      sent.catch(() => {});
    }
    await sent;
  } finally {
    await file.close();
  }
  if (digest.digest("hex") !== sha256)
    throw new DatasetFault(
      `${path} changed while it was stored; nothing was published. Import again.`,
    );
}

/** The next part is on its way while one is written. Whatever is damaged, the file is not taken over. */
async function pullParts(
  session: PostgresSession,
  generation: Generation,
  path: string,
): Promise<void> {
  const { version, bytes, sha256 } = generation;
  const count = Math.ceil(bytes / partBytes);
  const fetchPart = (number: number) => {
    const sql = "select bytes from dataset_part where version = $1 and number = $2";
    const rows = session.query<{ bytes: Buffer }>(sql, [version, number]);
    rows.catch(() => {});
    return rows;
  };
  const digest = createHash("sha256");
  const file = openSync(path, "wx", 0o600);
  try {
    let next = fetchPart(0);
    for (let number = 0; number < count; number++) {
      const [row] = await next;
      if (number + 1 < count) next = fetchPart(number + 1);
      const name = `Part ${number + 1} of ${count} of the stored dataset ${version}`;
      if (row === undefined)
        throw new DatasetFault(`${name} is missing: it was removed. ${storedRemedy}`);
      const part = await decompress(row.bytes).catch((error: Error) => {
        throw new DatasetFault(`${name} is damaged: ${error.message}. ${storedRemedy}`);
      });
      if (part.length !== Math.min(partBytes, bytes - number * partBytes))
        throw new DatasetFault(`${name} is damaged: it has ${part.length} bytes. ${storedRemedy}`);
      digest.update(part);
      for (let at = 0; at < part.length;) at += writeSync(file, part, at);
    }
  } finally {
    closeSync(file);
  }
  if (digest.digest("hex") !== sha256)
    throw new DatasetFault(
      `The stored dataset ${version} is damaged: its SHA-256 differs. ${storedRemedy}`,
    );
}

const storedRemedy =
  "Go back with 'gp-records datasets rollback', or import again; or restore the database from its backup.";

function refuseSideName(name: string): void {
  if (!sideNameShape.test(name))
    throw new DatasetFault(
      `A file beside the datasets cannot be called '${name}'. Use up to 200 letters, digits, '.', '_' and '-'.`,
    );
}
