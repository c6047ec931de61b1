/** A dataset that cannot be built, verified, published or opened, and what to do about it. */
export class DatasetFault extends Error {
  constructor(message: string) {
    super(message);
    this.name = "DatasetFault";
  }
}
