/** Writes a file piece by piece. It appears under its name only when it is complete. */
import { createHash } from "node:crypto";
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";

export interface OutputFile {
  /** Writes the bytes as they are now. They may change afterwards. */
  write(bytes: Uint8Array | string): void;
  /** Syncs the file and gives it its name, in place of any other file. */
  finish(): { bytes: number; sha256: string };
  /** Removes the unfinished file. */
  abandon(): void;
}

/** Opens a file. Until it is finished its name ends in `.tmp`. Overwrites a file that a killed process left there. */
export function openOutputFile(path: string): OutputFile {
  const unfinished = `${path}.tmp`;
  const file = openSync(unfinished, "w", 0o600);
  const hash = createHash("sha256");
  let bytes = 0;
  return {
    write(piece) {
      const written = typeof piece === "string" ? Buffer.from(piece) : piece;
      // Unlike `writeSync` it continues after a partial write, and fails if the disk is full.
      writeFileSync(file, written);
      hash.update(written);
      bytes += written.length;
    },
    finish() {
      fsyncSync(file);
      renameSync(unfinished, path);
      closeSync(file);
      return { bytes, sha256: hash.digest("hex") };
    },
    abandon() {
      closeSync(file);
      rmSync(unfinished, { force: true });
    },
  };
}
