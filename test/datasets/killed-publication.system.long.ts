import assert from "node:assert/strict";
import { cpSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type Catalogue, openCatalogue } from "#datasets/catalogue.ts";
import { hashFile } from "#datasets/dataset-hash.ts";
import { isStaged } from "#datasets/generation.ts";
import { openPublications } from "#datasets/publications.ts";
import { allCommands } from "../support/all-commands.ts";
import { mainPath, outcomeOf } from "../support/command-line.ts";
import { importRecords, prune, publishVersion, rollBack } from "../support/dataset.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { day, gp } from "./published.ts";

const preload = import.meta.resolve("../support/kill-at-change.ts");
/** More changes of files than any of these commands makes. */
const changesMax = 30;

interface Killed {
  dataDir: string;
  catalogue: Catalogue;
  /** What was current before. */
  older: string;
  /** What the command was about, where it has its name. */
  newer: string | undefined;
  isNewerCurrent: boolean;
}

/**
 * Runs a command again and again, each time in a folder of its own with a published dataset, killed before its first
 * change of the folder of datasets, before its second, …, until it comes to its end.
 * @returns how often it was killed.
 */
async function killAtEachChange(
  t: TestContext,
  prepare: (dataDir: string) => Promise<readonly string[]>,
  look: (killed: Killed) => Promise<void>,
): Promise<number> {
  for (let i = 0; i < changesMax; i++) {
    const dataDir = temporaryFolder(t);
    const catalogue = openCatalogue(join(dataDir, "datasets"));
    const { published } = await importRecords(catalogue, [gp("a")], { nowMilliseconds: day(1) });
    const older = published!.version;
    const args = await prepare(dataDir);
    const environment = { ...process.env, DATA_DIR: dataDir, KILL_AT: String(i) };
    const command = ["--import", preload, mainPath, ...args];
    const { exitCode, err } = await outcomeOf(process.execPath, command, environment);
    if (exitCode === 0) return i;
    assert.deepEqual([exitCode, err], [null, ""]);
    const current = catalogue.current()!;
    assert.equal(hashFile(catalogue.pathOf(current.version)).sha256, current.sha256);
    // Of what was noted for it nothing is told unless it came about.
    const told = openPublications(catalogue.folder).list(current.version);
    if (current.version !== older) assert.equal(told.at(-1)?.from, older);
    assert.ok([undefined, current.version].includes(told.at(-1)?.version), "never published");
    const newer = catalogue.list().findLast(({ version }) => version !== older)?.version;
    await look({ dataDir, catalogue, older, newer, isNewerCurrent: current.version !== older });
  }
  throw new Error("the command never came to its end");
}

/** An import of two GPs, as the last arguments say. */
const importing =
  (...options: string[]) =>
  async (dataDir: string) => {
    const file = join(dataDir, "records.ndjson");
    writeFileSync(file, `${JSON.stringify(gp("a"))}\n${JSON.stringify(gp("b"))}\n`);
    return ["import", "ndjson", file, "--source", "own", ...options];
  };

/** Files of the folder that belong to no dataset. */
function strayFiles(catalogue: Catalogue): string[] {
  const known = catalogue.list().flatMap(({ version }) => [`${version}.sqlite`, `${version}.json`]);
  return readdirSync(catalogue.folder).filter(
    (name) => ![...known, "current", "changes"].includes(name),
  );
}

test("an import killed at any of its changes leaves no dataset that looks staged, and the next import or prune clears the rest", async (t) => {
  const ends = new Set<boolean>();
  const times = await killAtEachChange(t, importing(), async (killed) => {
    const { dataDir, catalogue, older, newer, isNewerCurrent } = killed;
    ends.add(isNewerCurrent);
    assert.deepEqual(catalogue.list().filter(isStaged), []);
    assert.equal(newer !== undefined, isNewerCurrent, "listed although it never was current");
    const copy = openCatalogue(join(temporaryFolder(t), "copy"));
    cpSync(catalogue.folder, copy.folder, { recursive: true });
    await prune(copy, { keep: 9, isDryRun: false, nowMilliseconds: day(3) });
    assert.deepEqual(strayFiles(copy), []);
    assert.equal(copy.list().length, isNewerCurrent ? 2 : 1);
    if (isNewerCurrent) assert.equal((await rollBack(catalogue, day(3))).version, older);
    else await allCommands(dataDir).text(...(await importing()(dataDir)));
    assert.deepEqual(strayFiles(catalogue), []);
    assert.equal(catalogue.list().length, 2);
  });
  assert.ok(times >= 4, `${times} changes`);
  assert.deepEqual(ends, new Set([false, true]));
});

test("a dataset is staged from the moment it is listed, and an import killed before that leaves none", async (t) => {
  await killAtEachChange(t, importing("--stage"), async (killed) => {
    const { catalogue, newer, isNewerCurrent } = killed;
    assert.equal(isNewerCurrent, false);
    assert.ok(newer === undefined || isStaged(catalogue.find(newer)));
    await prune(catalogue, { keep: 9, isDryRun: false, nowMilliseconds: day(3) });
    assert.deepEqual(strayFiles(catalogue), []);
    assert.equal(catalogue.list().length, newer === undefined ? 1 : 2);
  });
});

test("a staged dataset whose publication is killed is current, or staged as before", async (t) => {
  const ends = new Set<boolean>();
  const publishStaged = async (dataDir: string) => {
    const catalogue = openCatalogue(join(dataDir, "datasets"));
    const order = { isStaged: true, nowMilliseconds: day(2) };
    const { staged } = await importRecords(catalogue, [gp("b")], order);
    return ["datasets", "publish", staged!.version];
  };
  await killAtEachChange(t, publishStaged, async (killed) => {
    const { catalogue, older, newer, isNewerCurrent } = killed;
    ends.add(isNewerCurrent);
    assert.equal(isStaged(catalogue.find(newer!)), !isNewerCurrent);
    const choice = { version: newer!, nowMilliseconds: day(3) };
    assert.equal((await publishVersion(catalogue, choice)).published_after, older);
    assert.deepEqual(strayFiles(catalogue), []);
  });
  assert.deepEqual(ends, new Set([false, true]));
});
