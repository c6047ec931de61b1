import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { exitCodes } from "#cli/command-fault.ts";
import { commandsOnStore } from "../support/all-commands.ts";
import { mainPath } from "../support/command-line.ts";
import { eventually } from "../support/eventually.ts";
import { writeFilingFolder } from "../support/filing-folder.ts";
import { forEachStore } from "../support/for-each-store.ts";
import { runSql } from "../support/postgres.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const kills = 20;

forEachStore(
  "20 imports of filings killed at different moments each leave a whole dataset, the old or the new one, and the next import clears what else they left",
  async (t) => {
    const { place, start, json } = await commandsOnStore(t);
    const { dataDir, databaseUrl } = place;
    const downloads = temporaryFolder(t);
    const folder = join(downloads, "sec");
    mkdirSync(folder);
    await writeFilingFolder(folder, { size: 60 });
    const quarter = "2026q2_d.zip";
    /** Takes the last quarter out of the folder, or puts it back. */
    const turn = () => {
      const [out, back] = [join(folder, quarter), join(downloads, quarter)];
      if (existsSync(out)) renameSync(out, back);
      else renameSync(back, out);
    };
    const importing = () =>
      spawn(process.execPath, [mainPath, "import", "sec", folder], {
        env: { ...process.env, DATA_DIR: dataDir, DATABASE_URL: databaseUrl ?? "" },
        stdio: "ignore",
      });
    const hash = async (): Promise<string> => (await json("datasets show")).hash;
    const versions = async (): Promise<string[]> =>
      (await json("datasets list")).map(({ version }: { version: string }) => version);

    const hashes = new Set<string>();
    let milliseconds = 0;
    for (let i = 0; i < 4; i++) {
      const startedAt = performance.now();
      assert.deepEqual(await once(importing(), "exit"), [exitCodes.done, null]);
      milliseconds = performance.now() - startedAt;
      // From the second on, the ids published before are the same.
      if (i > 0) hashes.add(await hash());
      turn();
    }
    assert.equal(hashes.size, 2);
    const ends = { old: 0, new: 0 };
    for (let i = 0; i < kills; i++) {
      const before = await hash();
      const child = importing();
      const ended = once(child, "exit");
      await Promise.race([wait((1.2 * milliseconds * (i + 1)) / kills), ended]);
      child.kill("SIGKILL");
      await ended;
      const now = await hash();
      assert.ok(hashes.has(now), `${now} is neither the old nor the new one`);
      ends[now === before ? "old" : "new"]++;
      if (now !== before) turn();
      for (const { fault } of await json("datasets verify")) assert.equal(fault, null);
      for (const { staged } of await json("datasets list")) assert.equal(staged, false);
    }
    t.diagnostic(`killed within ${Math.round(milliseconds)} ms: ${JSON.stringify(ends)}`);
    assert.ok(ends.old > 0);
    const before = await hash();
    // A database may take a moment to notice that who held its lock is gone.
    await eventually(async () => {
      const { exitCode, err } = await start("import sec", folder, "--max-shrink", "100%");
      assert.equal(exitCode, exitCodes.done, err);
    });
    assert.notEqual(await hash(), before);
    const known = new Set(["current", "changes"]);
    for (const version of await versions()) known.add(`${version}.sqlite`).add(`${version}.json`);
    const there = readdirSync(join(dataDir, "datasets"));
    // Beside a database the folder is a cache.
    const isLeft = (name: string) =>
      databaseUrl === null ? !known.has(name) : name.startsWith(".draft");
    assert.deepEqual(there.filter(isLeft), []);
    if (databaseUrl !== null)
      assert.deepEqual(await runSql(databaseUrl, "select version from dataset where is_added"), []);
  },
);
