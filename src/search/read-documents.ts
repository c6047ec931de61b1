/** Records of a dataset as values, read from their finished JSON. */
import type { Documents } from "./documents.ts";
import { bufferOver } from "./packed-texts.ts";

/** @param positions each below the number of documents. */
export const readDocuments = <R>({ bytes, starts }: Documents, positions: readonly number[]): R[] =>
  positions.map(
    (at) => JSON.parse(bufferOver(bytes).toString("utf8", starts[at], starts[at + 1])) as R,
  );
