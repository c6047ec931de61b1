/** Keeps the datasets of several machines in PostgreSQL: a row for each, and its file in parts of 1 MiB. */
import { rmSync } from "node:fs";
import { hostname } from "node:os";
import { timeText } from "#store/dataset-tables.ts";
import { StoreFault } from "#store/domain-error.ts";
import {
  connectPostgres,
  openGate,
  placeName,
  type PostgresPlace,
  type PostgresSession,
} from "#store/postgres.ts";
import { postgresCodeOf } from "#store/store-fault.ts";
import type { Catalogue } from "./catalogue.ts";
import { checkGenerations, type GenerationCheck } from "./check-generations.ts";
import { type DatasetCache, openCache, versionsToKeep } from "./dataset-cache.ts";
import { DatasetFault, isCurrentDataset, noDataset, overtaken } from "./dataset-fault.ts";
import type { Generation } from "./generation.ts";
import { openPublications } from "./publications.ts";
import {
  datasetColumns,
  forgetInstance,
  forgetPublications,
  type Instance,
  insertGeneration,
  listInstances,
  listPublications,
  noteBase,
  noteInstance,
  readShared,
  type SharedState,
  generationOf,
} from "./shared-rows.ts";
import { noStep } from "./steps.ts";
import {
  datasetFile,
  partLimits,
  pullParts,
  pullStep,
  pushParts,
  pushStep,
  stepName,
} from "./stored-parts.ts";
import type { Kept, MadeStep, OpenStore, StoreOrder } from "./store.ts";

/**
 * The datasets of several machines. Each call throws a StoreFault if the database is away: `busy` within 2 s, where no file
 * is stored or fetched.
 */
export interface SharedStore extends OpenStore {
  /** Notes that a server runs, so that nothing is published that it cannot read. */
  noteServer(instance: Instance): Promise<void>;
  forgetServer(id: string): Promise<void>;
  /** Fetches a step into a new file. @throws DatasetFault naming a missing or damaged part. */
  pullStep(path: string, from: string, to: string): Promise<void>;
  /**
   * Looks at the datasets now and twice a second.
   * @param onLook gets the same object while nothing changes, and an error while the database is away.
   * @returns a function that ends the watch.
   */
  watch(onLook: (seen: Kept | Error) => void): () => void;
}

/** Opens the store for a command. @throws DatasetFault if the folder is no cache. */
export function openPostgresStore(order: Omit<StoreOrder, "now">, url: string): SharedStore {
  const cache = openCache(order.folder);
  const store = openSharedStore({ url, gate: openGate() }, cache, order);
  let kept: Kept | null = null;
  return {
    ...store,
    read: async () => (kept = await store.read()),
    close() {
      if (kept !== null) cache.prune(versionsToKeep(kept), Date.now());
      store.close();
    },
  };
}

const lookEveryMilliseconds = 500;

/** @param cache folder that files are fetched into. */
export function openSharedStore(
  place: PostgresPlace,
  cache: DatasetCache,
  { changesDays, warn }: Pick<StoreOrder, "changesDays" | "warn">,
): SharedStore {
  const { catalogue } = cache;
  const { folder } = catalogue;
  const main = openLastingSession(place);
  const { query } = main;
  const steps = openPublications(folder);
  let lock: HeldLock | null = null;
  let looked: { change: number; kept: Kept } | null = null;

  const read = async () => keptOf(catalogue, await readShared(main));

  /** Reads as `read`, but returns the same object if nothing changed since it was last called. */
  async function look(): Promise<Kept> {
    const [row] = await query<{ change: number }>("select change from dataset_state");
    if (looked?.change === row!.change) return looked.kept;
    const state = await readShared(main);
    looked = { change: state.change, kept: keptOf(catalogue, state) };
    return looked.kept;
  }

  /** Does work on a connection of its own, which may take its time. */
  async function transferring<R>(work: (session: PostgresSession) => Promise<R>): Promise<R> {
    const session = await connectPostgres(place, { limits: partLimits });
    try {
      return await work(session);
    } finally {
      session.close();
    }
  }

  /** Stores in one transaction, so that nobody ever sees a part. */
  const storing = (work: (session: PostgresSession) => Promise<unknown>) =>
    transferring((session) => session.inTransaction(() => work(session)));

  /** Fetches a file into the cache, whole or not at all. @returns its path. */
  const pull = (generation: Generation, signal?: AbortSignal) =>
    transferring(async (session) => {
      const stop = () => session.close();
      signal?.addEventListener("abort", stop);
      const path = cache.temporaryPath();
      try {
        signal?.throwIfAborted();
        await pullParts(session, datasetFile(generation), path);
        signal?.throwIfAborted();
        return cache.adopt(path, generation);
      } catch (error) {
        rmSync(path, { force: true });
        // Closing the session caused another error, which is not the reason.
        signal?.throwIfAborted();
        throw error;
      } finally {
        signal?.removeEventListener("abort", stop);
      }
    });

  /** Finds a dataset, also one that is only added. @throws DatasetFault if there is none. */
  async function find(version: string): Promise<Generation> {
    const kept = await look();
    return kept.added.find((one) => one.version === version) ?? kept.find(version);
  }

  /** Stores the step that was written for a publication. Returns null if that fails, which fails no publication. */
  async function storeStep(from: string, to: string, step: MadeStep): Promise<MadeStep | null> {
    try {
      await storing((session) => pushStep(session, steps.stepPath(from, to), from, to));
      return step;
    } catch (error) {
      warn(noStep(from, to, error as Error));
      return null;
    }
  }

  /** Checks a stored dataset. Fetches it again, so that the stored file is checked and not this machine's copy. */
  async function check(version: string): Promise<GenerationCheck> {
    const kept = await read();
    const generation = kept.find(version);
    const path = kept.pathOf(version);
    const wasHere = cache.has(generation);
    const wasWhole = cache.isWhole(generation);
    try {
      await pull(generation);
    } catch (error) {
      if (!(error instanceof DatasetFault)) throw error;
      const isCurrent = version === kept.currentVersion();
      const copy = wasWhole ? ` ${path} is a whole copy of it: keep it.` : "";
      const mend = `Restore the database from its backup${isCurrent ? "; until then 'gp-records datasets rollback' serves the dataset before it" : ""}.${copy}`;
      const fault = error.message.replace(/(?<=\.) .*$/, "");
      return { version, file: path, isCurrent, fault, mend };
    }
    if (wasHere && !wasWhole) warn(`${path} was damaged on this machine, and was fetched again`);
    const [checked] = [...checkGenerations(kept, true, [version])];
    if (!wasHere) cache.drop(version);
    return checked!;
  }

  /** Moves the pointer. @returns the published generation; null if another version than the expected one is current. */
  async function point(
    version: string,
    expected: string | null,
    step: MadeStep | null,
  ): Promise<Generation | null> {
    if (expected !== null) await noteBase(main, expected, step?.from_hash ?? null);
    const name = step === null ? null : stepName(expected!, version);
    const noted = [name, step?.step ?? null, step?.hash ?? null];
    try {
      const [row] = await query<Generation>(publishSql, [version, expected, ...noted]);
      return row === undefined ? null : generationOf(row);
    } catch (error) {
      if (postgresCodeOf(error) === foreignKeyViolation) throw noDataset(version);
      if (!(error instanceof StoreFault)) throw error;
      return afterLostAnswer(version, read, error);
    }
  }

  return {
    folder,
    changesDays,
    warn,
    read,
    publications: () => listPublications(main),
    async open(version, signal) {
      const generation = await find(version);
      const isHere = cache.isWhole(generation);
      const path = isHere ? catalogue.pathOf(version) : await pull(generation, signal);
      cache.touch(version);
      return path;
    },
    async add({ path, generation, isStaged }) {
      lock?.check();
      await storing(async (session) => {
        await insertNew(session, generation, isStaged ? "staged" : "added");
        await pushParts(session, path, datasetFile(generation));
        await session.query(raiseChange);
      });
      return cache.adopt(path, generation);
    },
    async publish(version, expected, made) {
      const step = made === null ? null : await storeStep(expected!, version, made);
      lock?.check();
      const published = await point(version, expected, step);
      if (published === null) throw overtaken(version, (await read()).currentVersion(), expected);
      try {
        // A server on this folder does so, too; the second one finds it done.
        if (cache.has(published)) cache.point(published);
      } catch (error) {
        warn(`the published dataset is not in ${folder}: ${(error as Error).message}`);
      }
      return published;
    },
    async pin(version, isPinned) {
      const [row] = await query<Generation>(pinSql, [version, isPinned]);
      if (row === undefined) throw noDataset(version);
      return generationOf(row);
    },
    async remove(version) {
      try {
        await query(removeSql("version = $1"), [version]);
      } catch (error) {
        if (postgresCodeOf(error) !== foreignKeyViolation) throw error;
        throw isCurrentDataset(version);
      }
    },
    async forgetSteps() {
      await forgetPublications(main, changesDays);
      steps.clear(await listPublications(main));
    },
    check,
    servers: () => listInstances(main),
    noteServer: (instance) => noteInstance(main, instance),
    forgetServer: (id) => forgetInstance(main, id),
    pullStep: (path, from, to) => transferring((session) => pullStep(session, path, from, to)),
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
    async take() {
      const held = await lockImports(place);
      try {
        await query(removeSql("status = 'added'"));
      } catch (error) {
        await held.release();
        throw error;
      }
      lock = held;
      return async () => {
        lock = null;
        await held.release();
      };
    },
    close: main.close,
  };
}

/** Returns the shared datasets in place of the folder's. A dataset that is only added does not count yet. */
function keptOf({ folder, pathOf }: Catalogue, state: SharedState): Kept {
  const { current, generations, added, readAt } = state;
  const findReadable = (version: string) =>
    generations.find((one) => one.version === version) ?? null;
  return {
    folder,
    pathOf,
    list: () => [...generations],
    versions: () => generations.map(({ version }) => version),
    has: (version) => findReadable(version) !== null,
    find(version) {
      const found = findReadable(version);
      if (found === null) throw noDataset(version);
      return found;
    },
    findReadable,
    currentVersion: () => current?.version ?? null,
    current: () => current,
    added,
    readAt,
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
    select current, date_trunc('second', now()), $2, $3, $4::json,
      coalesce($5, (select max(hash) from dataset_publication where version = $1))
    from moved where current is distinct from $2
  ), d as (
    update dataset set status = 'published', published_at = date_trunc('second', now()),
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
  read: () => Promise<Kept>,
  cause: StoreFault,
): Promise<Generation> {
  const kept = await read().catch(() => undefined);
  const found = kept?.current();
  if (found?.version === version) return found;
  const whether =
    kept === undefined
      ? `It is not known whether ${version} was published: 'gp-records datasets list' tells when the database answers.`
      : `${version} was not published.`;
  throw new StoreFault(cause.kind, `${cause.message} ${whether}`, { cause });
}

/** Inserts a generation. @throws DatasetFault if its version is there already. */
async function insertNew(
  session: PostgresSession,
  generation: Generation,
  status: "added" | "staged",
): Promise<void> {
  try {
    await insertGeneration(session, generation, status);
  } catch (error) {
    if (postgresCodeOf(error) !== uniqueViolation) throw error;
    throw new DatasetFault(
      `${generation.version} is stored already, by another import. Import again.`,
    );
  }
}

/** A lock of PostgreSQL on all machines, which ends with the session of its holder. */
interface HeldLock {
  /** @throws StoreFault if the session ended: somebody else may hold the lock by now. */
  check(): void;
  release(): Promise<void>;
}

/** Two numbers that identify the lock in the whole database. */
const lockKeys = [0x6770_7265, 1];

/** Name of a session that holds the lock. */
const holderName = `gp-records process ${process.pid} on ${hostname()}`;

/** Takes the lock. @throws StoreFault `busy`, naming the holder, if another import has the lock. */
async function lockImports(database: PostgresPlace): Promise<HeldLock> {
  const place = placeName(database.url);
  const session = await connectPostgres(database, { name: holderName });
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

const lockOf = (session: PostgresSession, place: string): HeldLock => ({
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
