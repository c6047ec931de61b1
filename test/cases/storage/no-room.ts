/** A server that may write nothing more, until there is room again. */
import assert from "node:assert/strict";
import { exitCodes } from "#cli/command-fault.ts";
import { commandDone, mainPath, outcomeOf } from "../../support/command-line.ts";
import { eventually } from "../../support/eventually.ts";
import { newKey, type OwnProcess } from "../../support/own-process.ts";
import { canSetLimits, setLimit, whyNot } from "../../support/process-limits.ts";
import { ask } from "../../support/raw-client.ts";
import { type CaseOf, settles } from "../../support/still-well.ts";

const path = "/fetch-gp?gp_name=kkr";

const accountWithoutRoom = (dataDir: string) =>
  outcomeOf(
    "/bin/sh",
    [
      "-c",
      'ulimit -f 0; exec "$0" "$@"',
      process.execPath,
      mainPath,
      ..."accounts create --name Late".split(" "),
    ],
    { ...process.env, DATA_DIR: dataDir },
  );

/** Requests of an account in the request log, which is written a second behind and made with the first of them. */
async function recordedCount(dataDir: string, account: string): Promise<number> {
  const args = ["requests", "list", "--account", account, "--limit", "1000", "--json"];
  return JSON.parse(await commandDone(dataDir, ...args)).length;
}

/** @returns a check that a server started anew on the folder knows all that was counted. */
export async function noRoomCases(
  caseOf: CaseOf,
  server: OwnProcess,
): Promise<(port: number) => Promise<void>> {
  const { dataDir, port, pid } = server;
  const key = await newKey(dataDir, "without room", { minute: 1000 });
  let asked = 0;
  const assertCounted = async (at: number) => {
    const { status, headers } = await ask(at, path, { key });
    asked++;
    assert.equal(status, 200);
    assert.match(headers["ratelimit"]!, new RegExp(`^"minute";r=${1000 - asked};`));
  };

  await caseOf(
    "C61 · without room for a byte answers go on and are counted, a new account is refused in words, and with room again all is kept without a restart (Linux)",
    async (t) => {
      if (!canSetLimits) return t.skip(whyNot);
      setLimit(pid, "fsize", "0:unlimited");
      while (asked < 100) await assertCounted(port);
      await settles(() => server.log().includes("counts cannot be saved"));
      assert.match(server.log(), /"level":50.*"msg":"counts cannot be saved"/);
      await settles(() => server.log().includes("usage cannot be saved"));
      assert.match(server.log(), /"level":50.*"msg":"usage cannot be saved"/);
      const refused = await accountWithoutRoom(dataDir);
      assert.equal(refused.exitCode, exitCodes.diskFull, refused.err);
      assert.match(refused.err, /^error: .*\/control\.sqlite\. Is the disk full .*\n$/);
      setLimit(pid, "fsize", "unlimited:unlimited");
      await assertCounted(port);
      await settles(() => server.log().includes("counts cannot be saved: works again"));
      assert.match(server.log(), /"msg":"counts cannot be saved: works again"/);
      await newKey(dataDir, "Late");
      await settles(() => server.log().includes("usage cannot be saved: works again"));
      await eventually(async () =>
        assert.equal(await recordedCount(dataDir, "without room"), asked),
      );
      assert.doesNotMatch(server.log(), /usage (?:is being|was) lost/);
    },
  );
  return assertCounted;
}
