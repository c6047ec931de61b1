/** The life of one limiter in a random world: what happened to it, and every answer held against the oracle. */
import assert from "node:assert/strict";
import type { QuotaStatus } from "#limits/counters.ts";
import { type MemoryCounters, openMemoryCounters } from "#limits/memory-counters.ts";
import type { Quotas } from "#limits/policy.ts";
import { assertRight } from "./limits-oracle.ts";
import type { Random } from "./limits-random.ts";
import { clockOf, day, openWorld, type World } from "./limits-world.ts";

/** What happened in schedules, so that a test sees that all of it did. */
export const emptyTally = () => ({
  admitted: 0,
  refused: 0,
  retriesOnTheSecond: 0,
  retriesASecondEarly: 0,
  restarts: 0,
  reboots: 0,
  clocksSetBack: 0,
  tornFiles: 0,
});

export type Tally = ReturnType<typeof emptyTally>;

/** The last record of a boot (or of a run, where boots cannot be told apart), and what its wall clock was off then. */
export interface EpochEnd {
  wallOffsetMilliseconds: number;
  lastAt: number;
}

export interface Life {
  random: Random;
  world: World;
  dir: string;
  tally: Tally;
  counters: MemoryCounters;
  /** By account, as are the admitted requests. */
  quotas: Quotas[];
  admitted: { at: number; epoch: string }[][];
  epochs: Map<string, EpochEnd>;
  runs: number;
  isClockSetBack: boolean;
}

/** A wall clock read twice, in whole ms, tells a span of time but for this much. */
const bridgeMicroseconds = 2000;

export function beginLife(random: Random, dir: string, tally: Tally): Life {
  const world = openWorld();
  world.hasBootId = random.chance(0.8);
  const accounts = random.between(1, 3);
  return {
    random,
    world,
    dir,
    tally,
    counters: openCounters(world, dir),
    quotas: Array.from({ length: accounts }, () => someQuotas(random)),
    admitted: Array.from({ length: accounts }, () => []),
    epochs: new Map(),
    runs: 1,
    isClockSetBack: false,
  };
}

export function openCounters(world: World, dir: string): MemoryCounters {
  const onFault = (fault: Error | null) => assert.fail(`unexpected fault: ${fault?.message}`);
  return openMemoryCounters({ dir, clock: clockOf(world), onFault });
}

export const someQuotas = (random: Random): Quotas => ({
  minute: random.between(1, 6),
  hour: random.between(1, 15),
  day: random.between(1, 25),
});

export function take(life: Life, account: number): QuotaStatus {
  const { world, tally } = life;
  const quotas = life.quotas[account]!;
  const epoch = epochOf(life);
  const before = life.admitted[account]!.filter(
    ({ at }) => world.now - at < day + bridgeMicroseconds,
  );
  const quotaStatus = life.counters.take(account + 1, quotas);
  life.counters.commit();
  assertRight(quotaStatus, {
    quotas,
    now: world.now,
    truly: before.map(({ at }) => at),
    atTheLatest: life.isClockSetBack
      ? null
      : before.map((request) => request.at + (request.epoch === epoch ? 0 : bridgeMicroseconds)),
  });
  tally[quotaStatus.admitted ? "admitted" : "refused"]++;
  if (!quotaStatus.admitted) return quotaStatus;
  life.admitted[account] = [...before, { at: world.now, epoch }];
  life.epochs.set(epoch, {
    wallOffsetMilliseconds: world.wallOffsetMilliseconds,
    lastAt: world.now,
  });
  return quotaStatus;
}

export function epochOf({ world, runs }: Life): string {
  return world.hasBootId ? `boot ${world.boot}` : `run ${runs}`;
}
