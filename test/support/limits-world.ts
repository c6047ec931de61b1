/** A machine whose time, wall clock and boots a test turns by hand. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "#limits/clocks.ts";
import { openJournal } from "#limits/journal.ts";
import { openMemoryCounters } from "#limits/memory-counters.ts";

export interface World {
  /** µs that truly passed since the world began. */
  now: number;
  /** What whoever sets the wall clock added to the true time. */
  wallOffsetMilliseconds: number;
  bootedAt: number;
  boot: number;
  /** Whether a program can tell one boot from another. */
  hasBootId: boolean;
}

export const second = 1e6;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;

/** Begins 11 days after the machine was started, in 2026. */
export function openWorld(): World {
  return {
    now: 0,
    wallOffsetMilliseconds: Date.UTC(2026, 10, 21),
    bootedAt: -11 * day,
    boot: 1,
    hasBootId: true,
  };
}

/** Counters that find their requests again after a restart, and close their journal with themselves. */
export const openLastingCounters = (options: Parameters<typeof openJournal>[0]) =>
  openMemoryCounters(options.clock, openJournal(options));

/** The clocks as a program started now sees them: they keep to this boot, also after the next one. */
export function clockOf(world: World): Clock {
  const { bootedAt, boot, hasBootId } = world;
  return {
    monotonicMicroseconds: () => world.now - bootedAt,
    wallMilliseconds: () => Math.floor(world.now / 1000) + world.wallOffsetMilliseconds,
    bootId: hasBootId ? `boot-${boot}` : null,
  };
}

/** Switches the machine off, and on again after a while. */
export function reboot(world: World, downMicroseconds: number): void {
  world.now += downMicroseconds;
  world.bootedAt = world.now;
  world.boot++;
}

/** A new folder, in memory where the system has one, that is gone when the test is over. */
export function temporaryFolder(t: { after(clean: () => void): void }): string {
  const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "gp-limits-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
