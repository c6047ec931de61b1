import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { systemClock } from "#limits/clocks.ts";

test("the monotonic clock is the same in every process of a boot, in whole microseconds", () => {
  const clock = systemClock();
  const read = `import { systemClock } from "#limits/clocks.ts"; console.log(systemClock().monotonicMicroseconds())`;
  const before = clock.monotonicMicroseconds();
  const inAnother = Number(
    execFileSync(process.execPath, ["--input-type=module-typescript", "-e", read]),
  );
  const after = clock.monotonicMicroseconds();
  assert.ok(before < inAnother && inAnother < after, `${before} < ${inAnother} < ${after}`);
  assert.ok(Number.isInteger(before));
});

test("on Linux the boot is known by its id", { skip: process.platform !== "linux" }, () => {
  assert.match(systemClock().bootId ?? "", /^[0-9a-f-]{36}$/);
});
