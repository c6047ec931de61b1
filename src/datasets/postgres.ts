/** Keeps the datasets of several machines in PostgreSQL: a row for each dataset, and its file in parts of 1 MiB. */
import { addAbortListener } from "node:events";
import { readdirSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { type Publication, withAllStepCounts } from "#records/publication.ts";
import {
  connectPostgres,
  openLastingSession,
  placeName,
  type PostgresSession,
  withSession,
} from "#store/postgres.ts";
import { postgresCodeOf, StoreFault } from "#store/store-fault.ts";
import { type Catalogue, draftName } from "./catalogue.ts";
import { checkGeneration, type GenerationCheck } from "./check-generations.ts";
import { type DatasetCache, type Kept, openCache, versionsToKeep } from "./dataset-cache.ts";
import { DatasetFault, isCurrentDataset, noDataset, overtaken } from "./dataset-fault.ts";
import { asPublished, type Generation, timeOf, withAllCounts } from "./generation.ts";
import {
  type MadeStep,
  openPublications,
  withoutSteps,
  withPublication,
  youngerThan,
} from "./publications.ts";
import { noStep } from "./steps.ts";
import {
  partLimits,
  pullFile,
  pushDataset,
  pushStep,
  stepName,
  storedRemedy,
} from "./stored-parts.ts";
import type { Instance, OpenStore, SeenInstance, StoreOrder } from "./store.ts";

/**
 * Store of datasets for several machines. Promises reject with a StoreFault if the database is unreachable: within
 * 2 s, or within 30 s if the call transfers or removes a file.
 */
export interface SharedStore extends OpenStore {
  read(): Promise<Kept>;
  /** Records a running server. A dataset that it cannot read is then published only by force. */
  noteServer(instance: Instance): Promise<void>;
  forgetServer(id: string): Promise<void>;
  /** Opens a version. @param signal signal that breaks off the fetch of its file. */
  open(version: string, signal?: AbortSignal): Promise<string>;
  /**
   * Fetches a step into a new file.
   * @param signal signal that breaks off the fetch.
   * @throws DatasetFault that names what is missing or damaged.
   */
  pullStep(path: string, from: string, to: string, signal?: AbortSignal): Promise<void>;
  /** Reads the datasets like `read`, but returns the previous object if nothing has changed. */
  look(): Promise<Kept>;
}

/** Opens the store for a command. @throws DatasetFault if the folder has datasets that were not fetched. */
export function openPostgresStore(order: Omit<StoreOrder, "now">, url: string): SharedStore {
  const cache = openCache(order.folder);
  const store = openSharedStore(url, cache, order);
  let kept: Kept | null = null;
  return {
    ...store,
    read: async () => (kept = await store.read()),
    close() {
      // Only a server on this folder knows whether it needs the pinned ones.
      if (kept !== null) cache.prune(versionsToKeep(kept, true));
      store.close();
    },
  };
}

/** Opens the store. @param cache folder that files are fetched into. */
export function openSharedStore(
  url: string,
  cache: DatasetCache,
  { changesDays, warn }: Pick<StoreOrder, "changesDays" | "warn">,
): SharedStore {
  const { catalogue } = cache;
  const { folder } = catalogue;
  const main = openLastingSession(url);
  const { query } = main;
  const steps = openPublications(folder);
  let seen: Kept | null = null;

  const read = async () => keptOf(catalogue, await readShared(main));

  async function look(): Promise<Kept> {
    const [row] = await query<SharedState>("select change, current from dataset_state");
    // A standby that took over may lack changes, and have others under the same count.
    if (seen?.change !== row!.change || seen.currentVersion() !== row!.current) seen = await read();
    return seen;
  }

  /** Does long work on a separate connection, which is closed if the signal is aborted. */
  const transferring = <R>(
    work: (session: PostgresSession) => Promise<R>,
    signal?: AbortSignal,
  ): Promise<R> =>
    withSession(
      url,
      async (session) => {
        using _ = signal && addAbortListener(signal, session.close);
        return await work(session);
      },
      { limits: partLimits },
    );

  /** Removes files, which may take the database seconds. */
  const remove: PostgresSession["query"] = (...sql) => transferring(({ query }) => query(...sql));

  /** Stores a file in one transaction, so that nobody ever sees only a part of it. */
  const storing = (work: (session: PostgresSession) => Promise<unknown>) =>
    transferring((session) => session.inTransaction(() => work(session)));

  /** Fetches a file into the cache, whole or not at all. @returns its path. */
  const pull = (generation: Generation, signal?: AbortSignal) =>
    transferring(async (session) => {
      const path = cache.temporaryPath();
      try {
        await pullFile(session, generation.version, path);
        addedHere.add(generation.version);
        return cache.adopt(path, generation);
      } catch (error) {
        rmSync(path, { force: true });
        throw error;
      }
    }, signal);

  /** Stores the step written for a publication. Returns null if that fails. The publication goes ahead all the same. */
  async function storeStep(from: string, to: string, step: MadeStep): Promise<MadeStep | null> {
    try {
      await storing((session) => pushStep(session, steps.stepPath(from, to), from, to));
      return step;
    } catch (error) {
      warn(noStep(from, to, error as Error));
      return null;
    }
  }

  /** Checks a stored dataset. Always fetches it, so that the stored file is checked rather than this machine's copy. */
  async function check(version: string): Promise<GenerationCheck> {
    const kept = await read();
    const generation = kept.find(version);
    const wasHere = cache.has(generation);
    try {
      await pull(generation);
    } catch (error) {
      if (!(error instanceof DatasetFault)) throw error;
      const isCurrent = version === kept.currentVersion();
      const mend = `Restore the database from its backup${isCurrent ? "; until then, return to the dataset before this one with 'gp-records datasets rollback'" : ""}.`;
      const fault = error.message.replace(` ${storedRemedy}`, "");
      return { version, file: kept.pathOf(version), isCurrent, fault, mend };
    }
    const checked = checkGeneration(kept, version, true);
    if (!wasHere) catalogue.remove(version);
    return checked;
  }

  /** Moves the pointer. Returns false if the expected version is no longer current. */
  async function point(
    published: Generation,
    expected: string | null,
    publications: readonly Publication[],
  ): Promise<boolean> {
    const { version } = published;
    const facts = JSON.stringify(published);
    try {
      const noted = JSON.stringify(publications);
      return (await query(publishSql, [version, expected, facts, noted])).length > 0;
    } catch (error) {
      if (!(error instanceof StoreFault)) throw error;
      // The statement may have succeeded although its answer was lost.
      const kept = await read().catch(() => null);
      if (kept?.currentVersion() === version) return true;
      const whether =
        kept === null
          ? `It is unknown whether ${version} was published: run 'gp-records datasets list' once the database answers.`
          : `${version} was not published.`;
      throw new StoreFault(error.kind, `${error.message} ${whether}`, { cause: error });
    }
  }

  const pullStep: SharedStore["pullStep"] = (path, from, to, signal) =>
    transferring((session) => pullFile(session, stepName(from, to), path), signal);

  /** Replaces the list of publications, `noted`, with `kept`. Deletes steps not in `kept`, here and in the database. */
  async function keepSteps(
    noted: readonly Publication[],
    kept: readonly Publication[],
  ): Promise<void> {
    const names = kept.flatMap(({ from, version, step }) =>
      step === null ? [] : [stepName(from!, version)],
    );
    if (JSON.stringify(kept) !== JSON.stringify(noted))
      await query(forgetSql, [JSON.stringify(kept)]);
    await remove("delete from dataset_file where name like '%..%' and name <> all($1)", [names]);
    steps.clear(kept);
  }

  const addedHere = new Set<string>();

  return {
    folder,
    changesDays,
    warn,
    read,
    look,
    publications: () => listPublications(main),
    async open(version, signal) {
      const kept = await look();
      const generation = findAny(kept, version) ?? kept.find(version);
      const isHere = cache.isWhole(generation);
      const path = isHere ? catalogue.pathOf(version) : await pull(generation, signal);
      cache.touch(version);
      return path;
    },
    async add({ path, generation, isStaged }) {
      await storing(async (session) => {
        await pushDataset(session, path, generation, !isStaged);
        await session.query(raiseChange);
      });
      addedHere.add(generation.version);
      return cache.adopt(path, generation);
    },
    async publish(version, expected, made) {
      const step = made === null ? null : await storeStep(expected!, version, made);
      const kept = await read();
      const found = findAny(kept, version) ?? (addedHere.has(version) ? null : kept.find(version));
      if (found === null) throw lockLost(version, placeName(url));
      const published = asPublished(found, timeOf(kept.readAt), expected);
      const noted = await listPublications(main);
      const publications =
        changesDays === 0 ? noted : withPublication(noted, kept.current(), published, step);
      const isDone =
        kept.currentVersion() === expected && (await point(published, expected, publications));
      if (!isDone) throw overtaken(version, (await read()).currentVersion(), expected);
      try {
        // A server on this folder does the same; the later of the two finds nothing to do.
        if (cache.has(published)) cache.point(published);
      } catch (error) {
        const { message } = error as Error;
        warn(
          `${version} was published, but ${folder} could not be switched to it (${message}); a server that uses this folder will try again by itself`,
        );
      }
      return published;
    },
    async pin(version, isPinned) {
      const kept = await read();
      const found = kept.find(version);
      if ((found.pinned_at === null) !== isPinned) return found;
      const pinned = { ...found, pinned_at: isPinned ? timeOf(kept.readAt) : null };
      await query(pinSql, [version, JSON.stringify(pinned)]);
      return pinned;
    },
    async remove(version) {
      try {
        await remove(removeSql("$1"), [version]);
      } catch (error) {
        if (postgresCodeOf(error) !== foreignKeyViolation) throw error;
        throw isCurrentDataset(version);
      }
      catalogue.remove(version);
    },
    async forgetSteps() {
      const noted = await listPublications(main);
      await keepSteps(noted, youngerThan(noted, changesDays, (await read()).readAt));
    },
    async removeSteps(isMeant) {
      const noted = await listPublications(main);
      const isGone = async (from: string, to: string) => {
        if (steps.openStep(from, to) === null)
          await steps.addStep(from, to, (path) => pullStep(path, from, to));
        return isMeant(steps.stepPath(from, to));
      };
      await keepSteps(noted, await withoutSteps(noted, isGone));
    },
    check,
    servers: () => listInstances(main),
    async noteServer({ id, host, pid, program, formats, served }) {
      await query(noteServerSql, [id, host, pid, program, formats, served]);
    },
    async forgetServer(id) {
      await query("delete from instance where id = $1", [id]);
    },
    pullStep,
    async take() {
      const release = await lockImports(url);
      try {
        await remove(removeSql("(select version from dataset where is_added)"));
        await cache.removeGone(read);
        for (const name of readdirSync(folder))
          if (name.startsWith(draftName)) rmSync(join(folder, name), { force: true });
      } catch (error) {
        await release();
        throw error;
      }
      return release;
    },
    close: main.close,
  };
}

/** Facts about the shared datasets at one moment. */
interface SharedState extends Pick<Kept, "change" | "added" | "readAt"> {
  /** Current version; null if there is none. */
  current: string | null;
  /** Datasets except those in `added`, oldest first. */
  generations: readonly Generation[];
}

type Query = Pick<PostgresSession, "query">;

/** Reads the state in one statement, so that it is consistent. */
export async function readShared({ query }: Query): Promise<SharedState> {
  const factsOf = (condition: string) =>
    `(select coalesce(json_agg(facts order by version), '[]') from dataset where ${condition})`;
  const [row] = await query<SharedState>(
    `select change, current, extract(epoch from now()) * 1000 as "readAt",
       ${factsOf("not is_added")} as generations, ${factsOf("is_added")} as added
     from dataset_state`,
  );
  const { generations, added } = row!;
  return {
    ...row!,
    generations: generations.map(withAllCounts),
    added: added.map(withAllCounts),
  };
}

/** Lists publications, oldest first. */
export async function listPublications({ query }: Query): Promise<Publication[]> {
  const [row] = await query<{ publications: Publication[] }>(
    "select publications from dataset_state",
  );
  return row!.publications.map(withAllStepCounts);
}

/** Returns the shared datasets. Only `added` has those that are about to be published. */
function keptOf({ folder, pathOf }: Catalogue, state: SharedState): Kept {
  const { change, current, generations, added, readAt } = state;
  const findReadable = (version: string | null) =>
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
    currentVersion: () => current,
    current: () => findReadable(current),
    change,
    added,
    readAt,
  };
}

/** Finds a dataset, even one in `added`. Returns null if there is none. */
const findAny = ({ added, findReadable }: Kept, version: string): Generation | null =>
  added.find((one) => one.version === version) ?? findReadable(version);

/** Returns the fault for a dataset that another command removed before its publication, because the lock was lost. */
const lockLost = (version: string, place: string) =>
  new DatasetFault(
    `${version} was not published: this command lost its lock, and another command has removed the dataset since. The lock ends with its connection to ${place}, which a restart of the server, a failover, its idle_session_timeout or a firewall may have closed. Prevent that, then run the command again.`,
  );

const foreignKeyViolation = "23503";

const raiseChange = "update dataset_state set change = change + 1";

/** SQL that publishes in one statement. Changes nothing unless the expected version is current. */
const publishSql = `
  with moved as (
    update dataset_state set current = $1, publications = $4, change = change + 1
    where current is not distinct from $2 returning current
  )
  update dataset set facts = $3, is_added = false
  where version = (select current from moved) returning version`;

const pinSql = `
  with raised as (${raiseChange})
  update dataset set facts = $2 where version = $1`;

const forgetSql = `${raiseChange}, publications = $1`;

/** SQL that notes a server, and forgets servers not seen for a day. */
const noteServerSql = `
  with old as (delete from instance where seen_at < now() - interval '1 day' and id <> $1)
  insert into instance (id, host, pid, seen_at, program, formats, served)
  values ($1, $2, $3, now(), $4, $5, $6)
  on conflict (id) do update set seen_at = now(), served = excluded.served`;

/** Returns SQL that removes datasets by deleting their files. @param versions `$1`, or a subquery for versions. */
const removeSql = (versions: string) => `
  with gone as (delete from dataset_file where name in (${versions}) returning name)
  ${raiseChange} where exists (select from gone)`;

/** Seconds until a silent server no longer counts as running. A running server reports every 2 s. */
const liveSeconds = 15;

/** Returns SQL for a time as RFC 3339 text in UTC, to the second. @param name name of the result column. */
const timeText = (expression: string, name: string): string =>
  `to_char(${expression} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as ${name}`;

/** Lists servers in the order of host and process. */
export const listInstances = ({ query }: Query): Promise<SeenInstance[]> =>
  query<SeenInstance>(
    `select id, host, pid, seen_at > now() - interval '${liveSeconds} seconds' as live,
       ${timeText("seen_at", "seen_at")}, ${timeText("started_at", "started_at")}, program, formats, served
     from instance order by host, pid, id`,
  );

/** Two numbers that identify the lock in the whole database. */
const lockKeys = [0x6770_7265, 1];

const holderName = `gp-records process ${process.pid} on ${hostname()}`;

/**
 * Takes the lock for all machines. The lock ends with its session. This command's publication is refused if the
 * session ends early and another command publishes first.
 * @returns a function that releases it.
 * @throws StoreFault `busy` if another process has it. The message names the holder if it is known.
 */
async function lockImports(url: string): Promise<() => Promise<void>> {
  const place = placeName(url);
  const session = await connectPostgres(url, { name: holderName });
  try {
    const [row] = await session.query<{ is_ours: boolean }>(
      "select pg_try_advisory_lock($1, $2) as is_ours",
      lockKeys,
    );
    // Closing alone would release the lock only when the server notices, which may be after the next command has begun.
    if (row!.is_ours)
      return async () => {
        await session.query("select pg_advisory_unlock($1, $2)", lockKeys).catch(() => {});
        session.close();
      };
    const [holder] = await session.query<{ name: string; since: string | null }>(
      holderSql,
      lockKeys,
    );
    const since = holder?.since == null ? "" : `, since ${holder.since}`;
    const who = holder === undefined ? "" : `: ${holder.name || "an unnamed session"}${since}`;
    throw new StoreFault(
      "busy",
      `Another command is changing the datasets in ${place}${who}. Try again when it has finished.`,
    );
  } catch (error) {
    session.close();
    throw error;
  }
}

/**
 * SQL that finds the lock's holder. A holder takes the lock as its session starts, so `since` is the session's start.
 * It is null if this role is not allowed to see the session of another role.
 */
const holderSql = `
  select replace(a.application_name, 'gp-records ', '') as name, ${timeText("a.backend_start", "since")}
  from pg_locks l join pg_stat_activity a on a.pid = l.pid
  where l.locktype = 'advisory' and l.classid = $1 and l.objid = $2 and l.objsubid = 2 and l.granted
    and l.database = (select oid from pg_database where datname = current_database())`;
