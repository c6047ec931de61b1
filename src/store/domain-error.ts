/** Expected errors, with messages for the user. */

/**
 * Reason for a refusal:
 * - `not_found`: nothing has this name or id
 * - `conflict`: the present state does not allow the request
 * - `invalid`: the store does not accept this value
 * - `refused`: the person may not do this, or the address or the password is wrong
 * - `too_often`: there were too many attempts; a later one may work
 */
type RefusalKind = "not_found" | "conflict" | "invalid" | "refused" | "too_often";

/**
 * Reason for a store's fault:
 * - `busy`: the store is locked or cannot be reached, or too many are waiting; a later attempt may work
 * - `unusable`: the operator must first repair the store or correct a setting
 * - `full`: the disk is full or failing, or a limit on the size of files was reached
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

/** Store error whose cause lies outside the program. */
export class StoreFault extends DomainError {
  declare readonly kind: StoreFaultKind;

  constructor(kind: StoreFaultKind, message: string, options?: ErrorOptions) {
    super(kind, message, options);
    this.name = "StoreFault";
  }
}
