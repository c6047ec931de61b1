import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { takeLock } from "#store/lock.ts";
import { canSetLimits, outcomeOfScriptWithin, whyNot } from "../support/process-limits.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

test("a lock is held by one at a time, and free again with its release", (t) => {
  const path = join(temporaryFolder(t), "one.lock");
  const first = takeLock(path, "It is held.");
  assert.throws(() => takeLock(path, "It is held."), { kind: "busy", message: "It is held." });
  first.release();
  takeLock(path, "It is held.").release();
});

test("a lock that cannot be made says so and where", (t) => {
  const path = join(temporaryFolder(t), "absent", "one.lock");
  assert.throws(() => takeLock(path, ""), { kind: "unusable", message: new RegExp(path) });
});

test(
  "a lock is taken on a full disk, where what makes room takes it",
  { skip: canSetLimits ? false : whyNot },
  async (t) => {
    const path = join(temporaryFolder(t), "one.lock");
    const { out, err } = await outcomeOfScriptWithin(
      0,
      `const { takeLock } = await import("#store/lock.ts");
       takeLock(${JSON.stringify(path)}, "It is held.");
       console.log("taken");`,
    );
    assert.equal(`${out}${err}`, "taken\n");
  },
);
