/** What is refused on purpose: errors whose words are meant for the person who asked. */

/**
 * - `not_found`: nothing has this name or id
 * - `conflict`: the present state of the store does not allow it
 * - `invalid`: a value is not one the store takes
 * - `refused`: who asks is not somebody who may
 * - `too_often`: it was tried too often; later it may work
 */
type RefusalKind = "not_found" | "conflict" | "invalid" | "refused" | "too_often";

/**
 * - `busy`: another process holds what is needed
 * - `unusable`: the folder or the file has to be put right first
 * - `full`: the disk has no room, or a limit is in the way
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
