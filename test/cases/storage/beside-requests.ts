/** Imports beside another import, while clients ask, and while one of them does not read what it asked for. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import { open } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { exitCodes } from "#cli/command-fault.ts";
import type { Catalogue } from "#datasets/catalogue.ts";
import { slowReaderBounds } from "#http/connections.ts";
import { allCommands } from "../../support/all-commands.ts";
import { commandInOwnProcess } from "../../support/command-line.ts";
import { eventually } from "../../support/eventually.ts";
import { roomy } from "../../support/own-process.ts";
import { ask, requestText } from "../../support/raw-client.ts";
import { startService, type TestService } from "../../support/service.ts";
import { type CaseOf, settles } from "../../support/still-well.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import {
  assertPublished,
  gp,
  linesOf,
  openWorkplace,
  type Workplace,
} from "../imports/workplace.ts";

/** Waits until a running service has taken over what was published beside it. */
const servedNow = ({ port, key }: { port: number; key: string }, catalogue: Catalogue) =>
  eventually(async () => {
    const { json } = await ask(port, "/fetch-projects?limit=1", { key });
    assert.equal(json.meta?.dataset_version, catalogue.currentVersion());
  });

const many = (count: number, description: string) =>
  Array.from({ length: count }, (_, i) => gp(`${i}`, { name: `Member ${i}`, description }));

export async function besideRequestsCases(
  caseOf: CaseOf,
  service: TestService,
  { lines, write, catalogue }: Workplace,
  folder: string,
): Promise<void> {
  const { dataDir, port, key } = service;

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

  await caseOf(
    "C72 · a second import at the same time ends at once with 5, and the first publishes what it read",
    async () => {
      const pipe = join(folder, "pipe");
      execFileSync("mkfifo", [pipe]);
      const first = allCommands(dataDir).start("import", "ndjson", pipe, "--source", "c72");
      // Opens when the first import reads from it, which it does only under the lock.
      const source = await open(pipe, "w");
      const second = write(linesOf(gp("2")), "ndjson");
      const args = ["import", "ndjson", second, "--source", "c72"];
      const { exitCode, err } = await commandInOwnProcess(args, dataDir);
      assert.equal(exitCode, exitCodes.busy);
      assert.equal(
        err,
        `error: Another import is running on ${dataDir}: process ${process.pid}, since 2026-11-21T12:00:00Z. Try again when it has ended.\n`,
      );
      await source.write(linesOf(gp("1", { name: "Only the first" })));
      await source.close();
      assert.equal((await first).exitCode, exitCodes.done);
      await servedNow(service, catalogue);
      const { json } = await ask(port, "/fetch-gp?gp_name=only%20the%20first", { key });
      assert.equal(json.pagination.total, 1);
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
