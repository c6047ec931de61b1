/** File systems that are really full, for tests that run as root. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

export interface SmallDisk {
  folder: string;
  resize(size: string): void;
}

/**
 * Mounts a small file system on a folder of its own; skips the test where this user cannot.
 * @param size as `mount` takes it: `64k`, `2m`.
 */
export function smallDisk(t: TestContext, size: string): SmallDisk | null {
  const folder = mkdtempSync(join(tmpdir(), "gp-records-disk-"));
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", folder]);
  t.after(() => {
    if (mounted.status === 0) execFileSync("umount", [folder]);
    rmdirSync(folder);
  });
  if (mounted.status !== 0) {
    t.skip("this user cannot mount a small disk");
    return null;
  }
  const resize = (to: string) => execFileSync("mount", ["-o", `remount,size=${to}`, folder]);
  return { folder, resize };
}
