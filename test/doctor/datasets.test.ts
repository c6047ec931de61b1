import assert from "node:assert/strict";
import { renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { exitCodes } from "#cli/command-fault.ts";
import { openCatalogue } from "#datasets/catalogue.ts";
import { datasets } from "#doctor/datasets.ts";
import { demoSource } from "#records/common.ts";
import { allCommands } from "../support/all-commands.ts";
import { cast } from "../support/cast.ts";
import { noon } from "../support/control.ts";
import { flipByte } from "../support/damage.ts";
import { importRecords, rollBack } from "../support/dataset.ts";
import { finding, look } from "../support/doctor.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** A data folder with an older dataset and the current one. */
async function twoDatasets(t: TestContext) {
  const dataDir = temporaryFolder(t);
  const catalogue = openCatalogue(join(dataDir, "datasets"));
  const older = (await importRecords(catalogue, cast.slice(0, 3))).published!.version;
  const newer = (await importRecords(catalogue, cast.slice(0, 4))).published!.version;
  return { dataDir, older, newer, pathOf: catalogue.pathOf, folder: catalogue.folder };
}

/** Does what a finding says, which must be a command of ours. */
async function follow(dataDir: string, mend: string): Promise<void> {
  const [program, ...args] = mend.split(" ");
  assert.equal(program, "gp-records");
  const { exitCode, err } = await allCommands(dataDir).start(...args);
  assert.equal(exitCode, exitCodes.done, err);
}

test("sound datasets are all well, and an empty folder has none yet", async (t) => {
  const { dataDir } = await twoDatasets(t);
  assert.match(
    (await finding("ok", datasets, dataDir)).found,
    / is current; 2 of 2 datasets match their published SHA-256$/,
  );
  assert.match((await finding("ok", datasets, temporaryFolder(t))).found, /no dataset exists yet/);
});

for (const [what, damage] of [
  ["with a flipped bit", (path) => flipByte(path, 20_000)],
  ["without its file", (path) => rmSync(path)],
  ["without its facts", (path) => rmSync(factsOf(path))],
  ["with damaged facts", (path) => writeFileSync(factsOf(path), "{}")],
] as [string, (path: string) => void][])
  test(`a rollback leads away from a current dataset ${what}, as is advised`, async (t) => {
    const { dataDir, older, newer, pathOf, folder } = await twoDatasets(t);
    damage(pathOf(newer));
    const { found, mend } = await finding("fail", datasets, dataDir);
    assert.ok(found.includes(join(folder, newer)), found);
    assert.match(found, /; this is the current dataset$/s);
    assert.match(mend, / return to the dataset before it with 'gp-records datasets rollback'\.$/);
    await follow(dataDir, "gp-records datasets rollback");
    assert.equal(openCatalogue(folder).currentVersion(), older);
  });

const factsOf = (path: string) => path.replace(/sqlite$/, "json");

test("where no dataset is sound, each is to be put back from a backup", async (t) => {
  const { dataDir, older, newer, pathOf } = await twoDatasets(t);
  for (const version of [older, newer]) flipByte(pathOf(version), 20_000);
  for (const { mend } of await look(datasets, dataDir)) assert.match(mend!, / back from a backup/i);
});

test("a pointer that is missing, damaged or leads nowhere is named, and the command that is named mends it", async (t) => {
  const { dataDir, newer, folder } = await twoDatasets(t);
  const pointer = join(folder, "current");
  const states: [() => void, RegExp][] = [
    [() => rmSync(pointer), /is missing/],
    [() => writeFileSync(pointer, "garbage\n"), /does not name a dataset/],
    [() => writeFileSync(pointer, ""), /does not name a dataset/],
    [
      () => writeFileSync(pointer, "20200101T000000Z-00000000\n"),
      /names 2020\S+, which does not exist/,
    ],
  ];
  for (const [damage, words] of states) {
    damage();
    const { found, mend } = await finding("fail", datasets, dataDir);
    assert.ok(found.startsWith(pointer), found);
    assert.match(found, words);
    assert.equal(mend, `gp-records datasets publish ${newer}`);
    await follow(dataDir, mend);
    assert.ok((await finding("ok", datasets, dataDir)).found.startsWith(newer));
  }
});

test("after a roll-back what is named to be served is not the dataset that was gone back from", async (t) => {
  const { dataDir, older, folder } = await twoDatasets(t);
  const catalogue = openCatalogue(folder);
  await rollBack(catalogue, noon);
  const pointer = join(folder, "current");
  rmSync(pointer);
  assert.equal(
    (await finding("fail", datasets, dataDir)).mend,
    `gp-records datasets publish ${older}`,
  );
  writeFileSync(pointer, "");
  assert.throws(() => catalogue.currentVersion(), new RegExp(`publish ${older}'`));
});

test("what merely cannot be read now is neither to be replaced nor to be removed", async (t) => {
  const { dataDir, newer, pathOf, folder } = await twoDatasets(t);
  for (const path of [pathOf(newer), join(folder, "current")]) {
    // The memory of a process can be opened and its first byte not be read, whoever asks: root may read any file.
    renameSync(path, `${path}.aside`);
    symlinkSync("/proc/self/mem", path);
    const { found, mend } = (await look(datasets, dataDir))[0]!;
    assert.ok(found.startsWith(`${path} could not be read: E`), found);
    assert.match(mend!, /^Run gp-records as the user who owns DATA_DIR/);
    assert.doesNotMatch(mend!, /restore|publish|delete|\brm\b/);
  }
});

test("records of real people that everyone would see without a contact are a fault, invented ones are not", async (t) => {
  const { dataDir } = await twoDatasets(t);
  const settings = { BROWSE: "everyone" };
  const [, fault, ...others] = await look(datasets, dataDir, { settings });
  assert.deepEqual([fault!.status, others], ["fail", []]);
  for (const name of ["BROWSE", "CONTACT"])
    assert.ok(fault!.found.includes(name) && fault!.mend!.includes(name), name);
  await finding("ok", datasets, dataDir);
  await finding("ok", datasets, dataDir, { settings: { ...settings, CONTACT: "a@b.example" } });
  const invented = temporaryFolder(t);
  const catalogue = openCatalogue(join(invented, "datasets"));
  await importRecords(catalogue, cast, { source: demoSource });
  await finding("ok", datasets, invented, { settings });
});
