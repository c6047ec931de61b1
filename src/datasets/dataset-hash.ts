/** Hashes for comparing files, records and generations. */
import { createHash, hash } from "node:crypto";
import { readSync } from "node:fs";
import { foldVersion } from "#records/fold.ts";
import { openForBlock } from "#store/whole-file.ts";
import { formatVersion } from "./generation.ts";

/**
 * Returns the first 128 bits of a SHA-256, in hexadecimal. A string takes half as long to make as a buffer.
 * @param content document without its time.
 */
export const hashOfContent = (content: string | Uint8Array): string =>
  hash("sha256", content, "hex").slice(0, 32);

/**
 * Reports whether a stored document's content matches the hash in its row.
 * @param ownLength number of bytes in the document up to and including its `updated_at`.
 */
export function isUnchanged(
  document: Uint8Array,
  updatedAt: string,
  ownLength: number,
  hash: Uint8Array,
): boolean {
  const timeEnd = ownLength - 1;
  const content = [document.subarray(0, timeEnd - updatedAt.length), document.subarray(timeEnd)];
  return hashOfContent(Buffer.concat(content)) === Buffer.from(hash).toString("hex");
}

/**
 * Returns the hash of a dataset. It covers format and fold too, so equal records in another format hash differently.
 * @param contentHash hexadecimal SHA-256 over the hashes of all documents in order.
 */
export function datasetHash(contentHash: string): string {
  return hash("sha256", `gp-records ${formatVersion} ${foldVersion} ${contentHash}`, "hex");
}

const pieceBytes = 1024 * 1024;

/** Returns the SHA-256 and the size of a file. Reads it in pieces of 1 MiB. */
export function hashFile(path: string): { sha256: string; bytes: number } {
  const digest = createHash("sha256");
  const piece = Buffer.allocUnsafe(pieceBytes);
  using file = openForBlock(path, "r");
  let bytes = 0;
  for (let length = readSync(file.fd, piece); length > 0; length = readSync(file.fd, piece)) {
    digest.update(piece.subarray(0, length));
    bytes += length;
  }
  return { sha256: digest.digest("hex"), bytes };
}
