/** A machine whose clock is wrong by decades, or is set back. */
import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { assertProblem } from "../../support/problem-answer.ts";
import { ask } from "../../support/raw-client.ts";
import { fixedClock, startService, type TestClock } from "../../support/service.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const path = "/fetch-gp?gp_name=kkr";
const hour = 3_600_000;

/** A stopped clock whose wall time can be set without time passing. */
function settableClock(startMilliseconds: number, bootId?: string) {
  const clock = fixedClock(startMilliseconds);
  let offset = 0;
  const wall = () => clock.now() + offset;
  const settable: TestClock = {
    ...clock,
    bootId: bootId ?? clock.bootId,
    wallMilliseconds: wall,
    now: wall,
  };
  return { clock: settable, set: (by: number) => void (offset += by) };
}

export function clockCases(): void {
  test("C70 · after a reboot with the clock at 1970 it starts and holds what is counted for one window at most, at 2040 the clock is believed; set back while running it changes nothing", async (t) => {
    const dataDir = temporaryFolder(t);
    const right = settableClock(Date.parse("2026-11-21T09:00:00Z")).clock;
    const first = await startService(t, { dataDir, clock: right });
    const { key } = await first.newKey({ quotas: { minute: 3 } });
    for (let i = 0; i < 3; i++) assert.equal((await ask(first.port, path, { key })).status, 200);
    await first.stop();
    for (const [wrong, isBelieved] of [
      ["1970-01-01T00:01:00Z", false],
      ["2040-06-01T00:00:00Z", true],
    ] as const) {
      const folder = join(temporaryFolder(t), "data");
      cpSync(dataDir, folder, { recursive: true });
      const { clock, set } = settableClock(Date.parse(wrong), "another-boot");
      const { port, log } = await startService(t, { dataDir: folder, clock, records: null });
      const get = () => ask(port, path, { key });
      assert.equal((await get()).status, isBelieved ? 200 : 429, wrong);
      clock.advance(60);
      for (let i = 0; i < 3; i++) assert.equal((await get()).status, 200, wrong);
      set(-hour);
      const refused = await get();
      assertProblem(refused, 429, "quota-exceeded");
      assert.equal(refused.headers["retry-after"], "60");
      clock.advance(60);
      assert.equal((await get()).status, 200, wrong);
      assert.doesNotMatch(log.join(""), /"level":[56]0/);
    }
  });
}
