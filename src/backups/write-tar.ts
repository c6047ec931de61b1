/** Writes the files of a backup as one tar archive, piece by piece, and holds each against the manifest. */
import { createHash } from "node:crypto";
import { BackupFault } from "./backup-fault.ts";
import type { Content } from "./contents.ts";
import { blockBytes, encodeHeader, paddingBytes } from "./tar-header.ts";

/** Takes the next bytes; resolves when it wants more. */
export type Sink = (bytes: Buffer) => Promise<void>;

export interface Written {
  bytes: number;
  /** Of the whole archive, as `sha256sum` prints it. */
  sha256: string;
}

/** @throws BackupFault where a file is not what the manifest says of it; what was written is then worthless. */
export async function writeTar(
  files: readonly Content[],
  nowMilliseconds: number,
  sink: Sink,
): Promise<Written> {
  const digest = createHash("sha256");
  let bytes = 0;
  const put = async (piece: Buffer) => {
    digest.update(piece);
    bytes += piece.length;
    await sink(piece);
  };
  for (const file of files) {
    await put(encodeHeader(file, Math.floor(nowMilliseconds / 1000)));
    await putContent(file, put);
    await put(Buffer.alloc(paddingBytes(file.bytes)));
  }
  await put(Buffer.alloc(2 * blockBytes));
  return { bytes, sha256: digest.digest("hex") };
}

async function putContent(file: Content, put: Sink): Promise<void> {
  const digest = createHash("sha256");
  let bytes = 0;
  for await (const piece of file.read()) {
    digest.update(piece);
    bytes += piece.length;
    await put(piece);
  }
  if (bytes !== file.bytes || digest.digest("hex") !== file.sha256)
    throw new BackupFault(
      `No backup was made: ${file.path} is damaged, its SHA-256 is not what it should be. \`gp-records doctor\` says what to do.`,
    );
}
