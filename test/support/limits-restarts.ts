/** Counters of one process, and what ends one run of them and begins the next. */
import assert from "node:assert/strict";
import { appendFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { openMemoryCounters } from "#limits/memory-counters.ts";
import { type CountersKind, type EpochEnd, epochOf, type Life } from "./limits-life.ts";
import { clockOf, day, hour, minute, reboot, second, type World } from "./limits-world.ts";

/** Counted by a clock that never steps, with a journal. */
export const inMemory: CountersKind = {
  open: (world, dir) => {
    const onFault = (fault: Error | null) => assert.fail(`unexpected fault: ${fault?.message}`);
    return openMemoryCounters({ dir, clock: clockOf(world), onFault });
  },
  now: (world) => world.now,
  events: [restart, startAgainElsewhere],
};

async function restart(life: Life): Promise<void> {
  life.tally.restarts++;
  await reopen(life, () => {
    life.world.now += life.random.pick([0, 1000, second, minute]);
  });
}

/** A reboot, or a new container: another boot id, but the monotonic clock goes on. */
async function startAgainElsewhere(life: Life): Promise<void> {
  const { random, world } = life;
  life.tally.reboots++;
  await reopen(life, () => {
    if (random.chance(0.8)) reboot(world, random.pick([0, second, 30 * second, minute, hour]));
    else world.boot++;
    world.now += random.pick([0, second, 20 * second, hour]);
  });
}

async function reopen(life: Life, meanwhile: () => void): Promise<void> {
  const old = life.counters;
  const isKilled = life.random.chance(0.7);
  if (!isKilled) await old.close();
  else if (life.random.chance(0.5)) tearNewestFile(life);
  life.runs++;
  meanwhile();
  setWallClock(life);
  life.counters = await inMemory.open(life.world, life.dir);
  // A killed process closes nothing, so the next one has been opened before. Closing writes nothing either.
  if (isKilled) await old.close();
}

/** What a write that a crash cut off may leave: a part of a record, or space without content. */
function tearNewestFile({ random, dir, tally }: Life): void {
  const folder = join(dir, "counts");
  const newest = readdirSync(folder).sort().at(-1)!;
  const torn = Buffer.alloc(random.between(1, 60), random.pick([0, 0x5a]));
  appendFileSync(join(folder, newest), torn);
  tally.tornFiles++;
}

/**
 * Sets the wall clock as it may be at a start: right, or set back. Set forward it would be believed, and nothing could
 * be asserted.
 */
function setWallClock(life: Life): void {
  const { random, world } = life;
  const current = epochOf(life);
  const others = [...life.epochs].filter(([epoch]) => epoch !== current).map(([, last]) => last);
  const recent = others.filter(({ lastAt }) => world.now - lastAt < 2 * day);
  if (recent.length > 0)
    world.wallOffsetMilliseconds = Math.min(...recent.map((last) => last.wallOffsetMilliseconds));
  if (random.chance(0.3))
    world.wallOffsetMilliseconds -= random.between(1, random.pick([5, 60_000, 86_400_000]));
  life.isClockSetBack = others.some((last) => seemsYoungerThanADay(last, world));
  if (life.isClockSetBack) life.tally.clocksSetBack++;
}

/** By a wall clock that was set back since. */
function seemsYoungerThanADay({ wallOffsetMilliseconds, lastAt }: EpochEnd, world: World): boolean {
  const setBackMilliseconds = wallOffsetMilliseconds - world.wallOffsetMilliseconds;
  return setBackMilliseconds > 0 && world.now - lastAt - setBackMilliseconds * 1000 < 2 * day;
}
