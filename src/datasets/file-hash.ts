/** Computes the SHA-256 of a file, read in pieces. */
import { createHash } from "node:crypto";
import { closeSync, openSync, readSync } from "node:fs";

const pieceBytes = 1024 * 1024;

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
