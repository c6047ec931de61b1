/** Expected errors, whose messages are meant for the person who asked. */

/**
 * - `not_found`: nothing has this name or id
 * - `conflict`: the present state of the store does not allow it
 * - `invalid`: a value is not one the store takes
 * - `refused`: the person may not do it
 * - `too_often`: it was tried too often, and may work later
 */
type RefusalKind = "not_found" | "conflict" | "invalid" | "refused" | "too_often";

/**
 * - `busy`: another process holds what is needed
 * - `unusable`: the folder or the file has to be repaired first
 * - `full`: the disk is full, or a limit was reached
 */
type StoreFaultKind = "busy" | "unusable" | "full";

export type DomainErrorKind = RefusalKind | StoreFaultKind;

export class DomainError extends Error {
  readonly kind: DomainErrorKind;

  constructor(kind: DomainErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "DomainError";
    this.kind = kind;
  }
}

/** A store that cannot do what it was asked to, for a reason outside the program. */
export class StoreFault extends DomainError {
  declare readonly kind: StoreFaultKind;

  constructor(kind: StoreFaultKind, message: string, options?: ErrorOptions) {
    super(kind, message, options);
    this.name = "StoreFault";
  }
}
