/** Imports and servers that end in the middle of their work. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { exitCodes } from "#cli/command-fault.ts";
import { type Catalogue, openCatalogue } from "#datasets/catalogue.ts";
import { hashFile } from "#datasets/file-hash.ts";
import { commandInOwnProcess, mainPath, outcomeOf } from "../../support/command-line.ts";
import { allCommands } from "../../support/all-commands.ts";
import { ask } from "../../support/raw-client.ts";
import type { TestService } from "../../support/service.ts";
import type { CaseOf } from "../../support/still-well.ts";
import { servedNow } from "../imports/served-now.ts";
import { gp, linesOf, openWorkplace } from "../imports/workplace.ts";

/** Runs the command, and kills it instead of the n-th time it gives a file its name. */
const killedAtRename = (dataDir: string, n: number, args: readonly string[]) =>
  outcomeOf(process.execPath, ["--input-type=module", "-e", script(n), ...args], {
    ...process.env,
    DATA_DIR: dataDir,
  });

const script = (n: number) => `
  import fs from "node:fs";
  import { syncBuiltinESMExports } from "node:module";
  const { renameSync } = fs;
  let left = ${n};
  fs.renameSync = (...paths) => {
    if (--left === 0) process.kill(process.pid, "SIGKILL");
    renameSync(...paths);
  };
  syncBuiltinESMExports();
  process.argv.splice(1, 0, ${JSON.stringify(mainPath)});
  await import(${JSON.stringify(mainPath)});`;

const isWhole = (catalogue: Catalogue) => {
  const { version, sha256 } = catalogue.current()!;
  return hashFile(catalogue.pathOf(version)).sha256 === sha256;
};

export async function killedImportCases(
  caseOf: CaseOf,
  { dataDir, port, key }: TestService,
  folder: string,
): Promise<void> {
  const catalogue = openCatalogue(join(dataDir, "datasets"));
  const workplace = openWorkplace(dataDir, folder);

  await caseOf(
    "C71 · an import killed before each of its five last steps leaves the dataset before it, whole, and the next needs no cleaning (at random moments: npm run faults)",
    async () => {
      const before = catalogue.current()!;
      const file = workplace.write(linesOf(gp("1"), gp("2")), "ndjson");
      // What changed gets its name and is noted, the dataset and its facts get theirs, and the pointer moves.
      for (const step of [1, 2, 3, 4, 5]) {
        const args = ["import", "ndjson", file, "--source", "c71"];
        const { exitCode, err } = await killedAtRename(dataDir, step, args);
        assert.equal(exitCode, null, err);
        assert.deepEqual(catalogue.current(), before);
        assert.ok(isWhole(catalogue));
        assert.equal((await ask(port, "/fetch-gp?gp_name=kkr", { key })).status, 200);
      }
      await allCommands(dataDir).text("import", "ndjson", file, "--source", "c71");
      assert.notEqual(catalogue.current()!.hash, before.hash);
      assert.ok(isWhole(catalogue));
      const known = catalogue
        .list()
        .flatMap(({ version }) => [`${version}.json`, `${version}.sqlite`]);
      assert.deepEqual(
        readdirSync(catalogue.folder).toSorted(),
        [...known, "changes", "current"].toSorted(),
      );
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
      const second = workplace.write(linesOf(gp("2")), "ndjson");
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
      await servedNow({ port, key }, catalogue);
      const { json } = await ask(port, "/fetch-gp?gp_name=only%20the%20first", { key });
      assert.equal(json.pagination.total, 1);
    },
  );
}
