/** Keeps the datasets of several machines in PostgreSQL: a row for each, and its file in parts of 1 MiB. */
import { rmSync } from "node:fs";
import { StoreFault } from "#store/domain-error.ts";
import {
  connectPostgres,
  openGate,
  type PostgresPlace,
  type PostgresSession,
} from "#store/postgres.ts";
import { postgresCodeOf } from "#store/store-fault.ts";
import type { DatasetCache } from "./dataset-cache.ts";
import { DatasetFault, noDataset } from "./dataset-fault.ts";
import { lockImports } from "./import-lock.ts";
import { openInstances } from "./instances.ts";
import { nameOf, openSharedPublications } from "./shared-publications.ts";
import {
  type DatasetRemote,
  ownFormat,
  type SharedGeneration,
  type SharedState,
} from "./remote.ts";
import {
  datasetColumns,
  generationOf,
  insertGeneration,
  publisher,
  readShared,
} from "./shared-rows.ts";
import { datasetFile, partLimits, pullParts, pushParts } from "./stored-parts.ts";

const lookEveryMilliseconds = 500;

/** @param cache cache that files are fetched into; null for callers that fetch none. */
export function openPostgresRemote(
  url: string,
  cache: DatasetCache | null,
  gate = openGate(),
): DatasetRemote {
  const place = { url, gate };
  const main = openLastingSession(place);
  const { query } = main;
  const publications = openSharedPublications(main, place);
  let seen: SharedState | null = null;

  const read = () => readShared(main);

  /** Returns the state, as the same object if nothing changed since. */
  async function look(): Promise<SharedState> {
    const [row] = await query<{ change: number }>("select change from dataset_state");
    if (seen === null || seen.change !== row!.change) seen = await read();
    return seen;
  }

  const current = async () => (await read()).current;

  const changed = async (sql: string, values: readonly unknown[], version: string) => {
    const [row] = await query<SharedGeneration>(sql, values);
    if (row === undefined) throw noDataset(version);
    return generationOf(row);
  };

  /** Stores in one transaction, on a connection of its own that may take its time, so that nobody ever sees a part. */
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
        await pullParts(session, datasetFile(generation), path);
        signal?.throwIfAborted();
        return cache!.adopt(path, generation);
      } catch (error) {
        rmSync(path, { force: true });
        // Closing the session caused another error, which is not the reason.
        signal?.throwIfAborted();
        throw error;
      } finally {
        signal?.removeEventListener("abort", stop);
        session.close();
      }
    },
    push: (path, generation, status) =>
      storing(async (session) => {
        await insertNew(session, { ...generation, format: ownFormat, status, publisher });
        await pushParts(session, path, datasetFile(generation));
        await session.query(raiseChange);
      }),
    async publish(version, expected, step = null) {
      const name = step?.step == null ? null : nameOf(expected!, version);
      const noted = [name, step?.step ?? null, step?.hash ?? null];
      if (expected !== null) await publications.noteBase(expected, step?.from_hash ?? null);
      let rows: SharedGeneration[];
      try {
        rows = await query<SharedGeneration>(publishSql, [version, expected, publisher, ...noted]);
      } catch (error) {
        if (postgresCodeOf(error) === foreignKeyViolation) throw noDataset(version);
        if (!(error instanceof StoreFault)) throw error;
        return afterLostAnswer(version, current, error);
      }
      if (rows[0] !== undefined) return generationOf(rows[0]);
      const now = (await current())?.version ?? "nothing";
      throw new DatasetFault(
        `${version} was not published: ${now} became current meanwhile, not ${expected ?? "nothing"}, and its changes would be lost. Import again.`,
      );
    },
    pin: (version, isPinned) => changed(pinSql, [version, isPinned], version),
    async remove(version) {
      try {
        await query(removeSql("version = $1"), [version]);
      } catch (error) {
        if (postgresCodeOf(error) !== foreignKeyViolation) throw error;
        throw new DatasetFault(`${version} is the current dataset, which cannot be removed.`);
      }
    },
    async removeAdded() {
      await query(removeSql("status = 'added'"));
    },
    watch(onLook) {
      let isEnded = false;
      let isLooking = false;
      const lookNow = async () => {
        if (isLooking) return;
        isLooking = true;
        const found = await look().catch((error: Error) => error);
        isLooking = false;
        if (!isEnded) onLook(found);
      };
      const timer = setInterval(() => void lookNow(), lookEveryMilliseconds);
      void lookNow();
      return () => {
        isEnded = true;
        clearInterval(timer);
      };
    },
    lock: () => lockImports(place, publisher),
    instances: openInstances(main),
    publications,
    close: main.close,
  };
}

/** Returns a session for the life of a process, opened when needed, and opened again after it ended. */
function openLastingSession(place: PostgresPlace): Pick<PostgresSession, "query" | "close"> {
  let main: PostgresSession | null = null;
  let opening: Promise<PostgresSession> | null = null;
  let isClosed = false;
  const openOnce = async () => {
    main = await connectPostgres(place);
    if (isClosed) main.close();
    return main;
  };
  const session = async () => {
    if (main !== null && !main.isOver) return main;
    return (opening ??= openOnce().finally(() => (opening = null)));
  };
  return {
    query: async (sql, values) => (await session()).query(sql, values),
    close() {
      isClosed = true;
      main?.close();
    },
  };
}

const uniqueViolation = "23505";
const foreignKeyViolation = "23503";

const raiseChange = "update dataset_state set change = change + 1";

/** One statement. A process that publishes meanwhile holds the row, which then no longer names the expected version. */
const publishSql = `
  with moved as (
    update dataset_state set current = $1, change = change + 1
    where current is not distinct from $2 returning current
  ), noted as (
    insert into dataset_publication (version, published_at, previous, step, facts, hash)
    select current, date_trunc('second', now()), $2, $4, $5::jsonb,
      coalesce($6, (select max(hash) from dataset_publication where version = $1))
    from moved where current is distinct from $2
  ), d as (
    update dataset set status = 'published', published_at = date_trunc('second', now()), publisher = $3,
      published_after = case when published_at is null then $2 else published_after end
    where version = (select current from moved) returning *
  )
  select ${datasetColumns} from d`;

const pinSql = `
  with d as (
    update dataset set pinned_at = case when $2 then coalesce(pinned_at, date_trunc('second', now())) end
    where version = $1 and status <> 'added' returning *
  ), raised as (${raiseChange})
  select ${datasetColumns} from d`;

const removeSql = (condition: string) => `
  with gone as (delete from dataset where ${condition} returning version)
  ${raiseChange} where exists (select from gone)`;

/** Returns the published generation, as the statement may have been carried out although its answer was lost. */
async function afterLostAnswer(
  version: string,
  current: DatasetRemote["current"],
  cause: StoreFault,
): Promise<SharedGeneration> {
  const found = await current().catch(() => undefined);
  if (found?.version === version) return found;
  const whether =
    found === undefined
      ? `It is not known whether ${version} was published: 'gp-records datasets list' tells when the database answers.`
      : `${version} was not published.`;
  throw new StoreFault(cause.kind, `${cause.message} ${whether}`, { cause });
}

/** Inserts a generation. @throws DatasetFault if its version is there already. */
async function insertNew(session: PostgresSession, generation: SharedGeneration): Promise<void> {
  try {
    await insertGeneration(session, generation);
  } catch (error) {
    if (postgresCodeOf(error) !== uniqueViolation) throw error;
    throw new DatasetFault(
      `${generation.version} is stored already, by another import. Import again.`,
    );
  }
}
