/** What the stores refuse on purpose: an error whose words are meant for the person who asked. */

/**
 * - `not_found`: nothing has this name or id
 * - `conflict`: the present state of the store does not allow it
 * - `invalid`: a value is not one the store takes
 * - `refused`: who asks is not somebody who may
 * - `too_often`: it was tried too often; later it may work
 * - `busy`: another process holds what is needed
 * - `unusable`: the folder or the file has to be put right first
 * - `full`: the disk has no room, or a limit is in the way
 */
export type StoreFaultKind =
  | "not_found"
  | "conflict"
  | "invalid"
  | "refused"
  | "too_often"
  | "busy"
  | "unusable"
  | "full";

export class StoreFault extends Error {
  readonly kind: StoreFaultKind;

  constructor(kind: StoreFaultKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "StoreFault";
    this.kind = kind;
  }
}
