/** The error of a backup that cannot be made or restored. Its message says what to do. */
import { isNoRoom } from "#datasets/disk-space.ts";
import { DomainError, StoreFault } from "#store/domain-error.ts";

/** Error of a backup or a data folder that does not allow it. */
export class BackupFault extends DomainError {
  constructor(message: string, options?: ErrorOptions) {
    super("conflict", message, options);
  }
}

/**
 * Returns the error to throw for one that interrupted the writing of a copy.
 * @param place file or folder that was being written.
 */
export function roomFault(error: unknown, place: string): unknown {
  if (!isNoRoom(error)) return error;
  return new StoreFault(
    "full",
    `There is no room to write ${place} (${(error as Error).message}). Nothing was changed. Free some space there, or lift the limit on the size of files (ulimit -f).`,
    { cause: error },
  );
}
