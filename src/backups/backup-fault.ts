/** A backup that cannot be made or restored, and what to do about it. */
import { isNoRoom } from "#datasets/disk-space.ts";

/**
 * - `unfit`: the backup, or what is there, does not allow it
 * - `full`: there is no room for it
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
 * The error to throw for one that broke off the writing of a copy.
 * @param place file or folder that was to be written.
 */
export function roomFault(error: unknown, place: string): unknown {
  if (!isNoRoom(error)) return error;
  return new BackupFault(
    `There is no room to write ${place} (${(error as Error).message}). Nothing was changed. Free some space there, or lift the limit on the size of files (ulimit -f).`,
    "full",
    { cause: error },
  );
}
