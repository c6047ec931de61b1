/** The life of one limiter in a random world: what happened to it, and every answer held against the oracle. */
import type { Counters, QuotaStatus } from "#limits/counters.ts";
import type { Quotas } from "#limits/policy.ts";
import { assertRight } from "./limits-oracle.ts";
import type { Random } from "./limits-random.ts";
import { day, openWorld, type World } from "./limits-world.ts";

/** Counters of one kind, and what can happen to them. */
export interface CountersKind {
  /** Begins a run. `dir` is the life's own, and ends in its number. */
  open(world: World, dir: string): Counters | Promise<Counters>;
  /** The time these counters count by, in µs; it may step. */
  now(world: World): number;
  /** Tells them the time, where they cannot see the world. */
  setClock?(world: World): Promise<void>;
  /** What else happens to them, as often as listed. */
  events: readonly ((life: Life) => void | Promise<void>)[];
}

/** What happened in schedules, so that a test sees that all of it did. */
export const emptyTally = () => ({
  admitted: 0,
  /** Of those, requests that counted several. */
  wholes: 0,
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
  kind: CountersKind;
  counters: Counters;
  /** By account, as are the admitted requests. */
  quotas: Quotas[];
  admitted: { at: number; epoch: string }[][];
  epochs: Map<string, EpochEnd>;
  runs: number;
  isClockSetBack: boolean;
}

/** A wall clock read twice, in whole ms, tells a span of time but for this much. */
const bridgeMicroseconds = 2000;

export async function beginLife(
  kind: CountersKind,
  random: Random,
  dir: string,
  tally: Tally,
): Promise<Life> {
  const world = openWorld();
  world.hasBootId = random.chance(0.8);
  const accounts = random.between(1, 3);
  return {
    random,
    world,
    dir,
    tally,
    kind,
    counters: await kind.open(world, dir),
    quotas: Array.from({ length: accounts }, () => someQuotas(random)),
    admitted: Array.from({ length: accounts }, () => []),
    epochs: new Map(),
    runs: 1,
    isClockSetBack: false,
  };
}

export const someQuotas = (random: Random): Quotas => ({
  minute: random.between(1, 6),
  hour: random.between(1, 15),
  day: random.between(1, 25),
});

/** The time an account is counted by: a clock that was set back stands still until it has caught up. */
export function nowOf({ kind, world, admitted }: Life, account: number): number {
  return Math.max(kind.now(world), admitted[account]!.at(-1)?.at ?? Number.NEGATIVE_INFINITY);
}

/** Lets time pass, as the account is counted by it. */
export function pass(life: Life, account: number, microseconds: number): void {
  life.world.now += nowOf(life, account) - life.kind.now(life.world) + microseconds;
}

/** @param requests how many it counts. */
export async function take(life: Life, account: number, requests = 1): Promise<QuotaStatus> {
  const { kind, world, tally } = life;
  const quotas = life.quotas[account]!;
  const epoch = epochOf(life);
  const now = nowOf(life, account);
  const before = life.admitted[account]!.filter(({ at }) => now - at < day + bridgeMicroseconds);
  await kind.setClock?.(world);
  const quotaStatus = await life.counters.take(account + 1, quotas, requests);
  await life.counters.commit();
  assertRight(quotaStatus, {
    quotas,
    now,
    requests,
    truly: before.map(({ at }) => at),
    atTheLatest: life.isClockSetBack
      ? null
      : before.map((request) => request.at + (request.epoch === epoch ? 0 : bridgeMicroseconds)),
  });
  tally[quotaStatus.admitted ? "admitted" : "refused"]++;
  if (!quotaStatus.admitted) return quotaStatus;
  if (requests > 1) tally.wholes++;
  const added = Array.from({ length: requests }, () => ({ at: now, epoch }));
  life.admitted[account] = [...before, ...added];
  life.epochs.set(epoch, {
    wallOffsetMilliseconds: world.wallOffsetMilliseconds,
    lastAt: world.now,
  });
  return quotaStatus;
}

export function epochOf({ world, runs }: Life): string {
  return world.hasBootId ? `boot ${world.boot}` : `run ${runs}`;
}
