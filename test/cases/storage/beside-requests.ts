/** Imports while clients ask, and while one of them does not read what it asked for. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { statSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { exitCodes } from "#cli/command-fault.ts";
import { slowReaderBounds } from "#http/guard-connections.ts";
import { commandInOwnProcess } from "../../support/command-line.ts";
import { roomy } from "../../support/own-process.ts";
import { ask, requestText } from "../../support/raw-client.ts";
import { startService, type TestService } from "../../support/service.ts";
import { type CaseOf, settles } from "../../support/still-well.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { servedNow } from "../imports/served-now.ts";
import { assertPublished, gp, linesOf, openWorkplace } from "../imports/workplace.ts";

const many = (count: number, description: string) =>
  Array.from({ length: count }, (_, i) => gp(`${i}`, { name: `Member ${i}`, description }));

export async function besideRequestsCases(
  caseOf: CaseOf,
  service: TestService,
  folder: string,
): Promise<void> {
  const { dataDir, port, key } = service;
  const { lines, write, catalogue } = openWorkplace(dataDir, folder);

  await caseOf(
    "C58 · while two thousand records are imported every request is answered, from the dataset before or the one after and never a mixture (a million, and how fast: npm run faults)",
    async () => {
      assertPublished(await lines("c58", linesOf(...many(1000, "before"))));
      await servedNow(service, catalogue);
      const before = catalogue.currentVersion();
      const file = write(linesOf(...many(2000, "after")), "ndjson");
      const seen = new Set<string>();
      const check = async () => {
        const { status, json } = await ask(port, "/fetch-gp?gp_name=member&limit=20", { key });
        assert.equal(status, 200);
        const descriptions = new Set(json.data.map((one: any) => one.description));
        const isOld = json.meta.dataset_version === before;
        seen.add(`${isOld} ${[...descriptions].join()} ${json.pagination.total}`);
      };
      let isDone = false;
      const args = ["import", "ndjson", file, "--source", "c58"];
      const importing = commandInOwnProcess(args, dataDir).finally(() => (isDone = true));
      while (!isDone) await check();
      const { exitCode, err } = await importing;
      assert.equal(exitCode, exitCodes.done, err);
      await servedNow(service, catalogue);
      await check();
      assert.deepEqual([...seen], ["true before 1000", "false after 2000"]);
    },
  );
}

const walBytesMax = 64 * 2 ** 20;
const { patienceMilliseconds, lookEveryMilliseconds } = slowReaderBounds;

export function slowReaderCase(): void {
  test("C57 · a client that does not read holds up no import and lets no log of a store grow, and is cut when its time is over (five hundred requests, and a clock that is set)", async (t: TestContext) => {
    t.mock.timers.enable({ apis: ["setInterval"] });
    let passed = 0;
    const { now } = performance;
    t.mock.method(performance, "now", () => now.call(performance) + passed);
    const settings = { EVENT_LOOP_DELAY_MAX_MS: "60000" };
    const pages = many(100, "a long description ".repeat(500));
    const started = await startService(t, { records: pages, settings });
    const { key } = await started.newKey({ quotas: roomy });
    const { port, dataDir } = started;
    const service = { port, key };
    const workplace = openWorkplace(dataDir, temporaryFolder(t));

    const slow = connect(port, "127.0.0.1");
    t.after(() => slow.destroy());
    let isCut = false;
    slow.on("error", () => (isCut = true));
    // A megabyte each: more than the system keeps for a client that does not read.
    slow.write(requestText("/fetch-gp?gp_name=member&limit=100", { key }).repeat(20));
    await once(slow, "readable");
    assertPublished(await workplace.lines("c57", linesOf(gp("new", { name: "Zeta" }))));
    for (let i = 0; i < 500; i += 20) {
      const asked = Array.from({ length: 20 }, () =>
        ask(port, "/fetch-gp?gp_name=member&limit=1", { key }),
      );
      for (const { status } of await Promise.all(asked)) assert.equal(status, 200);
    }
    t.mock.timers.tick(lookEveryMilliseconds);
    await servedNow(service, workplace.catalogue);
    for (const name of ["control", "usage"]) {
      const wal = statSync(join(dataDir, `${name}.sqlite-wal`), { throwIfNoEntry: false });
      assert.ok((wal?.size ?? 0) <= walBytesMax, name);
    }
    assert.equal(isCut, false);
    passed += patienceMilliseconds;
    t.mock.timers.tick(lookEveryMilliseconds);
    slow.resume();
    await settles(() => isCut);
    assert.ok(isCut, "it was not cut");
    assert.equal((await ask(port, "/health")).status, 200);
  });
}
