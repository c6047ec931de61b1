/** The hashes two records and two generations are compared by. */
import { createHash, hash } from "node:crypto";
import { foldVersion } from "#records/fold.ts";
import { formatVersion } from "./format.ts";

/** 128 bits of SHA-256 of one document, times excluded; hexadecimal, which costs half of what a buffer does. */
export const hashOfContent = (content: string | Uint8Array): string =>
  hash("sha256", content, "hex").slice(0, 32);

interface ContentDigest {
  /** @param hash hexadecimal, of the next document. */
  add(hash: string): void;
  /** SHA-256 over the bytes of all hashes, hexadecimal. */
  digest(): string;
}

const pendingLength = 32 * 1024;

/** Takes hashes in by the thousand: one by one each would cost as much as a document does. */
export function openContentDigest(): ContentDigest {
  const sha256 = createHash("sha256");
  let pending = "";
  return {
    add(contentHash) {
      pending += contentHash;
      if (pending.length < pendingLength) return;
      sha256.update(pending, "hex");
      pending = "";
    },
    digest: () => sha256.update(pending, "hex").digest("hex"),
  };
}

/**
 * The rules a dataset was made by are part of what it is: under new rules it is published anew.
 * @param contentHash SHA-256 over the hashes of all documents in order.
 */
export function datasetHash(contentHash: string): string {
  return hash("sha256", `gp-records ${formatVersion} ${foldVersion} ${contentHash}`, "hex");
}
