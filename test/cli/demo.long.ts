import assert from "node:assert/strict";
import { test } from "node:test";
import { exitCodes } from "#cli/command-fault.ts";
import { startServer } from "../support/server-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

test("serve --demo fills an empty folder with 65,000 records, and its key reads them", async (t) => {
  const server = await startServer(t, { dataDir: temporaryFolder(t), args: ["--demo"] });
  assert.match(server.out(), /answers at http:\S+ with 65,000 invented records$/m);
  const [key] = /gpr_[0-9A-Za-z]{36}/.exec(server.out())!;
  const totalOf = async (path: string) => {
    const { status, body } = await server.get(path, { "x-api-key": key });
    assert.equal(status, 200);
    return body.pagination.total as number;
  };
  assert.equal(await totalOf("/fetch-principals"), 25_000);
  assert.equal(await totalOf("/fetch-signals"), 20_000);
  assert.equal(await totalOf("/fetch-projects"), 8000);
  // The printed first query has something to show.
  assert.ok((await totalOf("/fetch-gp?gp_name=stone&limit=1")) > 0);
  server.signal("SIGINT");
  assert.deepEqual(await server.ended, { exitCode: exitCodes.done, signal: null });
});
