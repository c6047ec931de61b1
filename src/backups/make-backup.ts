/** Makes a backup of a data folder while a server runs on it: into a file, whole or not at all, or into a stream. */
import { existsSync, renameSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { syncPath } from "#datasets/whole-file.ts";
import { BackupFault, roomFault } from "./backup-fault.ts";
import { withFolderBeside } from "./beside.ts";
import { type BackupOrder, gatherContents } from "./contents.ts";
import type { Manifest } from "./manifest.ts";
import { type Sink, type Written, writeTar } from "./tar.ts";

export interface MadeBackup extends Written {
  manifest: Manifest;
}

/**
 * @param mayReplace whether a file of this name may be replaced.
 * @throws BackupFault, DatasetFault or StoreFault where it cannot be made; no file is left behind then.
 */
export function backupToFile(
  order: BackupOrder,
  file: string,
  mayReplace: boolean,
): Promise<MadeBackup> {
  const place = resolve(file);
  const refuseOther = () => {
    if (!mayReplace && existsSync(place))
      throw new BackupFault(`${file} is there already. Choose another name, or add --force.`);
  };
  refuseOther();
  return withFolderBeside(place, async (folder) => {
    const { manifest, files } = await gatherContents(order, folder);
    const unfinished = join(folder, "backup.tar");
    const handle = await open(unfinished, "wx", 0o600);
    let written: Written;
    try {
      written = await writeTar(files, order.now, (bytes) => handle.writeFile(bytes));
      await handle.sync();
    } catch (error) {
      throw roomFault(error, file);
    } finally {
      await handle.close();
    }
    refuseOther();
    renameSync(unfinished, place);
    syncPath(dirname(place));
    return { manifest, ...written };
  });
}

export function backupToStream(order: BackupOrder, sink: Sink): Promise<MadeBackup> {
  return withFolderBeside(join(tmpdir(), "gp-records-backup"), async (folder) => {
    const { manifest, files } = await gatherContents(order, folder);
    return { manifest, ...(await writeTar(files, order.now, sink)) };
  });
}
