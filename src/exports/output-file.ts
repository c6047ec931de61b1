/** A file that is written piece by piece and appears under its name only when it is complete. */
import { createHash } from "node:crypto";
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";

export interface OutputFile {
  /** Takes what the bytes are now: they may change afterwards. */
  write(bytes: Uint8Array | string): void;
  /** Syncs the file and gives it its name, in place of whatever had it. */
  finish(): { bytes: number; sha256: string };
  /** Removes what was written. */
  abandon(): void;
}

/** Until it is finished its name ends in `.tmp`; what a killed process left under it is overwritten. */
export function openOutputFile(path: string): OutputFile {
  const unfinished = `${path}.tmp`;
  const file = openSync(unfinished, "w", 0o600);
  const hash = createHash("sha256");
  let bytes = 0;
  return {
    write(piece) {
      const written = typeof piece === "string" ? Buffer.from(piece) : piece;
      // Unlike `writeSync` it continues after a partial write, and fails where the disk is full.
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
