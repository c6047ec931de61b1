/** Copies an installation from PostgreSQL to a data folder for a backup, and restores a backup to an empty database. */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { draftName, openCatalogue } from "#datasets/catalogue.ts";
import { DatasetFault } from "#datasets/dataset-fault.ts";
import { openPublications } from "#datasets/publications.ts";
import { listInstances, listPublications, readShared } from "#datasets/postgres.ts";
import {
  checkFile,
  partLimits,
  pullFile,
  pushDataset,
  pushStep,
  stepName,
} from "#datasets/stored-parts.ts";
import { migratePostgres, refuseUnready, refuseUnfit } from "#store/postgres-schema.ts";
import { postgresSteps } from "#store/postgres-steps.ts";
import { placeName, type PostgresSession, withSession } from "#store/postgres.ts";
import { controlFile, openFile, shapeOf, type StoreName } from "#store/sqlite-file.ts";
import { BackupFault } from "./backup-fault.ts";
import { type ControlFacts, queryControlFacts, readControlFacts } from "./endings.ts";
import type { Manifest } from "./manifest.ts";
import { withTemporaryFolder } from "./restore-folders.ts";
import { prepare, reportOf, type Restored, type RestoreOrder } from "./restore.ts";
import { fetchTable, requestTables, storedTables, storeTable } from "./stored-tables.ts";

const options = { limits: { ...partLimits, lock: 30_000 } };

/**
 * Writes a data folder from the database as it is at one moment. Servers keep running meanwhile.
 * @param folder new or empty folder.
 * @throws DomainError `conflict` if the schema is not current, StoreFault if the database cannot be read, DatasetFault
 *   if a stored dataset is damaged.
 */
export const writeDataFolder = (
  url: string,
  folder: string,
  { isControlOnly, hasRequests }: { isControlOnly: boolean; hasRequests: boolean },
): Promise<void> =>
  withSession(
    url,
    async (session) => {
      await refuseUnready(session, url);
      await session.inTransaction(async () => {
        await fetchStore(session, folder, "control.sqlite");
        if (isControlOnly) return;
        await fetchStore(session, folder, "usage.sqlite", hasRequests);
        await fetchDatasets(session, join(folder, "datasets"));
      }, "begin isolation level repeatable read read only");
    },
    options,
  );

const tablesIn = (store: StoreName, hasRequests: boolean): readonly string[] =>
  hasRequests ? [...storedTables[store], ...requestTables] : storedTables[store];

async function fetchStore(
  session: PostgresSession,
  folder: string,
  store: StoreName,
  hasRequests = false,
): Promise<void> {
  using file = openFile(shapeOf(store, folder));
  file.exec("pragma synchronous = off; begin");
  for (const table of tablesIn(store, hasRequests)) await fetchTable(session, file, table);
  file.exec("commit");
}

/**
 * Writes the current dataset, the pinned ones, and the publications into a folder. Omits damaged steps.
 * @param folder new or empty folder.
 * @throws DatasetFault that names a damaged dataset.
 */
async function fetchDatasets(session: PostgresSession, folder: string): Promise<void> {
  const catalogue = openCatalogue(folder);
  const { current, generations } = await readShared(session);
  for (const generation of generations) {
    const isCurrent = generation.version === current;
    if (!isCurrent && generation.pinned_at === null) continue;
    const path = join(folder, draftName);
    await pullFile(session, generation.version, path);
    catalogue.stage(path, generation);
    if (isCurrent) catalogue.publish(generation.version, generation.published_at!);
  }
  const publications = openPublications(folder);
  const noted = await listPublications(session);
  for (const { from, version, step } of noted) {
    if (step === null || publications.openStep(from!, version) !== null) continue;
    const name = stepName(from!, version);
    try {
      await publications.addStep(from!, version, (path) => pullFile(session, name, path));
    } catch (error) {
      if (!(error instanceof DatasetFault)) throw error;
    }
  }
  if (noted.length > 0) publications.write(noted);
}

/**
 * Restores a backup into an empty database. One transaction stores all rows, so a killed restore stores none.
 * @throws BackupFault if the backup or the database does not allow it.
 */
export const restoreIntoDatabase = (order: RestoreOrder & { url: string }): Promise<Restored> =>
  withTemporaryFolder(join(tmpdir(), "gp-records-restore"), async (folder) => {
    const { url, isTrial, now } = order;
    const place = placeName(url);
    const checked = async (session: PostgresSession) => {
      await refuseUnfit(session, url);
      await refuseTaken(session, place);
    };
    await withSession(url, checked, { setting });
    const prepared = await prepare(order, folder);
    const { manifest } = prepared;
    const dataset = openCatalogue(join(folder, "datasets")).currentVersion();
    const own = { dataset, areCountsKept: false, replaced: null };
    if (isTrial) {
      const facts = await readControlFacts(controlFile(folder));
      return { ...reportOf(prepared, facts, now), ...own };
    }
    await migratePostgres(url, postgresSteps, setting);
    const restored = await withSession(
      url,
      (session) => session.inTransaction(() => fill(session, place, folder, manifest)),
      { ...options, setting },
    );
    return { ...reportOf(prepared, restored, now), ...own };
  });

/** Option that names the database to restore into. */
const setting = "--to";

/** Tables with a trigger that would update the change counter for each stored row. */
const watchedTables = ["api_key", "account", "plan"];

const filledTables = [
  ...Object.values(storedTables).flat(),
  ...requestTables,
  "dataset_file",
  "dataset",
  "quota_count",
];

/** Stores a data folder in the database. @returns the stored facts, read back. */
async function fill(
  session: PostgresSession,
  place: string,
  folder: string,
  { control_only, requests }: Manifest,
): Promise<ControlFacts> {
  const { query } = session;
  const trigger = async (change: "enable" | "disable") => {
    for (const table of watchedTables)
      await query(`alter table ${table} ${change} trigger key_change`);
  };
  await query(`lock table ${filledTables.join(", ")} in exclusive mode`);
  await refuseTaken(session, place);
  await trigger("disable");
  await storeStore(session, folder, "control.sqlite");
  if (!control_only) {
    await storeStore(session, folder, "usage.sqlite", requests);
    await storeDatasets(session, join(folder, "datasets"));
  }
  await trigger("enable");
  await query("update key_change set count = count + 1");
  await query("notify gp_records_keys");
  return queryControlFacts(query);
}

async function storeStore(
  session: PostgresSession,
  folder: string,
  store: StoreName,
  hasRequests = false,
): Promise<void> {
  using file = new DatabaseSync(join(folder, store), { readOnly: true });
  for (const table of tablesIn(store, hasRequests)) await storeTable(session, file, table);
}

/**
 * Stores all datasets of a folder and its publications, and reads every stored file back.
 * @throws DatasetFault if a file, or its stored copy, does not match its facts.
 */
async function storeDatasets(session: PostgresSession, folder: string): Promise<void> {
  const catalogue = openCatalogue(folder);
  const current = catalogue.currentVersion();
  for (const generation of catalogue.list()) {
    const { version } = generation;
    await pushDataset(session, catalogue.pathOf(version), generation, false);
    await checkFile(session, version);
  }
  const publications = openPublications(folder);
  const noted = publications.list(current);
  for (const { from, version, step } of noted) {
    if (step === null) continue;
    // A dataset published twice after the same predecessor has two publications with the same step.
    const isNew = await pushStep(session, publications.stepPath(from!, version), from!, version);
    if (isNew) await checkFile(session, stepName(from!, version));
  }
  await session.query(
    "update dataset_state set current = $1, publications = $2, change = change + 1",
    [current, JSON.stringify(noted)],
  );
}

/** Refuses a database in use. @throws BackupFault if a server is using it or it has rows. */
async function refuseTaken(session: PostgresSession, place: string): Promise<void> {
  const found = await session.query<{ name: string }>(
    "select tablename as name from pg_tables where schemaname = current_schema() and tablename = any($1)",
    [[...filledTables, "instance"]],
  );
  const tables = found.map(({ name }) => name);
  const instances = tables.includes("instance") ? await listInstances(session) : [];
  const running = instances.find(({ live }) => live);
  if (running !== undefined)
    throw new BackupFault(
      `Nothing was restored: a server is using ${place}, process ${running.pid} on ${running.host}. Stop this server and try again. If it was killed, wait 15 seconds.`,
    );
  for (const table of tables.filter((one) => one !== "instance")) {
    const rows = await session.query(`select 1 from ${table} limit 1`);
    if (rows.length > 0)
      throw new BackupFault(
        `Nothing was restored: the table ${table} in ${place} has rows. Name an empty database with --to.`,
      );
  }
}
