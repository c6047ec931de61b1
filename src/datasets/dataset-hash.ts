/** Hashes for comparing files, records and generations. */
import { createHash, hash } from "node:crypto";
import { closeSync, openSync, readSync } from "node:fs";
import { foldVersion } from "#records/fold.ts";
import { formatVersion } from "./format.ts";

/** Returns 128 bits of the SHA-256 of a document without times. Hexadecimal takes half as long as a buffer. */
export const hashOfContent = (content: string | Uint8Array): string =>
  hash("sha256", content, "hex").slice(0, 32);

/**
 * Returns the hash of a dataset. It covers format and fold, so a dataset is published again if either changes.
 * @param contentHash SHA-256 over the hashes of all documents in order.
 */
export function datasetHash(contentHash: string): string {
  return hash("sha256", `gp-records ${formatVersion} ${foldVersion} ${contentHash}`, "hex");
}

const pieceBytes = 1024 * 1024;

/** Computes the SHA-256 of a file, read in pieces. */
export function hashFile(path: string): { sha256: string; bytes: number } {
  const digest = createHash("sha256");
  const piece = Buffer.allocUnsafe(pieceBytes);
  const file = openSync(path, "r");
  let bytes = 0;
  try {
    for (let length = readSync(file, piece); length > 0; length = readSync(file, piece)) {
      digest.update(piece.subarray(0, length));
      bytes += length;
    }
  } finally {
    closeSync(file);
  }
  return { sha256: digest.digest("hex"), bytes };
}
