import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { exitCodes } from "#cli/exit-codes.ts";
import { openCatalogue } from "#datasets/catalogue.ts";
import { datasetCommands } from "../support/dataset-commands.ts";
import { importRecords } from "../support/dataset.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

test("prune keeps five datasets unless told otherwise, and says what it freed", async (t) => {
  const dataDir = temporaryFolder(t);
  const catalogue = openCatalogue(join(dataDir, "datasets"));
  for (let i = 0; i < 7; i++)
    await importRecords(catalogue, [{ record: "gp", id: "a", name: `GP ${i}` }]);
  const all = catalogue.list();
  const { text, json, refusal } = datasetCommands(dataDir);
  const bytes = all[0]!.bytes + all[1]!.bytes;
  const versions = `${all[0]!.version}\n${all[1]!.version}\n`;
  const size = bytes.toLocaleString("en-US");
  assert.equal(
    await text("datasets", "prune", "--dry-run"),
    `${versions}Would delete 2 datasets and free ${size} bytes.\n`,
  );
  assert.equal(catalogue.list().length, 7);
  assert.equal(
    await text("datasets", "prune"),
    `${versions}Deleted 2 datasets, which freed ${size} bytes.\n`,
  );
  assert.equal(catalogue.list().length, 5);
  assert.deepEqual(await json("datasets", "prune", "--keep", "4"), {
    removed: [all[2]!.version],
    bytes: all[2]!.bytes,
    dry_run: false,
  });
  assert.match(await text("datasets", "prune"), /nothing was deleted/);
  for (const keep of ["0", "-1", "all", ""])
    await refusal(exitCodes.usage, "datasets", "prune", "--keep", keep);
});
