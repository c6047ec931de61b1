/** Restores a backup: all of it is checked and prepared beside what is there, and put in place in one decision. */
import {
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import type { Transaction } from "kysely";
import { openCatalogue } from "#datasets/catalogue.ts";
import { operator, writeAudit } from "#store/audit.ts";
import type { ControlTables } from "#store/control-tables.ts";
import { makePrivateFolder } from "#store/private-folder.ts";
import { controlFile } from "#store/files.ts";
import { otherThanFile } from "#store/plain-file.ts";
import { openControl } from "#store/stores.ts";
import { syncPath } from "#store/whole-file.ts";
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
import { isControlOnly, type Manifest } from "./manifest.ts";
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
  dataDir: string;
  archive: Archive;
  /** Milliseconds since 1970. */
  now: number;
  /** Whether a folder with data may be replaced; what is there is kept aside. */
  mayReplace: boolean;
  /** Whether keys that ended after the backup was made may work again. */
  undoesEndings: boolean;
  /** Prepares everything, reports what would happen, and changes nothing. */
  isTrial: boolean;
}

/** What was restored, as it is read back from the folder; for a trial, what would be. */
export interface Restored {
  /** What the backup says of itself. */
  manifest: Manifest;
  /** Only accounts, keys, people and the audit log came from it. */
  isControlOnly: boolean;
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
  /** Live keys that are not in the backup. */
  lost: readonly KeyFacts[];
  /** People who are not in the backup. */
  lostPeople: readonly PersonFacts[];
  /** Whether there were keys in the data folder from which to tell what ended. */
  areEndingsKnown: boolean;
  areCountsKept: boolean;
  /** Where what was there is kept; null if nothing was there. */
  replaced: string | null;
}

/**
 * The folder stays as it was until everything is prepared, and from then on it is what was restored: if the process is killed in
 * between, whoever opens the folder next completes the work, see `finishRestore`.
 * @throws BackupFault if the backup or the folder does not allow it, StoreFault `busy` if somebody uses the folder.
 */
export async function restoreBackup(order: RestoreOrder): Promise<Restored> {
  const { dataDir, mayReplace, isTrial, now } = order;
  makePrivateFolder(dataDir);
  const locks = takeBothLocks(dataDir);
  const draft = join(dataDir, draftFolder);
  try {
    if (existsSync(join(dataDir, decidedFolder))) putInPlace(dataDir);
    const present = presentNames(dataDir);
    if (present.length > 0 && !mayReplace)
      throw new BackupFault(
        `${dataDir} has data (${present.join(", ")}). Add --replace to keep it aside and put the backup in its place, or set DATA_DIR to another folder.`,
      );
    rmSync(draft, { recursive: true, force: true });
    mkdirSync(join(draft, freeName(dataDir, now)), { recursive: true, mode: 0o700 });
    mkdirSync(join(draft, newFolder), { mode: 0o700 });
    const prepared = await prepare(order, join(draft, newFolder));
    if (isTrial)
      return { ...readBack(prepared, join(draft, newFolder), dataDir, now), replaced: null };
    settle(draft, dataDir);
    decide(dataDir);
    const replaced = putInPlace(dataDir);
    return { ...readBack(prepared, dataDir, dataDir, now), replaced };
  } finally {
    rmSync(draft, { recursive: true, force: true });
    for (const lock of locks) lock.release();
  }
}

/** Names of what a restore would replace; an empty folder of datasets or counts does not count. */
const presentNames = (dataDir: string): string[] =>
  restoredNames.filter((name) => {
    const stats = statSync(join(dataDir, name), { throwIfNoEntry: false });
    return stats?.isDirectory() === true
      ? readdirSync(join(dataDir, name)).length > 0
      : stats !== undefined;
  });

/** A name that is not taken yet: two restores may fall into one second. */
function freeName(dataDir: string, now: number): string {
  const name = replacedFolder(now);
  return existsSync(join(dataDir, name)) ? freeName(dataDir, now + 1000) : name;
}

/** A backup that may be put in place, and what its keys are compared with. */
interface Prepared {
  manifest: Manifest;
  /** In the data folder before; null if there is nothing to compare with. */
  present: ControlFacts | null;
  /** In the backup. */
  backup: ControlFacts;
}

async function prepare(order: RestoreOrder, folder: string): Promise<Prepared> {
  const { dataDir, archive } = order;
  const manifest = await unpack(archive, folder);
  for (const name of ["datasets", "counts"])
    mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });
  const present = presentFacts(order, manifest);
  const backup = readControlFacts(controlFile(folder));
  await changeControl(order, { manifest, present, backup }, folder);
  const hasSame = present !== null && hasSameNumbers(present, backup);
  if (hasSame) copyCounts(dataDir, join(folder, "counts"));
  if (isControlOnly(manifest)) leaveInPlace(dataDir, folder, hasSame || present === null);
  return { manifest, present, backup };
}

/**
 * What such a backup does not hold is not replaced where it is there.
 * @param isUsageOfSame false where the usage in the data folder is that of other accounts, by whose numbers it is kept.
 */
function leaveInPlace(dataDir: string, folder: string, isUsageOfSame: boolean): void {
  for (const name of ["datasets", ...(isUsageOfSame ? ["usage.sqlite"] : [])])
    if (existsSync(join(dataDir, name))) rmSync(join(folder, name), { recursive: true });
}

/** Null if there is no database of keys, or a damaged one that may be given up. */
function presentFacts(
  { dataDir, undoesEndings, archive }: RestoreOrder,
  { made_at }: Manifest,
): ControlFacts | null {
  const present = presentControl(dataDir);
  if (present === "unreadable" && !undoesEndings)
    throw new BackupFault(
      `${controlFile(dataDir)} cannot be read, so nobody can tell which keys were revoked since ${archive.name} was made (${made_at}); they would work again. Add --undo-revocations to restore it all the same, and revoke them anew.`,
    );
  return typeof present === "object" ? present : null;
}

/** Neither a key nor a session comes back to life; the audit log tells that the store is that of a backup. */
async function changeControl(
  { now, undoesEndings }: RestoreOrder,
  { manifest, present, backup }: Prepared,
  folder: string,
): Promise<void> {
  const endings = present === null ? [] : findEndings(present, backup);
  const control = await openControl(folder);
  try {
    await control.write(async (transaction) => {
      if (present !== null && !undoesEndings)
        await keepEndings(transaction, endings, { present, backup });
      await endSessions(transaction);
      await writeAudit(transaction, {
        actor: operator,
        action: "backup.restored",
        subject: manifest.made_at,
        detail: undoesEndings
          ? { kept: 0, undone: endings.length }
          : { kept: endings.length, undone: 0 },
        now,
      });
    });
  } finally {
    await control.close();
  }
}

/** Sessions and links of the backup may have been ended or used since; to sign in again costs little. */
async function endSessions(transaction: Transaction<ControlTables>): Promise<void> {
  for (const table of ["session", "known_browser", "link"] as const)
    await transaction.deleteFrom(table).execute();
}

/**
 * What was used of the quotas stays used, so that nobody gains by a restore.
 * @throws BackupFault naming what is there and no file: copying a FIFO would wait for a writer.
 */
function copyCounts(dataDir: string, folder: string): void {
  const counts = join(dataDir, "counts");
  if (!existsSync(counts)) return;
  for (const name of readdirSync(counts)) {
    const path = join(counts, name);
    const other = otherThanFile(path);
    if (other !== null)
      throw new BackupFault(
        `Nothing was restored: ${path} is ${other}, not a file of counts. Find out who put it there and move it away; then try again.`,
      );
    copyFileSync(path, join(folder, name));
  }
}

/**
 * Brings the whole draft to the disk and gives it to the owner of the data folder, if `root` restores for somebody else.
 */
function settle(draft: string, dataDir: string): void {
  const { uid, gid } = statSync(dataDir);
  const isForOther = process.getuid?.() === 0 && uid !== 0;
  const locks = ["server.lock", "import.lock"].map((name) => join(dataDir, name));
  const tree = readdirSync(draft, { recursive: true, encoding: "utf8" });
  // The deepest first: a folder is synced after its files.
  const paths = [draft, ...tree.map((name) => join(draft, name))].toSorted().toReversed();
  if (isForOther) for (const path of [...paths, ...locks]) chownSync(path, uid, gid);
  for (const path of paths) syncPath(path);
}

/** @param folder the data folder, or the draft of a trial; what stays in place is in `dataDir` alone. */
function readBack(
  { manifest, present, backup }: Prepared,
  folder: string,
  dataDir: string,
  now: number,
): Omit<Restored, "replaced"> {
  const restored = readControlFacts(controlFile(folder));
  const endings = present === null ? [] : findEndings(present, backup);
  const idOf = ({ what, id, account }: Ending) => JSON.stringify([what, id, account]);
  const live = new Set(present === null ? [] : findEndings(present, restored).map(idOf));
  const datasets = [folder, dataDir].find((one) => existsSync(join(one, "datasets")))!;
  return {
    manifest,
    isControlOnly: isControlOnly(manifest),
    dataset: openCatalogue(join(datasets, "datasets")).currentVersion(),
    accounts: [...restored.accounts.values()].filter(({ closedAt }) => closedAt === null).length,
    keys: [...restored.keys.values()].filter((key) => isLiveKey(key, now)).length,
    people: restored.people.size,
    kept: endings.filter((ending) => !live.has(idOf(ending))),
    undone: endings.filter((ending) => live.has(idOf(ending))),
    lost: present === null ? [] : findLost(present, restored, now),
    lostPeople: present === null ? [] : findLostPeople(present, restored),
    areEndingsKnown: present !== null,
    areCountsKept: readdirSync(join(folder, "counts")).length > 0,
  };
}
