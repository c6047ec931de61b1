import assert from "node:assert/strict";
import { test } from "node:test";
import { windows } from "#limits/policy.ts";
import { randomFrom } from "../support/limits-random.ts";
import { newKey, startOwnProcess } from "../support/own-process.ts";
import { assertProblem } from "../support/problem-answer.ts";
import { ask } from "../support/raw-client.ts";
import { startServer } from "../support/server-process.ts";
import { fixedClock, startService, type TestService } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { someQuotas, someSeconds } from "./quota/schedule.ts";

const path = "/fetch-gp?gp_name=kkr";

test("C50 · thirty requests before a stop or a kill and thirty after it are the sixty of the minute: the next is a 429", async (t) => {
  const { dataDir, ...first } = await startOwnProcess(t);
  const [stopped, killed] = [await newKey(dataDir, "stopped"), await newKey(dataDir, "killed")];
  const spendThirty = async (port: number, key: string, left: number) => {
    for (let i = 0; i < 30; i++) {
      const { status, headers } = await ask(port, path, { key });
      assert.equal(status, 200);
      const after = left - 1 - i;
      assert.match(
        headers["ratelimit"]!,
        new RegExp(
          `^"minute";r=${after};t=\\d+, "hour";r=${940 + after};t=\\d+, "day";r=${9940 + after};`,
        ),
      );
    }
  };
  const assertSpent = async (port: number, key: string) => {
    const problem = assertProblem(await ask(port, path, { key }), 429, "quota-exceeded");
    assert.deepEqual(problem["violated-policies"], ["minute"]);
  };

  await spendThirty(first.port, stopped, 60);
  first.signal("SIGTERM");
  assert.deepEqual(await first.ended, { exitCode: 0, signal: null });

  const second = await startServer(t, { dataDir });
  await spendThirty(second.port, stopped, 30);
  await assertSpent(second.port, stopped);
  await spendThirty(second.port, killed, 60);
  second.signal("SIGKILL");
  await second.ended;

  const third = await startServer(t, { dataDir });
  await spendThirty(third.port, killed, 30);
  await assertSpent(third.port, killed);
  await assertSpent(third.port, stopped);
});

test("C55 · over random arrivals, restarts and steps of the wall clock no window admits more than its quota, and nobody below it is refused", async (t) => {
  let admittedInAll = 0;
  for (let seed = 1; seed <= 2; seed++) {
    const random = randomFrom(seed);
    const dataDir = temporaryFolder(t);
    const clock = fixedClock();
    let wallOffset = 0;
    const stepping = { ...clock, wallMilliseconds: () => clock.wallMilliseconds() + wallOffset };
    const quotas = someQuotas(random);
    let service: TestService = await startService(t, { dataDir, clock: stepping });
    const { key } = await service.newKey({ quotas });
    const admitted: number[] = [];
    for (let step = 0; step < 100; step++) {
      if (random.chance(0.7)) clock.advance(someSeconds(random));
      if (random.chance(0.2)) wallOffset = random.between(-86_400_000, 86_400_000);
      if (step % 40 === 39) {
        await service.stop();
        service = await startService(t, { dataDir, clock: stepping, records: null });
      }
      const now = clock.monotonicMicroseconds();
      const isBelow = windows.every(
        ({ name, seconds }) =>
          admitted.filter((time) => now - time < seconds * 1e6).length < quotas[name],
      );
      const { status } = await ask(service.port, path, { key });
      assert.equal(status, isBelow ? 200 : 429, `seed ${seed}, step ${step}`);
      if (status === 200) admitted.push(now);
    }
    admittedInAll += admitted.length;
    await service.stop();
  }
  assert.ok(admittedInAll > 30 && admittedInAll < 170, `${admittedInAll} of 200`);
});
