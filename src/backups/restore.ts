/** Restores a backup: all of it is checked and made ready beside what is there, and put in place in one decision. */
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { makePrivateFolder } from "#store/private-folder.ts";
import { BackupFault } from "./backup-fault.ts";
import {
  type MadeReady,
  makeReady,
  type ReadBack,
  readBack,
  type ReadyOrder,
} from "./make-ready.ts";
import type { Manifest } from "./manifest.ts";
import { presentNames } from "./present-folder.ts";
import {
  decide,
  decidedFolder,
  draftFolder,
  newFolder,
  putInPlace,
  replacedFolder,
  takeBothLocks,
} from "./restore-folders.ts";
import { settleTree } from "./settle-tree.ts";

export interface RestoreOrder extends ReadyOrder {
  /** Whether a folder with data may be replaced; what is there is kept aside. */
  mayReplace: boolean;
  /** Makes everything ready, tells what would happen, and changes nothing. */
  isTrial: boolean;
}

export interface Restored extends ReadBack {
  manifest: Manifest;
  /** Where what was there is kept; null where there was nothing. */
  replaced: string | null;
}

/**
 * The folder is what it was until everything is ready, and from then on what was restored: a process that is killed in
 * between leaves the rest to whoever opens the folder next, see `finishRestore`.
 * @throws BackupFault where the backup or the folder does not allow it, StoreFault `busy` where somebody uses the folder.
 */
export async function restoreBackup(order: RestoreOrder): Promise<Restored> {
  const { dataDir, mayReplace, isTrial } = order;
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
    const ready = await makeDraft(order, draft);
    const { manifest } = ready;
    if (isTrial)
      return { manifest, ...readBack(ready, join(draft, newFolder), order.now), replaced: null };
    settleTree(draft, dataDir);
    decide(dataDir);
    const replaced = putInPlace(dataDir);
    return { manifest, ...readBack(ready, dataDir, order.now), replaced };
  } finally {
    rmSync(draft, { recursive: true, force: true });
    for (const lock of locks) lock.release();
  }
}

async function makeDraft(order: RestoreOrder, draft: string): Promise<MadeReady> {
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(join(draft, freeName(order.dataDir, order.now)), { recursive: true, mode: 0o700 });
  mkdirSync(join(draft, newFolder), { mode: 0o700 });
  return makeReady(order, join(draft, newFolder));
}

/** A name nothing has yet: two restores may share a second. */
function freeName(dataDir: string, now: number): string {
  const name = replacedFolder(now);
  return existsSync(join(dataDir, name)) ? freeName(dataDir, now + 1000) : name;
}
