/** A backup that cannot be made or restored, and what to do about it. */

/**
 * - `unfit`: the backup, or what is there, does not allow it
 * - `full`: there is no room for it
 */
export type BackupFaultKind = "unfit" | "full";

export class BackupFault extends Error {
  readonly kind: BackupFaultKind;

  constructor(message: string, kind: BackupFaultKind = "unfit", options?: ErrorOptions) {
    super(message, options);
    this.name = "BackupFault";
    this.kind = kind;
  }
}

const systemCodes: readonly unknown[] = ["ENOSPC", "EDQUOT", "EFBIG"];
/** Results of SQLite: the disk is full; a write, a sync or the growing of a `-shm` failed, as at a quota or a limit. */
const sqliteCodes: readonly unknown[] = [13, 778, 1034, 4874];

/**
 * The error to throw for one that broke off the writing of a copy.
 * @param place file or folder that was to be written.
 */
export function roomFault(error: unknown, place: string): unknown {
  const { code, errcode, message } = error as Partial<NodeJS.ErrnoException & { errcode: number }>;
  if (!systemCodes.includes(code) && !sqliteCodes.includes(errcode)) return error;
  return new BackupFault(
    `There is no room to write ${place} (${message}). Nothing was changed. Free some space there, or lift the limit on the size of files (ulimit -f).`,
    "full",
    { cause: error },
  );
}
