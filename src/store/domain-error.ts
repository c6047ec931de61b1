/** Expected errors, with messages for the person who asked. */

/**
 * Reason of a refusal:
 * - `not_found`: nothing has this name or id
 * - `conflict`: the present state of the store does not allow it
 * - `invalid`: the store does not take this value
 * - `refused`: the person may not do it
 * - `too_often`: there were too many attempts; a later one may work
 */
type RefusalKind = "not_found" | "conflict" | "invalid" | "refused" | "too_often";

/**
 * Reason of a store's fault:
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

/** Error of a store for a reason outside the program. */
export class StoreFault extends DomainError {
  declare readonly kind: StoreFaultKind;

  constructor(kind: StoreFaultKind, message: string, options?: ErrorOptions) {
    super(kind, message, options);
    this.name = "StoreFault";
  }
}
