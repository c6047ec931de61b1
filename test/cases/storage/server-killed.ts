/** A server that is killed while many clients ask. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { newKey, type OwnProcess } from "../../support/own-process.ts";
import { ask } from "../../support/raw-client.ts";
import { startServer } from "../../support/server-process.ts";

const path = "/fetch-gp?gp_name=kkr";
const quota = 200;
const clients = 5;

/** @param assertCounted that another account has its counts, too. */
export async function serverKilledCase(
  t: TestContext,
  { dataDir, port, signal, ended }: OwnProcess,
  assertCounted: (port: number) => Promise<void>,
): Promise<void> {
  const key = await newKey(dataDir, "counted", { minute: quota });
  const name =
    "C63 · a server killed under load admits no request beyond the quota afterwards, and refuses no more too early than were under way (once; a hundred times: npm run faults)";
  await t.test(name, async () => {
    let admitted = 0;
    const askOnAndOn = async () => {
      for (;;) {
        const { status } = await ask(port, path, { key });
        if (status !== 200) return;
        if (++admitted === 100) signal("SIGKILL");
      }
    };
    await Promise.allSettled(Array.from({ length: clients }, askOnAndOn));
    assert.deepEqual(await ended, { exitCode: null, signal: "SIGKILL" });
    const again = await startServer(t, { dataDir });
    await assertCounted(again.port);
    let status = 200;
    while (status === 200) {
      ({ status } = await ask(again.port, path, { key }));
      if (status === 200) admitted++;
    }
    assert.equal(status, 429);
    assert.ok(admitted <= quota && admitted >= quota - clients, `${admitted} of ${quota}`);
  });
}
