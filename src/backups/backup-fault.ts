/** Errors for a backup that cannot be made or restored. */
import { isNoRoom } from "#datasets/disk-space.ts";
import { DomainError, StoreFault } from "#store/store-fault.ts";

/** Refusal because of the state of a backup, a data folder or a database. */
export class BackupFault extends DomainError {
  constructor(message: string, options?: ErrorOptions) {
    super("conflict", message, options);
  }
}

/**
 * Converts an error that interrupted the writing of a copy.
 * @param place file or folder being written.
 * @returns the error to throw: StoreFault `full` if there was no room, otherwise the given error.
 */
export function roomFault(error: unknown, place: string): unknown {
  if (!isNoRoom(error)) return error;
  return new StoreFault(
    "full",
    `There is no room to write ${place} (${(error as Error).message}). Nothing was changed. Free some space there, or lift the limit on the size of files (ulimit -f).`,
    { cause: error },
  );
}
