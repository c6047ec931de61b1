/** Random lives of a limiter by the thousand, each again with the same seed. */
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { greatestRequest, windows } from "#limits/policy.ts";
import {
  beginLife,
  type CountersKind,
  type Life,
  nowOf,
  pass,
  someQuotas,
  take,
  type Tally,
} from "./limits-life.ts";
import { randomFrom } from "./limits-random.ts";
import { day, hour, minute, second } from "./limits-world.ts";

export interface Schedules {
  kind: CountersKind;
  firstSeed: number;
  schedules: number;
  /** Empty, and left empty. */
  folder: string;
  tally: Tally;
}

/** @throws an error that names the seed of the first schedule that went wrong. */
export async function runSchedules({
  kind,
  firstSeed,
  schedules,
  folder,
  tally,
}: Schedules): Promise<void> {
  for (let seed = firstSeed; seed < firstSeed + schedules; seed++) {
    const dir = join(folder, String(seed));
    await runSchedule(kind, seed, dir, tally);
    // Files that were being synced are closed only when the event loop comes round.
    await setImmediate();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** One schedule: bursts, pauses, freezes, quotas that change, a wall clock that steps, and the kind's own events. */
async function runSchedule(
  kind: CountersKind,
  seed: number,
  dir: string,
  tally: Tally,
): Promise<void> {
  const life = await beginLife(kind, randomFrom(seed), dir, tally);
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
    assert.ok(
      !early.admitted && early.retryAfterSeconds === 1,
      "Retry-After was a second too long",
    );
    life.tally.retriesASecondEarly++;
    pass(life, account, second);
  } else pass(life, account, seconds * second);
  assert.ok(
    (await take(life, account, counting)).admitted,
    "Retry-After was not true at the first try",
  );
  life.tally.retriesOnTheSecond++;
}

function wait({ random, world }: Life): void {
  const most = random.pick([
    0,
    1,
    1000,
    second,
    20 * second,
    minute,
    10 * minute,
    hour,
    5 * hour,
    day,
  ]);
  world.now += random.between(0, most);
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
