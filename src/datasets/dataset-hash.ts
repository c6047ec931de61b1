/** The hashes two records and two generations are compared by. */
import { hash } from "node:crypto";
import { foldVersion } from "#records/fold.ts";
import { formatVersion } from "./format.ts";

/** 128 bits of SHA-256 of one document, times excluded; hexadecimal, which costs half of what a buffer does. */
export const hashOfContent = (content: string): string =>
  hash("sha256", content, "hex").slice(0, 32);

/**
 * The rules a dataset was made by are part of what it is: under new rules it is published anew.
 * @param contentHash SHA-256 over the hashes of all documents in order.
 */
export function datasetHash(contentHash: string): string {
  return hash("sha256", `gp-records ${formatVersion} ${foldVersion} ${contentHash}`, "hex");
}
