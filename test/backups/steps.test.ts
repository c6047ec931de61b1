import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { openCatalogue } from "#datasets/catalogue.ts";
import { rollBack } from "#datasets/choose.ts";
import { keepingSteps } from "#datasets/keep-steps.ts";
import { openPublications } from "#datasets/publications.ts";
import { cast } from "../support/cast.ts";
import { noon } from "../support/control.ts";
import { importRecords } from "../support/dataset.ts";
import { startService } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { backedUp, backup, restore, tamper } from "./backed-up.ts";

const birch = { record: "gp", id: "birch", name: "Birch Partners" };
const cedar = { record: "gp", id: "cedar", name: "Cedar" };
const packedPath = "datasets/changes.ndjson";

/** The folder of `backedUp` after two publications and a roll-back, with a backup of it. */
async function published(t: TestContext) {
  const { dataDir, file } = await backedUp(t);
  const folder = join(dataDir, "datasets");
  const catalogue = keepingSteps(openCatalogue(folder), (sentence) => assert.fail(sentence));
  await importRecords(catalogue, [...cast, birch], { nowMilliseconds: noon + 1000 });
  await importRecords(catalogue, [...cast, cedar], { nowMilliseconds: noon + 2000 });
  rollBack(catalogue, noon + 3000);
  const withSteps = `${file}.steps`;
  const { manifest } = await backup(dataDir, withSteps);
  const target = join(temporaryFolder(t), "new");
  return { dataDir, folder, catalogue, file: withSteps, old: file, manifest, target };
}

const changesBelow = (dataDir: string) => {
  const folder = join(dataDir, "datasets", "changes");
  return Object.fromEntries(
    readdirSync(folder)
      .toSorted()
      .map((name) => [
        name,
        createHash("sha256")
          .update(readFileSync(join(folder, name)))
          .digest("hex"),
      ]),
  );
};

test("a backup brings the steps back byte for byte, and the next publication goes on from them", async (t) => {
  const { dataDir, file, manifest, target } = await published(t);
  assert.deepEqual([manifest.backup_format, manifest.publications], [3, 4]);
  await restore(target, file);
  assert.deepEqual(changesBelow(target), changesBelow(dataDir));
  assert.equal(Object.keys(changesBelow(target)).length, 3 * 2 + 1);
  assert.ok(!existsSync(join(target, packedPath)));

  const before = openCatalogue(join(target, "datasets"));
  const current = before.currentVersion()!;
  const catalogue = keepingSteps(before, (sentence) => assert.fail(sentence));
  await importRecords(catalogue, [...cast, birch, cedar], { nowMilliseconds: noon + 9000 });
  const service = await startService(t, { dataDir: target, records: null });
  const { data } = (await service.get("/changes")).body;
  assert.deepEqual([data.length, data[0].from, data[1].version], [5, current, current]);
  for (const { step } of data.slice(0, -1)) assert.equal((await service.get(step)).status, 200);
});

test("a backup from before a publication has the steps that lead to its own dataset alone", async (t) => {
  const { folder, catalogue, file, target, dataDir } = await published(t);
  await importRecords(catalogue, [...cast, birch, cedar], { nowMilliseconds: noon + 9000 });
  assert.equal(openPublications(folder).list(catalogue.currentVersion()).length, 5);
  await restore(dataDir, file, { mayReplace: true });
  await restore(target, file);
  assert.deepEqual(changesBelow(dataDir), changesBelow(target));
  const current = openCatalogue(join(target, "datasets")).currentVersion()!;
  const noted = openPublications(join(target, "datasets")).list(current);
  assert.deepEqual([noted.length, noted.at(-1)!.version], [4, current]);
});

test("a backup from before steps were in it is restored as it was, and one of keys alone has none", async (t) => {
  const { old, target, dataDir } = await published(t);
  const { manifest } = await restore(target, old);
  assert.deepEqual([manifest.backup_format, manifest.publications], [1, undefined]);
  assert.ok(!existsSync(join(target, "datasets", "changes")));
  const control = await backup(dataDir, `${old}.control`, true);
  assert.equal(control.manifest.publications, undefined);
});

test("a step that is gone, cut off or longer than it was is left out, and the backup is made all the same", async (t) => {
  const { folder, dataDir, file } = await published(t);
  const stepsOf = async (number: number) => {
    const another = `${file}.${number}`;
    await backup(dataDir, another);
    const target = join(temporaryFolder(t), "new");
    await restore(target, another);
    const datasets = join(target, "datasets");
    const current = openCatalogue(datasets).currentVersion();
    const publications = openPublications(datasets);
    const noted = publications.list(current);
    for (const { from, version, step } of noted)
      assert.equal(
        publications.openStep(from ?? "none", version)?.changes,
        step === null ? undefined : step.changes,
      );
    return noted.map(({ step }) => step !== null);
  };
  assert.deepEqual(await stepsOf(1), [false, true, true, true]);
  const noted = openPublications(folder).list(openCatalogue(folder).currentVersion());
  const pathOf = (i: number) =>
    openPublications(folder).stepPath(noted[i]!.from!, noted[i]!.version);
  rmSync(pathOf(1));
  assert.deepEqual(await stepsOf(2), [false, false, true, true]);
  const whole = readFileSync(pathOf(2));
  rmSync(pathOf(2));
  appendFileSync(pathOf(2), whole.subarray(0, -5));
  assert.deepEqual(await stepsOf(3), [false, false, false, true]);
  rmSync(pathOf(3).replace(/ndjson$/, "index"));
  assert.deepEqual(await stepsOf(4), [false, false, false, false]);
});

test("a list of publications that is damaged is no reason to have no backup, and each publication says what mends it", async (t) => {
  const { folder, dataDir, file } = await published(t);
  const list = join(folder, "changes", "publications.json");
  for (const damage of ["", "[{", "null", "5"]) {
    writeFileSync(list, damage);
    const { manifest } = await backup(dataDir, `${file}.${damage.length}`);
    assert.deepEqual([manifest.backup_format, manifest.publications], [1, undefined]);
    rmSync(`${file}.${damage.length}`);
  }
  const warnings: string[] = [];
  const catalogue = keepingSteps(openCatalogue(folder), (sentence) => warnings.push(sentence));
  const later = [...cast, birch, cedar];
  await importRecords(catalogue, later, { nowMilliseconds: noon + 9000 });
  assert.equal(warnings.length, 1);
  assert.match(warnings[0]!, /publications\.json is damaged\. .*remove it/);
  rmSync(list);
  await importRecords(catalogue, cast, { nowMilliseconds: noon + 10_000 });
  assert.equal(warnings.length, 1);
  const last = openPublications(folder).list(catalogue.currentVersion()).at(-1)!;
  assert.notEqual(last.step, null);
});

test("steps in a backup that are not what gp-records writes are refused, and nothing is changed", async (t) => {
  const { file, target } = await published(t);
  const tampered = `${file}.tampered`;
  const refused = async (expected: RegExp, change: (lines: string[]) => string[]) => {
    await tamper(file, tampered, (files) => {
      const lines = files.get(packedPath)!.toString().trimEnd().split("\n");
      files.set(packedPath, Buffer.from(`${change(lines).join("\n")}\n`));
    });
    await assert.rejects(restore(target, tampered), expected);
    assert.deepEqual(
      readdirSync(target).filter((name) => !name.endsWith(".lock")),
      [],
    );
  };
  const edited = (text: string, change: (value: any) => void) => {
    const value = JSON.parse(text);
    change(value);
    return JSON.stringify(value);
  };
  const ofHead =
    (change: (head: any) => void) =>
    ([head, ...rest]: string[]) => [edited(head!, change), ...rest];
  const ofList = (change: (list: any) => void) => (lines: string[]) => [
    ...lines.slice(0, -1),
    edited(lines.at(-1)!, change),
  ];
  const noList = /does not end with the list of the publications/;
  await refused(noList, (lines) => lines.slice(0, -1).concat("[]"));
  await refused(
    noList,
    ofList((list) => void list.pop()),
  );
  await refused(
    noList,
    ofList((list) => void (list.at(-1).version = list[0].version)),
  );
  await refused(
    noList,
    ofList((list) => void (list[1].from = "../../../escaped")),
  );
  await refused(
    noList,
    ofList((list) => void (list[1].published_at = "2026-13-45T00:00:00Z")),
  );
  await refused(
    noList,
    ofList((list) => void (list[1].step.changes = -1)),
  );
  await refused(
    /lacks the step /,
    ofList((list) => void list[1].step.changes++),
  );
  await refused(
    /that its list does not name/,
    ofList((list) => void (list[1].step = null)),
  );
  await refused(/does not begin as one/, (lines) => ["{}", ...lines]);
  await refused(
    /does not begin as one/,
    ofHead((head) => void (head.to = "../../../escaped")),
  );
  await refused(
    /does not begin as one/,
    ofHead((head) => void (head.changes = -1)),
  );
  await refused(
    /is cut off/,
    ofHead((head) => void (head.changes = 9e15)),
  );
  await refused(
    /does not begin as one|is cut off/,
    ofHead((head) => void head.changes++),
  );
  await refused(
    /does not begin as one/,
    ofHead((head) => void (head.more = "x".repeat(5000))),
  );

  const said = async (expected: RegExp, change: (manifest: any) => void) => {
    await tamper(file, tampered, () => {}, change);
    await assert.rejects(restore(target, tampered), expected);
  };
  await said(noList, (manifest) => void (manifest.publications = 5));
  await said(/"publications"/, (manifest) => void (manifest.publications = 0));
  await said(/holds files that no backup/, (manifest) => void delete manifest.publications);
  await tamper(file, tampered, (files) => void files.delete(packedPath));
  await assert.rejects(restore(target, tampered), /lacks datasets\/changes\.ndjson/);
});
