import assert from "node:assert/strict";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { exitCodes } from "#cli/command-fault.ts";
import { draftName, draftTextsName, openCatalogue } from "#datasets/catalogue.ts";
import { abandonDraft } from "#datasets/disk-space.ts";
import { mainPath, outcomeOf } from "../support/command-line.ts";
import { importRecords } from "../support/dataset.ts";
import { smallDisk } from "../support/machine.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { filesOf, gp } from "./published.ts";

const description = "x".repeat(2000);
const linesOf = (count: number) =>
  Array.from({ length: count }, (_, i) =>
    JSON.stringify({ record: "gp", id: `${i}`, name: `GP ${i}`, description }),
  ).join("\n");

/** An import of so many GPs of about 2 kB in a process of its own, after what the shell does first. */
function importAfter(t: TestContext, setting: string, folder: string, count: number) {
  const file = join(temporaryFolder(t), "records.ndjson");
  writeFileSync(file, linesOf(count));
  const command = [process.execPath, mainPath, "import", "ndjson", file, "--source", "two"];
  return outcomeOf("/bin/sh", ["-c", `${setting}exec "$0" "$@"`, ...command], {
    ...process.env,
    DATA_DIR: folder,
  });
}

/** Tries an import that finds no more room on its way, after this setting of the shell. */
async function assertEndsFull(t: TestContext, setting: string, words: RegExp): Promise<void> {
  const disk = setting === "" ? smallDisk(t, "2m")?.folder : temporaryFolder(t);
  if (disk === undefined) return;
  const folder = join(disk, "data");
  const catalogue = openCatalogue(join(folder, "datasets"));
  await importRecords(catalogue, [gp("a")]);
  const files = filesOf(catalogue);
  // Its records come out twice, so that it is found out only on the way.
  const { exitCode, err } = await importAfter(t, setting, folder, 700);
  assert.equal(exitCode, exitCodes.diskFull, err);
  assert.match(err, words);
  assert.ok(err.includes(catalogue.folder), err);
  assert.deepEqual(filesOf(catalogue), files);
  const { exitCode: afterwards } = await importAfter(t, setting, folder, 10);
  assert.equal(afterwards, exitCodes.done, "and the next import needs no cleaning");
}

test("a disk that fills up ends an import with 8, says what is in the way, and leaves the old dataset in place", async (t) => {
  const words =
    /^error: The new dataset could not be written to \S+\/datasets after [\d,]+ bytes; the disk has [\d,]+ bytes free\. Nothing was published\. Free some space on that disk; 'gp-records datasets prune' removes old datasets\.\n$/;
  await assertEndsFull(t, "", words);
});

test("a limit on the size of files ends an import with 8 and is named as what may be in the way", async (t) => {
  const words =
    /^error: The new dataset could not be written to \S+\/datasets .* Since the disk has room, .* \(ulimit -f\).*\.\n$/;
  await assertEndsFull(t, "ulimit -f 1500; ", words);
});

test("an error before a draft was begun stays the error, though there is no file to remove", (t) => {
  const error = new Error("the folder cannot be written");
  assert.equal(
    abandonDraft(error, temporaryFolder(t), () => {}),
    error,
  );
});

test("the texts that were put aside for a draft count as written", (t) => {
  const folder = temporaryFolder(t);
  const paths = [draftName, draftTextsName].map((name) => join(folder, name));
  for (const path of paths) writeFileSync(path, "x".repeat(1000));
  const remove = () => paths.forEach((path) => rmSync(path));
  const full = Object.assign(new Error("no room"), { code: "ENOSPC" });
  const { message } = abandonDraft(full, folder, remove) as Error;
  assert.match(message, / after 2,000 bytes; /);
  assert.ok(paths.every((path) => !existsSync(path)));
});
