import assert from "node:assert/strict";
import { appendFileSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { Counters, QuotaStatus } from "#limits/counters.ts";
import { greatestRequest, type Quotas, windows } from "#limits/policy.ts";
import { type Random, seededRandom } from "./awkward/random.ts";
import {
  clockOf,
  day,
  hour,
  minute,
  openLastingCounters,
  openWorld,
  reboot,
  second,
  temporaryFolder,
  type World,
} from "./limits-world.ts";

/** What is to be held against an answer: the times (µs) of all requests of the account admitted before. */
export interface Expectation {
  quotas: Quotas;
  now: number;
  /** When they truly were. */
  truly: readonly number[];
  /** As late as the limiter may believe they were; null if a wall clock set back leaves that open. */
  atTheLatest: readonly number[] | null;
  /** How many the request counts. */
  requests: number;
}

/** Says by counting one by one what a limiter must answer: slow, and too plain to be wrong. */
export function assertRight(quotaStatus: QuotaStatus, expected: Expectation): void {
  const { now, truly, atTheLatest, requests } = expected;
  if (quotaStatus.admitted) {
    assert.ok(hasRoom(truly, expected, now), "a window admitted more than its quota");
    assert.equal(quotaStatus.retryAfterSeconds, 0);
    assert.deepEqual(quotaStatus.violated, []);
  } else assertRightRefusal(quotaStatus, expected);
  assert.ok(quotaStatus.windows.every(isWithinItsBounds), "remaining or reset is out of bounds");
  const isExact = atTheLatest?.every((time, index) => time === truly[index]) ?? false;
  const added = quotaStatus.admitted ? Array.from({ length: requests }, () => now) : [];
  if (isExact) assertExact(quotaStatus, [...truly, ...added], expected);
}

function assertRightRefusal(quotaStatus: QuotaStatus, expected: Expectation): void {
  const { now, truly, atTheLatest } = expected;
  const { violated, retryAfterSeconds } = quotaStatus;
  const longest = Math.max(
    ...windows.map(({ name, seconds }) => (violated.includes(name) ? seconds : 0)),
  );
  assert.ok(
    retryAfterSeconds >= 1 && retryAfterSeconds <= longest,
    `Retry-After is ${retryAfterSeconds}`,
  );
  assert.ok(retryAfterSeconds >= secondsUntilAdmitted(truly, expected), "Retry-After is too short");
  if (atTheLatest === null) return;
  assert.ok(!hasRoom(atTheLatest, expected, now), "refused below every quota");
  assert.ok(
    retryAfterSeconds <= secondsUntilAdmitted(atTheLatest, expected),
    "Retry-After is too long",
  );
}

function isWithinItsBounds({
  quota,
  remaining,
  resetSeconds,
  windowSeconds,
}: QuotaStatus["windows"][number]): boolean {
  return remaining >= 0 && remaining <= quota && resetSeconds >= 0 && resetSeconds <= windowSeconds;
}

/** Compares every member of the windows and which of them refuse. */
function assertExact(
  quotaStatus: QuotaStatus,
  times: readonly number[],
  { quotas, now, requests }: Expectation,
): void {
  const expected = windows.map(({ name, seconds }) => {
    const inside = times.filter((time) => now - time < seconds * 1e6);
    const quota = quotas[name];
    return {
      name,
      quota,
      windowSeconds: seconds,
      remaining: Math.max(0, quota - inside.length),
      resetSeconds:
        inside.length === 0 ? 0 : Math.ceil((Math.min(...inside) + seconds * 1e6 - now) / 1e6),
    };
  });
  assert.partialDeepStrictEqual(quotaStatus.windows, expected);
  const full = expected
    .filter((window) => window.remaining < requests)
    .map((window) => window.name);
  if (!quotaStatus.admitted) assert.deepEqual(quotaStatus.violated, full);
}

function hasRoom(
  times: readonly number[],
  { quotas, requests }: Expectation,
  now: number,
): boolean {
  return windows.every(
    ({ name, seconds }) =>
      times.filter((time) => now - time < seconds * 1e6).length + requests <= quotas[name],
  );
}

/** The least whole number of seconds from 1 on after which a request would be admitted, found by trying. */
function secondsUntilAdmitted(times: readonly number[], expected: Expectation): number {
  let refused = 0;
  let admitted = 86_401;
  while (admitted - refused > 1) {
    const middle = Math.floor((refused + admitted) / 2);
    if (hasRoom(times, expected, expected.now + middle * 1e6)) admitted = middle;
    else refused = middle;
  }
  return admitted;
}

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
const emptyTally = () => ({
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

export type Life = Awaited<ReturnType<typeof beginLife>>;

/** A wall clock read twice, in whole ms, tells a span of time but for this much. */
const bridgeMicroseconds = 2000;

async function beginLife(kind: CountersKind, random: Random, dir: string, tally: Tally) {
  const world = openWorld();
  world.hasBootId = random.chance(0.8);
  const accounts = Array.from({ length: random.between(1, 3) }, () => someQuotas(random));
  return {
    random,
    world,
    dir,
    tally,
    kind,
    counters: await kind.open(world, dir),
    /** By account, as are the admitted requests. */
    quotas: accounts,
    admitted: accounts.map((): { at: number; epoch: string }[] => []),
    epochs: new Map<string, EpochEnd>(),
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
  life.counters.commit();
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

/** The life of one limiter in a random world: what happened to it, and every answer held against the oracle. */
export function epochOf({ world, runs }: Life): string {
  return world.hasBootId ? `boot ${world.boot}` : `run ${runs}`;
}

/**
 * Runs random lives of some counters, one after the other, and prints what happened in them.
 * @throws an error that names the seed of the first that went wrong.
 */
export async function runLives(
  t: TestContext,
  kind: CountersKind,
  count: number,
  firstSeed = 1,
): Promise<Tally> {
  const folder = temporaryFolder(t);
  const tally = emptyTally();
  for (let seed = firstSeed; seed < firstSeed + count; seed++) {
    const dir = join(folder, String(seed));
    await runSchedule(kind, seed, dir, tally);
    // Files that were being synced are closed only when the event loop comes round.
    await setImmediate();
    rmSync(dir, { recursive: true, force: true });
  }
  t.diagnostic(`SEED=${firstSeed} ${JSON.stringify(tally)}`);
  return tally;
}

/** One schedule: bursts, pauses, freezes, quotas that change, a wall clock that steps, and the kind's own events. */
async function runSchedule(
  kind: CountersKind,
  seed: number,
  dir: string,
  tally: Tally,
): Promise<void> {
  const life = await beginLife(kind, seededRandom(seed), dir, tally);
  const possible = [...events, ...kind.events];
  try {
    const steps = life.random.between(20, 100);
    for (let step = 0; step < steps; step++) await life.random.pick(possible)(life);
  } catch (error) {
    throw new Error(`Schedule of seed ${seed}: ${(error as Error).message}`, { cause: error });
  } finally {
    await life.counters.close();
  }
}

const events: CountersKind["events"] = [
  burst,
  burst,
  burst,
  burst,
  wait,
  wait,
  wait,
  wait,
  waitForABorder,
  waitForABorder,
  changeQuotas,
  stepWallClock,
];

async function burst(life: Life): Promise<void> {
  const account = life.random.between(0, life.quotas.length - 1);
  const requests = life.random.between(1, 8);
  for (let request = 0; request < requests; request++) {
    const counting = howMany(life, account);
    const quotaStatus = await take(life, account, counting);
    if (!quotaStatus.admitted && life.random.chance(0.3))
      await retry(life, account, counting, quotaStatus.retryAfterSeconds);
    if (life.random.chance(0.5)) life.world.now += life.random.between(0, 2 * second);
  }
}

/** Now and then a request counts several, at most as many as could ever be admitted. */
const howMany = ({ random, quotas }: Life, account: number): number =>
  random.chance(0.2) ? random.between(1, greatestRequest(quotas[account]!)) : 1;

async function retry(
  life: Life,
  account: number,
  counting: number,
  seconds: number,
): Promise<void> {
  if (seconds > 1 && life.random.chance(0.5)) {
    pass(life, account, (seconds - 1) * second);
    const early = await take(life, account, counting);
    const isRight = !early.admitted && early.retryAfterSeconds === 1;
    assert.ok(isRight, "Retry-After was a second too long");
    life.tally.retriesASecondEarly++;
    pass(life, account, second);
  } else pass(life, account, seconds * second);
  const { admitted } = await take(life, account, counting);
  assert.ok(admitted, "Retry-After was not true at the first try");
  life.tally.retriesOnTheSecond++;
}

function wait({ random, world }: Life): void {
  const units = [1, 1000, second, 20 * second, minute, 10 * minute, hour, 5 * hour, day];
  world.now += random.between(0, random.pick([0, ...units]));
}

/** Until a request is about to leave a window, leaves it, or has just left. */
function waitForABorder(life: Life): void {
  const { random, world, kind, admitted } = life;
  const account = random.between(0, admitted.length - 1);
  const request = random.pick(
    admitted[account]!.slice(-10).concat({ at: nowOf(life, account), epoch: "" }),
  );
  const border = request.at + random.pick(windows).seconds * second + random.between(-1, 1);
  world.now += Math.max(0, border - kind.now(world));
}

function changeQuotas({ random, quotas }: Life): void {
  quotas[random.between(0, quotas.length - 1)] = someQuotas(random);
}

function stepWallClock({ random, world }: Life): void {
  const step = random.pick([1, 1000, 60_000, 3_600_000, 86_400_000]);
  world.wallOffsetMilliseconds += random.pick([-1, 1]) * random.between(1, step);
}

/** Counted by a clock that never steps, with a journal. */
export const inMemory: CountersKind = {
  open: (world, dir) => {
    const onFault = (fault: Error | null) => assert.fail(`unexpected fault: ${fault?.message}`);
    return openLastingCounters({ dir, clock: clockOf(world), onFault });
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
