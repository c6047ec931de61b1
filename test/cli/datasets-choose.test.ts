import assert from "node:assert/strict";
import { truncateSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { exitCodes } from "#cli/command-fault.ts";
import { openCatalogue } from "#datasets/catalogue.ts";
import { allCommands } from "../support/all-commands.ts";
import { importRecords } from "../support/dataset.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const gp = (id: string) => ({ record: "gp", id, name: `GP ${id}` });

test("an outdated staged dataset ends with 4 and is published only with --discard-newer", async (t) => {
  const dataDir = temporaryFolder(t);
  const catalogue = openCatalogue(join(dataDir, "datasets"));
  const { text, refusal } = allCommands(dataDir);
  await importRecords(catalogue, [gp("a")]);
  const { staged } = await importRecords(catalogue, [gp("b")], { isStaged: true });
  const { published } = await importRecords(catalogue, [gp("c")]);
  const args = ["datasets", "publish", staged!.version];
  const err = await refusal(exitCodes.conflict, ...args);
  assert.match(err, /^error: .* was built from .* or say --discard-newer\.\n$/);
  assert.equal(
    await text(...args, "--discard-newer"),
    `${staged!.version} is the current dataset.\n`,
  );
  assert.equal(
    await text("datasets", "rollback"),
    `${published!.version} is the current dataset.\n`,
  );
});

test("a damaged dataset is neither published nor gone back to, and is named", async (t) => {
  const dataDir = temporaryFolder(t);
  const catalogue = openCatalogue(join(dataDir, "datasets"));
  const { published: older } = await importRecords(catalogue, [gp("a")]);
  const { published: newer } = await importRecords(catalogue, [gp("b")]);
  truncateSync(catalogue.pathOf(older!.version), 40_000);
  const { refusal } = allCommands(dataDir);
  for (const args of [["publish", older!.version], ["rollback"]]) {
    const err = await refusal(exitCodes.conflict, "datasets", ...args);
    assert.ok(err.startsWith("error: ") && err.includes(`${older!.version}.sqlite`), err);
  }
  assert.equal(catalogue.currentVersion(), newer!.version);
});
