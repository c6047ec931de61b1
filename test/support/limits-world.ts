/** A machine whose time, wall clock and boots a test turns by hand. */
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import type { TestContext } from "node:test";
import type { Clock } from "#limits/clocks.ts";
import { openJournal } from "#limits/journal.ts";
import { openMemoryCounters } from "#limits/memory-counters.ts";
import { temporaryFolder as folderOfTest } from "./temporary-folder.ts";

export type World = ReturnType<typeof openWorld>;

export const second = 1e6;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;

/** Begins 11 days after the machine was started, in 2026. */
export const openWorld = () => ({
  /** µs that truly passed since the world began. */
  now: 0,
  /** What whoever sets the wall clock added to the true time. */
  wallOffsetMilliseconds: Date.UTC(2026, 10, 21),
  bootedAt: -11 * day,
  boot: 1,
  /** Whether a program can tell one boot from another. */
  hasBootId: true,
});

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
export const temporaryFolder = (t: Pick<TestContext, "after">): string =>
  folderOfTest(t, existsSync("/dev/shm") ? "/dev/shm" : tmpdir());
