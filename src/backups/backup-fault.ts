/** The error of a backup that cannot be made or restored. Its message says what to do. */
import { isNoRoom } from "#datasets/disk-space.ts";

/**
 * Reason of a fault:
 * - `unfit`: the backup or the data folder does not allow it
 * - `full`: the disk has no room for it
 */
type BackupFaultKind = "unfit" | "full";

export class BackupFault extends Error {
  readonly kind: BackupFaultKind;

  constructor(message: string, kind: BackupFaultKind = "unfit", options?: ErrorOptions) {
    super(message, options);
    this.name = "BackupFault";
    this.kind = kind;
  }
}

/**
 * Returns the error to throw for one that interrupted the writing of a copy.
 * @param place file or folder that was being written.
 */
export function roomFault(error: unknown, place: string): unknown {
  if (!isNoRoom(error)) return error;
  return new BackupFault(
    `There is no room to write ${place} (${(error as Error).message}). Nothing was changed. Free some space there, or lift the limit on the size of files (ulimit -f).`,
    "full",
    { cause: error },
  );
}
