/** A dataset that cannot be built, verified, published or opened, and what to do about it. */

/**
 * - `unfit`: nothing has this name, or the datasets there are do not allow it
 * - `full`: the disk has no room for it
 */
type DatasetFaultKind = "unfit" | "full";

export class DatasetFault extends Error {
  readonly kind: DatasetFaultKind;

  constructor(message: string, kind: DatasetFaultKind = "unfit", options?: ErrorOptions) {
    super(message, options);
    this.name = "DatasetFault";
    this.kind = kind;
  }
}
