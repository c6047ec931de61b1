/** Restores a backup into a folder: checks and prepares all of it beside the present data, then puts it in place. */
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { openCatalogue } from "#datasets/catalogue.ts";
import { DatasetFault, readIfThere } from "#datasets/dataset-fault.ts";
import { openFolderStore } from "#datasets/store.ts";
import { addSuppression } from "#datasets/suppressions.ts";
import { withdraw } from "#datasets/withdraw.ts";
import { operator, service, writeAudit } from "#store/audit.ts";
import { controlFile, makePrivateFolder } from "#store/sqlite-file.ts";
import { sqliteFault, StoreFault } from "#store/store-fault.ts";
import { openControl } from "#store/stores.ts";
import { syncPath } from "#store/whole-file.ts";
import { BackupFault } from "./backup-fault.ts";
import {
  type ControlFacts,
  type Ending,
  findEndings,
  hasSameNumbers,
  type Installation,
  isLiveKey,
  presentControl,
  readControlFacts,
} from "./endings.ts";
import type { Manifest } from "./manifest.ts";
import {
  decide,
  decidedFolder,
  draftFolder,
  newFolder,
  putInPlace,
  replacedFolder,
  restoredNames,
  takeBothLocks,
} from "./restore-folders.ts";
import { type Archive, unpack } from "./unpack.ts";

export interface RestoreOrder {
  archive: Archive;
  /** Installation that the restored one replaces. What ended there stays ended, unless `undoesEndings` is true. */
  former: Installation;
  /** Milliseconds since 1970. */
  now: number;
  /** True if anything that ended after the backup was made may work again. */
  undoesEndings: boolean;
  /** True for a trial, which prepares everything and reports what would happen, but puts nothing in place. */
  isTrial: boolean;
}

export interface FolderOrder extends RestoreOrder {
  dataDir: string;
  /** True to move existing data aside, false to refuse a folder that has some. */
  mayReplace: boolean;
}

/** Result of a restore, read back afterwards, or of a trial. */
export interface Restored extends ReturnType<typeof reportOf> {
  dataset: string | null;
  areCountsKept: boolean;
  /** Folder that keeps the replaced data; null if there was none. */
  replaced: string | null;
}

/**
 * Restores a backup. The folder stays as it was until everything is prepared. A restore that is killed later is
 * completed by the next process that opens the folder; see `finishRestore`.
 * @throws BackupFault if the backup or the folder does not allow it, StoreFault `busy` if the folder is in use.
 */
export async function restoreBackup(order: FolderOrder): Promise<Restored> {
  const { dataDir, mayReplace, isTrial, now } = order;
  makePrivateFolder(dataDir);
  using _locks = takeBothLocks(dataDir);
  giveToOwner(dataDir, [join(dataDir, "server.lock"), join(dataDir, "import.lock")]);
  const draft = join(dataDir, draftFolder);
  try {
    if (existsSync(join(dataDir, decidedFolder))) putInPlace(dataDir);
    const present = presentNames(dataDir);
    if (present.length > 0 && !mayReplace)
      throw new BackupFault(
        `${dataDir} already has data (${present.join(", ")}). Nothing was changed. Restore into an empty folder with --to; or, without --to, add --replace to move the data in DATA_DIR aside.`,
      );
    rmSync(draft, { recursive: true, force: true });
    mkdirSync(join(draft, replacedFolder(dataDir, now)), { recursive: true, mode: 0o700 });
    mkdirSync(join(draft, newFolder), { mode: 0o700 });
    const fresh = join(draft, newFolder);
    const prepared = await prepare(order, fresh);
    addWhatStays(prepared, dataDir, fresh);
    refuseMountPoints(readdirSync(fresh).map((name) => join(realpathSync(dataDir), name)));
    if (isTrial) return { ...(await readBack(prepared, fresh, dataDir, now)), replaced: null };
    settle(draft, dataDir);
    decide(dataDir);
    const replaced = putInPlace(dataDir);
    if (prepared.manifest.control_only) {
      // The datasets that stay may be damaged. The next command that publishes withdraws suppressed people.
      await withdrawAll(dataDir, now).catch((error: unknown) => {
        if (!(error instanceof DatasetFault)) throw error;
      });
      settle(join(dataDir, "datasets"), dataDir);
    }
    return { ...(await readBack(prepared, dataDir, dataDir, now)), replaced };
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** Lists the existing names that a restore may replace. Leaves out empty folders of datasets or counts. */
const presentNames = (dataDir: string): string[] =>
  restoredNames.filter((name) => {
    const stats = statSync(join(dataDir, name), { throwIfNoEntry: false });
    return stats?.isDirectory() === true
      ? readdirSync(join(dataDir, name)).length > 0
      : stats !== undefined;
  });

/** Refuses to replace what the system does not let a process rename. Outside Linux it is not known beforehand. */
function refuseMountPoints(paths: readonly string[]): void {
  const mounts = readIfThere("/proc/self/mounts") ?? "";
  const mounted = paths.find((path) => mounts.includes(` ${path.replaceAll(" ", "\\040")} `));
  if (mounted !== undefined)
    throw new BackupFault(
      `${mounted} is a mount point, which a restore cannot replace. Nothing was changed. Unmount it, or restore into another folder with --to.`,
    );
}

/** Manifest and facts of an unpacked backup, and the present facts for comparison. */
type Prepared = Awaited<ReturnType<typeof prepare>>;

/**
 * Unpacks a backup into a data folder. Keeps endings unless they are to be undone. Withdraws suppressed people
 * unless the backup is of the control store alone.
 * @param folder empty folder.
 * @throws BackupFault if the backup does not allow it.
 */
export async function prepare(order: RestoreOrder, folder: string) {
  const manifest = await unpack(order.archive, folder);
  for (const name of ["datasets", "counts"])
    mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });
  const present = await presentFacts(order, manifest);
  // Read before endings are written into the database.
  const backup = await readControlFacts(controlFile(folder));
  await changeControl(order, { manifest, present, backup }, folder);
  if (!manifest.control_only) await withdrawAll(folder, order.now);
  return { manifest, present, backup };
}

/**
 * Keeps the data folder's counts if they fit the backup's accounts. For a backup of the control store alone, also keeps
 * the datasets, and the usage unless it is known to belong to other accounts.
 */
function addWhatStays({ manifest, present, backup }: Prepared, dataDir: string, fresh: string) {
  const hasSame = present !== null && hasSameNumbers(present, backup);
  // Used quota stays used, so that nobody gains quota by a restore.
  const counts = join(dataDir, "counts");
  if (hasSame && existsSync(counts))
    cpSync(counts, join(fresh, "counts"), { recursive: true, dereference: true });
  if (!manifest.control_only) return;
  // Usage is stored by account number, so it is replaced if a number stands for another account.
  const isOfSame = hasSame || present === null;
  for (const name of isOfSame ? ["datasets", "usage.sqlite"] : ["datasets"])
    if (existsSync(join(dataDir, name))) rmSync(join(fresh, name), { recursive: true });
}

/**
 * Reads the present facts. Returns null if there is no database, or if it cannot be read and endings may be undone.
 * @throws StoreFault `busy` if another process holds the file's lock. Throws BackupFault if the database cannot be read
 *   for another reason, and endings may not be undone.
 */
async function presentFacts(
  { former, undoesEndings, archive }: RestoreOrder,
  { made_at }: Manifest,
): Promise<ControlFacts | null> {
  const { dataDir, databaseUrl } = former;
  try {
    return await presentControl(former);
  } catch (error) {
    const fault = sqliteFault(error, controlFile(dataDir));
    if (databaseUrl === null && fault instanceof StoreFault && fault.kind === "busy") throw fault;
    if (undoesEndings) return null;
    const place = databaseUrl === null ? controlFile(dataDir) : "The database in DATABASE_URL";
    throw new BackupFault(
      `${place} cannot be read. It alone shows which keys were revoked, accounts closed and people removed after the backup in ${archive.name} was made (${made_at.slice(0, 19)}Z); without it, all of that would be undone. Nothing was changed. To restore nevertheless, add --undo-revocations, and then revoke, close and remove them again.`,
    );
  }
}

/**
 * Keeps endings unless they are to be undone, and deletes sessions, known browsers and links. Records the restore in
 * the audit log. Adds the suppressions of the former installation, and marks all suppressions as unapplied.
 */
async function changeControl(
  { now, undoesEndings }: RestoreOrder,
  { manifest, present, backup }: Prepared,
  folder: string,
): Promise<void> {
  const endings = findEndings(present, backup);
  const kept = undoesEndings ? 0 : endings.length;
  const control = await openControl(folder);
  try {
    await control.write(async (transaction) => {
      if (!undoesEndings) for (const { keep } of endings) await keep(transaction);
      // These may have ended or been used since. Signing in again costs little.
      for (const table of ["session", "known_browser", "link"] as const)
        await transaction.deleteFrom(table).execute();
      await writeAudit(transaction, "backup.restored", {
        actor: operator,
        subject: manifest.made_at,
        detail: { kept, undone: endings.length - kept },
        now,
      });
      await transaction.updateTable("suppression").set({ applied_at: null }).execute();
      for (const one of present?.suppressions ?? [])
        await addSuppression(transaction, one, Date.parse(one.created_at), service);
    });
  } finally {
    await control.close();
  }
}

/** Takes suppressed people out of the datasets and steps of a data folder. */
async function withdrawAll(dataDir: string, now: number): Promise<void> {
  const folder = join(dataDir, "datasets");
  const changesDays = existsSync(join(folder, "changes")) ? 1 : 0;
  const store = openFolderStore({ folder, changesDays, warn() {}, now: () => now });
  const control = await openControl(dataDir);
  try {
    await withdraw(store, control, now);
  } finally {
    await control.close();
  }
}

/** Gives paths to the owner of `dataDir` if `root` runs the restore. */
function giveToOwner(dataDir: string, paths: readonly string[]): void {
  const { uid, gid } = statSync(dataDir);
  if (process.getuid?.() === 0 && uid !== 0) for (const path of paths) chownSync(path, uid, gid);
}

/** Gives a folder to the owner of `dataDir` if `root` runs the restore, and syncs it to disk. */
function settle(folder: string, dataDir: string): void {
  const tree = readdirSync(folder, { recursive: true, encoding: "utf8" });
  // Deepest first, because a folder is synced after its files.
  const paths = [folder, ...tree.map((name) => join(folder, name))].toSorted().toReversed();
  giveToOwner(dataDir, paths);
  for (const path of paths) syncPath(path);
}

/** Reads the result back. @param folder the data folder, or a trial's draft, without datasets that `dataDir` keeps. */
async function readBack(prepared: Prepared, folder: string, dataDir: string, now: number) {
  const datasets = [folder, dataDir].find((one) => existsSync(join(one, "datasets")))!;
  return {
    ...reportOf(prepared, await readControlFacts(controlFile(folder)), now),
    dataset: openCatalogue(join(datasets, "datasets")).currentVersion(),
    areCountsKept: readdirSync(join(folder, "counts")).length > 0,
  };
}

/** Returns what `Restored` has for folders and databases alike. @param restored facts after the restore or trial. */
export function reportOf(
  { manifest, present, backup }: Prepared,
  restored: ControlFacts,
  now: number,
) {
  const endings = findEndings(present, backup).map(({ ending }) => ending);
  const idOf = ({ what, id, account }: Ending) => JSON.stringify([what, id, account]);
  const live = new Set(findEndings(present, restored).map(({ ending }) => idOf(ending)));
  return {
    manifest,
    accounts: [...restored.accounts.values()].filter(({ closed_at }) => closed_at === null).length,
    /** Number of keys that are neither revoked nor expired. */
    keys: [...restored.keys.values()].filter((key) => isLiveKey(key, now)).length,
    people: restored.people.size,
    /** Number of suppressions in force, including those of the former installation. */
    suppressions: restored.suppressions.length,
    pending: restored.suppressions.filter(({ applied_at }) => applied_at === null).length,
    /** Endings since the backup was made that still hold. */
    kept: endings.filter((ending) => !live.has(idOf(ending))),
    /** Endings since the backup was made that were undone on request. */
    undone: endings.filter((ending) => live.has(idOf(ending))),
    /** Live keys that the backup lacks. They are refused after a restore. */
    lost: [...(present?.keys.values() ?? [])].filter(
      (key) => !restored.keys.has(key.id) && isLiveKey(key, now),
    ),
    /** People whom the backup lacks. They must sign up or be invited again after a restore. */
    lostPeople: [...(present?.people.values() ?? [])].filter(({ id }) => !restored.people.has(id)),
    /** True if there was a former installation and its facts could be read, so that the endings are known. */
    areEndingsKnown: present !== null,
  };
}
