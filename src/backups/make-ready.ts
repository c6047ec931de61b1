/** Makes a backup ready to be served, in a folder of its own: unpacked, of the present schema, with no key and no session revived. */
import { mkdirSync, readdirSync, readFileSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Transaction } from "kysely";
import { type Catalogue, openCatalogue } from "#datasets/catalogue.ts";
import { findFactsFault, openGeneration } from "#datasets/open-generation.ts";
import { operator, writeAudit } from "#store/audit.ts";
import type { ControlTables } from "#store/control-tables.ts";
import { StoreFault } from "#store/domain-error.ts";
import { schemaFault, valueFault } from "#store/schema-fault.ts";
import { knownSteps, schemaSteps, type StoreName } from "#store/schema-steps.ts";
import { sqliteFault } from "#store/sqlite-fault.ts";
import { controlFile, openControl, openUsage } from "#store/stores.ts";
import { BackupFault } from "./backup-fault.ts";
import {
  type ControlFacts,
  hasSameNumbers,
  type KeyFacts,
  type PersonFacts,
  presentControl,
  readControlFacts,
} from "./control-facts.ts";
import {
  type Ending,
  findEndings,
  findLost,
  findLostPeople,
  isLiveKey,
  keepEndings,
} from "./endings.ts";
import { type Manifest, storesOf } from "./manifest.ts";
import { copyCounts } from "./present-folder.ts";
import { type Archive, damaged, unpack } from "./unpack.ts";

export interface ReadyOrder {
  dataDir: string;
  archive: Archive;
  /** Milliseconds since 1970. */
  now: number;
  /** Whether keys that ended after the backup was made may work again. */
  undoesEndings: boolean;
}

/** A backup that may be put in place, and what its keys are compared with to tell what that changes. */
export interface MadeReady {
  manifest: Manifest;
  /** In the data folder before; null where nothing tells. */
  present: ControlFacts | null;
  /** In the backup. */
  backup: ControlFacts;
}

export async function makeReady(order: ReadyOrder, folder: string): Promise<MadeReady> {
  const { dataDir, archive } = order;
  const manifest = await unpack(archive, folder, (coming) => refuseFullDisk(coming, dataDir));
  for (const name of ["datasets", "counts"])
    mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });
  for (const [store, steps] of storesOf(manifest))
    refuseOtherStore(join(folder, store), store, steps, archive.name);
  refuseOtherCurrent(manifest, folder, archive.name);
  await inNameOf(archive.name, "usage.sqlite", () => readyUsage(folder, archive.name));
  const present = presentFacts(order, manifest);
  const backup = await inNameOf(archive.name, "control.sqlite", () =>
    readyControl(order, manifest, present, folder),
  );
  if (present !== null && hasSameNumbers(present, backup))
    copyCounts(dataDir, join(folder, "counts"));
  return { manifest, present, backup };
}

/** What was restored, as it is read back from the folder it was restored into. */
export interface ReadBack {
  dataset: string | null;
  /** Open ones. */
  accounts: number;
  /** Neither revoked nor expired. */
  keys: number;
  people: number;
  /** What ended after the backup was made and stays ended. */
  kept: readonly Ending[];
  /** What ended after the backup was made and is live again, as was asked for. */
  undone: readonly Ending[];
  /** Live keys of which the backup knows nothing. */
  lost: readonly KeyFacts[];
  /** People of whom the backup knows nothing. */
  lostPeople: readonly PersonFacts[];
  /** Whether there were keys in the data folder to tell what ended. */
  areEndingsKnown: boolean;
  areCountsKept: boolean;
}

/** @param now milliseconds since 1970. */
export function readBack({ present, backup }: MadeReady, folder: string, now: number): ReadBack {
  const restored = readControlFacts(controlFile(folder));
  const isLive = (ending: Ending) =>
    present !== null &&
    findEndings(present, restored).some(
      ({ what, id, account }) =>
        what === ending.what && id === ending.id && account === ending.account,
    );
  const endings = present === null ? [] : findEndings(present, backup);
  return {
    dataset: openCatalogue(join(folder, "datasets")).currentVersion(),
    accounts: [...restored.accounts.values()].filter(({ closedAt }) => closedAt === null).length,
    keys: [...restored.keys.values()].filter((key) => isLiveKey(key, now)).length,
    people: restored.people.size,
    kept: endings.filter((ending) => !isLive(ending)),
    undone: endings.filter(isLive),
    lost: present === null ? [] : findLost(present, restored, now),
    lostPeople: present === null ? [] : findLostPeople(present, restored),
    areEndingsKnown: present !== null,
    areCountsKept: readdirSync(join(folder, "counts")).length > 0,
  };
}

function refuseFullDisk({ files }: Manifest, dataDir: string): void {
  const needed = files.reduce((sum, { bytes }) => sum + bytes, 0);
  const { bavail, bsize } = statfsSync(dataDir);
  if (bavail * bsize < needed)
    throw new BackupFault(
      `The disk of ${dataDir} has ${bavail * bsize} bytes free; the backup needs ${needed}. Nothing was changed. Free some space.`,
      "full",
    );
}

/** Says in the name of the backup what SQLite says of a file that nobody has used yet. */
async function inNameOf<R>(name: string, store: StoreName, work: () => Promise<R>): Promise<R> {
  try {
    return await work();
  } catch (thrown) {
    const error = sqliteFault(thrown, store);
    const isOfFile = error instanceof StoreFault && error.kind !== "full";
    if (!isOfFile && (thrown as NodeJS.ErrnoException).code !== "ERR_SQLITE_ERROR") throw error;
    throw damaged(name, store, `is not one that this version reads: ${(thrown as Error).message}`);
  }
}

/** What the manifest says of a database has to be so, or nobody could tell which version it needs. */
function refuseOtherStore(
  file: string,
  store: StoreName,
  steps: readonly string[],
  name: string,
): void {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const said = String(database.prepare("pragma quick_check(1)").get()!["quick_check"]);
    if (said !== "ok") throw damaged(name, store, `is damaged: SQLite says ${said}`);
    if (String(schemaSteps(database)) !== String(steps))
      throw damaged(name, store, "has another schema than its manifest says");
    if (String(knownSteps[store].slice(0, steps.length)) !== String(steps))
      throw damaged(name, store, "lacks a step of its schema");
    const isEmpty = database.prepare("select 1 from sqlite_schema limit 1").get() === undefined;
    if (store === "control.sqlite" && isEmpty)
      throw damaged(name, store, "is empty, so that no key would work");
  } catch (error) {
    if (error instanceof BackupFault) throw error;
    throw damaged(name, store, `cannot be read: ${(error as Error).message}`);
  } finally {
    database.close();
  }
}

function refuseOtherCurrent(manifest: Manifest, folder: string, name: string): void {
  const { dataset, pinned = [], program } = manifest;
  const catalogue = openCatalogue(join(folder, "datasets"));
  // Of an older format they are nothing to serve, and still what somebody wants to keep.
  for (const version of pinned) refuseUntrue({ catalogue, version }, name);
  if (dataset === null) return;
  const current = readFileSync(join(catalogue.folder, "current"), "utf8");
  if (current !== `${dataset}\n`)
    throw damaged(name, "datasets/current", `does not name ${dataset}, as its manifest does`);
  refuseOtherFormat({ catalogue, version: dataset }, program, name);
  refuseUntrue({ catalogue, version: dataset }, name);
}

interface UnpackedDataset {
  catalogue: Catalogue;
  version: string;
}

/** Every byte is as it was, so that only the format or the fold can be another. */
function refuseOtherFormat(
  { catalogue, version }: UnpackedDataset,
  program: string,
  name: string,
): void {
  try {
    openGeneration(catalogue.pathOf(version)).db.close();
  } catch (error) {
    throw new BackupFault(
      `The dataset in ${name} is of a format that this version does not read. It was made by gp-records ${program}: restore it with that version.`,
      "unfit",
      { cause: error },
    );
  }
}

/** Its bytes can be as they were and still be none that a server takes, where they were so when the backup was made. */
function refuseUntrue({ catalogue, version }: UnpackedDataset, name: string): void {
  const facts = catalogue.findReadable(version);
  const fault =
    facts === null
      ? "is not what is known of that dataset"
      : untrueWords(findFactsFault(catalogue.pathOf(version), facts));
  if (fault !== undefined)
    throw new BackupFault(
      `The dataset in ${name} would not be served: ${version}.json in it ${fault}. Nothing was changed. Restore another backup.`,
    );
}

const untrueWords = (fault: string | undefined) => fault && `is not true of its file: ${fault}`;

async function readyUsage(folder: string, name: string): Promise<void> {
  await (await openUsage(folder)).close();
  await refuseOtherTables(folder, "usage.sqlite", name);
}

/** Once its schema is up to date: only then does it have all tables that it has to have. */
async function refuseOtherTables(folder: string, store: StoreName, name: string): Promise<void> {
  const database = new DatabaseSync(join(folder, store));
  try {
    const fault =
      (await schemaFault(database, store)) ??
      (store === "control.sqlite" ? valueFault(database) : undefined);
    if (fault !== undefined) throw damaged(name, store, fault);
  } finally {
    database.close();
  }
}

/** Null where there is no database of keys, or one that is damaged and may be given up. */
function presentFacts(
  { dataDir, undoesEndings, archive }: ReadyOrder,
  { made_at }: Manifest,
): ControlFacts | null {
  const present = presentControl(dataDir);
  if (present === "unreadable" && !undoesEndings)
    throw new BackupFault(
      `${controlFile(dataDir)} cannot be read, so nobody can tell which keys were revoked since ${archive.name} was made (${made_at}); they would work again. Add --undo-revocations to restore it all the same, and revoke them anew.`,
    );
  return typeof present === "object" ? present : null;
}

async function readyControl(
  { now, undoesEndings, archive }: ReadyOrder,
  { made_at }: Manifest,
  present: ControlFacts | null,
  folder: string,
): Promise<ControlFacts> {
  const control = await openControl(folder);
  try {
    await refuseOtherTables(folder, "control.sqlite", archive.name);
    const backup = readControlFacts(controlFile(folder));
    const endings = present === null ? [] : findEndings(present, backup);
    await control.write(async (transaction) => {
      if (present !== null && !undoesEndings)
        await keepEndings(transaction, endings, { present, backup });
      await endSessions(transaction);
      const detail = undoesEndings
        ? { kept: 0, undone: endings.length }
        : { kept: endings.length, undone: 0 };
      const entry = { actor: operator, subject: made_at, detail, now };
      await writeAudit(transaction, { ...entry, action: "backup.restored" });
    });
    return backup;
  } finally {
    await control.close();
  }
}

/** Sessions that were ended and links that were used since must not come to life; signing in again costs little. */
async function endSessions(transaction: Transaction<ControlTables>): Promise<void> {
  for (const table of ["session", "known_browser", "link"] as const)
    await transaction.deleteFrom(table).execute();
}
