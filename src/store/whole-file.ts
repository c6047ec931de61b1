/** Writes files and syncs them to disk, and replaces files atomically. */
import { createHash } from "node:crypto";
import {
  closeSync,
  fsync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";

/** Opens a file. A declaration with `using` closes it at the end of the block. */
export function openForBlock(path: string, flags: string, mode?: number) {
  const fd = openSync(path, flags, mode);
  return { fd, [Symbol.dispose]: () => closeSync(fd) };
}

/** Replaces a file atomically: writes a temporary file, syncs it, renames it, and syncs the folder. */
export function replaceFile(path: string, text: string): void {
  const aside = `${path}.${process.pid}.tmp`;
  try {
    writeSynced(aside, text);
    renameSync(aside, path);
  } catch (error) {
    rmSync(aside, { force: true });
    throw error;
  }
  syncPath(dirname(path));
}

/** Writes and syncs a file. It survives a power failure once its folder is synced too. */
export function writeSynced(path: string, content: string | Uint8Array): void {
  using file = openForBlock(path, "w", 0o600);
  // Unlike `writeSync`, this continues after a partial write, and fails if the disk is full.
  writeFileSync(file.fd, content);
  fsyncSync(file.fd);
}

/** Opens a file or a folder to sync it. Returns null for a folder on Windows, which can sync only files. */
function openToSync(path: string) {
  const isFolder = statSync(path).isDirectory();
  if (isFolder && process.platform === "win32") return null;
  return openForBlock(path, isFolder ? "r" : "r+");
}

export function syncPath(path: string): void {
  using opened = openToSync(path);
  if (opened !== null) fsyncSync(opened.fd);
}

/** Syncs a file or a folder to disk while this thread does other work, even work that blocks the event loop. */
export async function syncMeanwhile(path: string): Promise<void> {
  using opened = openToSync(path);
  if (opened !== null) await promisify(fsync)(opened.fd);
}

export type OutputFile = ReturnType<typeof openOutputFile>;

/** Opens a file whose name ends in `.tmp` until it is finished. Overwrites an unfinished one from a killed process. */
export function openOutputFile(path: string) {
  const unfinished = `${path}.tmp`;
  const file = openSync(unfinished, "w", 0o600);
  const hash = createHash("sha256");
  let bytes = 0;
  return {
    /** Writes the bytes before it returns. The caller may change them afterwards. */
    write(piece: Uint8Array | string): void {
      const written = typeof piece === "string" ? Buffer.from(piece) : piece;
      // Unlike `writeSync`, this continues after a partial write, and fails if the disk is full.
      writeFileSync(file, written);
      hash.update(written);
      bytes += written.length;
    },
    /** Syncs the file and gives it its final name. Replaces any other file of that name. */
    finish(): { bytes: number; sha256: string } {
      fsyncSync(file);
      renameSync(unfinished, path);
      closeSync(file);
      return { bytes, sha256: hash.digest("hex") };
    },
    abandon(): void {
      closeSync(file);
      rmSync(unfinished, { force: true });
    },
  };
}
