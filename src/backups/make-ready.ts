/** Makes a backup ready to be served, in a folder of its own: unpacked, of the present schema, with no key and no session revived. */
import { mkdirSync, statfsSync } from "node:fs";
import { join } from "node:path";
import type { Transaction } from "kysely";
import { type Catalogue, openCatalogue } from "#datasets/catalogue.ts";
import { findFactsFault, openGeneration } from "#datasets/open-generation.ts";
import { operator, writeAudit } from "#store/audit.ts";
import type { ControlTables } from "#store/control-tables.ts";
import { controlFile, openControl, openUsage } from "#store/stores.ts";
import { BackupFault } from "./backup-fault.ts";
import { type KeyFacts, type PersonFacts, readControlFacts } from "./control-facts.ts";
import { type Ending, findEndings, findLost, findLostPeople } from "./endings.ts";
import { type BothFacts, keepEndings } from "./keep-endings.ts";
import type { Manifest } from "./manifest.ts";
import { copyCounts, hasSameNumbers, presentControl } from "./present-folder.ts";
import type { RestoreOrder } from "./restore.ts";
import { unpack } from "./unpack.ts";

export interface MadeReady {
  manifest: Manifest;
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

export async function makeReady(order: RestoreOrder, folder: string): Promise<MadeReady> {
  const { dataDir, archive } = order;
  const manifest = await unpack(archive, folder, (coming) => refuseFullDisk(coming, dataDir));
  for (const name of ["datasets", "counts"])
    mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });
  if (manifest.dataset !== null) {
    const catalogue = openCatalogue(join(folder, "datasets"));
    const dataset = { catalogue, version: manifest.dataset };
    refuseOtherFormat(dataset, manifest.program, archive.name);
    refuseUntrue(dataset, archive.name);
  }
  await (await openUsage(folder)).close();
  const keys = await makeKeysReady(order, manifest, folder);
  if (keys.areCountsKept) copyCounts(dataDir, join(folder, "counts"));
  return { manifest, ...keys };
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

type KeysReady = Omit<MadeReady, "manifest">;
const nothingKnown: KeysReady = {
  kept: [],
  undone: [],
  lost: [],
  lostPeople: [],
  areEndingsKnown: false,
  areCountsKept: false,
};

async function makeKeysReady(
  order: RestoreOrder,
  { made_at }: Manifest,
  folder: string,
): Promise<KeysReady> {
  const { dataDir, now, undoesEndings, archive } = order;
  const present = presentControl(dataDir);
  if (present === "unreadable" && !undoesEndings)
    throw new BackupFault(
      `${controlFile(dataDir)} cannot be read, so nobody can tell which keys were revoked since ${archive.name} was made (${made_at}); they would work again. Add --undo-revocations to restore it all the same, and revoke them anew.`,
    );
  const control = await openControl(folder);
  try {
    const backup = readControlFacts(controlFile(folder));
    const ready =
      present === "none" || present === "unreadable"
        ? nothingKnown
        : compare({ present, backup }, order);
    await control.write(async (transaction) => {
      if (typeof present === "object")
        await keepEndings(transaction, ready.kept, { present, backup });
      await endVisits(transaction);
      const detail = { kept: ready.kept.length, undone: ready.undone.length };
      const entry = { actor: operator, subject: made_at, detail, now };
      await writeAudit(transaction, { ...entry, action: "backup.restored" });
    });
    return ready;
  } finally {
    await control.close();
  }
}

function compare({ present, backup }: BothFacts, { undoesEndings, now }: RestoreOrder): KeysReady {
  const endings = findEndings(present, backup);
  return {
    kept: undoesEndings ? [] : endings,
    undone: undoesEndings ? endings : [],
    lost: findLost(present, backup, now),
    lostPeople: findLostPeople(present, backup),
    areEndingsKnown: true,
    areCountsKept: hasSameNumbers(present, backup),
  };
}

/** Sessions that were ended and links that were used since must not come to life; signing in again costs little. */
async function endVisits(transaction: Transaction<ControlTables>): Promise<void> {
  for (const table of ["session", "known_browser", "link"] as const)
    await transaction.deleteFrom(table).execute();
}
