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
import { openPublications } from "#datasets/publications.ts";
import { cast } from "../support/cast.ts";
import { noon } from "../support/control.ts";
import { importRecords, keepingSteps, rollBack } from "../support/dataset.ts";
import { startService } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { backedUp, backup, type Contents, restore, tamper } from "./backed-up.ts";

const birch = { record: "gp", id: "birch", name: "Birch Partners" };
const cedar = { record: "gp", id: "cedar", name: "Cedar" };
const listPath = "datasets/changes/publications.json";

/** The folder of `backedUp` after two publications and a roll-back, with a backup of it. */
async function published(t: TestContext) {
  const { dataDir, file } = await backedUp(t);
  const folder = join(dataDir, "datasets");
  const catalogue = keepingSteps(openCatalogue(folder), (sentence) => assert.fail(sentence));
  await importRecords(catalogue, [...cast, birch], { nowMilliseconds: noon + 1000 });
  await importRecords(catalogue, [...cast, cedar], { nowMilliseconds: noon + 2000 });
  await rollBack(catalogue, noon + 3000);
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
  assert.deepEqual([manifest.backup_format, manifest.publications], [4, 4]);
  await restore(target, file);
  assert.deepEqual(changesBelow(target), changesBelow(dataDir));
  assert.equal(Object.keys(changesBelow(target)).length, 3 * 2 + 1);

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

test("a backup without steps is restored as it was, and one of keys alone has none", async (t) => {
  const { old, target, dataDir } = await published(t);
  const { manifest } = await restore(target, old);
  assert.equal(manifest.publications, 0);
  assert.ok(!existsSync(join(target, "datasets", "changes")));
  const control = await backup(dataDir, `${old}.control`, true);
  assert.equal(control.manifest.publications, 0);
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
    assert.equal(manifest.publications, 0);
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
  const refused = async (expected: RegExp, change: (files: Contents) => void) => {
    await tamper(file, tampered, change);
    await assert.rejects(restore(target, tampered), expected);
    assert.deepEqual(
      readdirSync(target).filter((name) => !name.endsWith(".lock")),
      [],
    );
  };
  const ofList = (change: (list: any) => unknown) => (files: Contents) => {
    const list = JSON.parse(files.get(listPath)!.toString());
    change(list);
    files.set(listPath, Buffer.from(JSON.stringify(list)));
  };
  /** Changes the text of the first step. */
  const ofStep = (change: (text: string) => string) => (files: Contents) => {
    const path = [...files.keys()].find((name) => name.endsWith(".ndjson"))!;
    files.set(path, Buffer.from(change(files.get(path)!.toString())));
  };
  const ofHead = (change: (head: any) => void) =>
    ofStep((text) => {
      const [head, ...rest] = text.split("\n");
      const value = JSON.parse(head!);
      change(value);
      return [JSON.stringify(value), ...rest].join("\n");
    });
  const noList = /does not have the list of the publications/;
  for (const text of ["[]", "[{"])
    await refused(noList, (files) => files.set(listPath, Buffer.from(text)));
  for (const change of [
    (list: any) => list.pop(),
    (list: any) => (list.at(-1).version = list[0].version),
    (list: any) => (list[1].from = "../../../escaped"),
    (list: any) => (list[1].published_at = "2026-13-45T00:00:00Z"),
    (list: any) => (list[1].step.changes = -1),
  ])
    await refused(noList, ofList(change));
  const other = /does not begin like one/;
  await refused(
    other,
    ofList((list) => list[1].step.changes++),
  );
  await refused(
    /that its list does not name/,
    ofList((list) => (list[1].step = null)),
  );
  for (const change of [
    (head: any) => (head.to = "../../../escaped"),
    (head: any) => (head.changes = -1),
    (head: any) => head.changes++,
    (head: any) => Object.assign(head, { changes: undefined, more: "x".repeat(5000) }),
  ])
    await refused(other, ofHead(change));
  for (const [words, change] of [
    [other, (text: string) => `{}\n${text}`],
    [/is not whole/, (text: string) => text.slice(0, -1)],
    [/is not whole/, (text: string) => text.slice(0, text.slice(0, -1).lastIndexOf("\n") + 1)],
    [/is not whole/, (text: string) => `${text}{"more":1}`],
  ] as const)
    await refused(words, ofStep(change));
  await refused(/lacks the step /, (files) => {
    files.delete([...files.keys()].find((name) => name.endsWith(".ndjson"))!);
  });

  const said = async (expected: RegExp, change: (manifest: any) => void) => {
    await tamper(file, tampered, () => {}, change);
    await assert.rejects(restore(target, tampered), expected);
  };
  await said(noList, (manifest) => void (manifest.publications = 5));
  await said(/"publications"/, (manifest) => void (manifest.publications = -1));
  await said(/"publications"/, (manifest) => void delete manifest.publications);
  await said(/holds files that no backup/, (manifest) => void (manifest.publications = 0));
  await refused(/holds files that no backup/, (files) =>
    files.set("datasets/changes/changes-../escaped.ndjson", Buffer.from("{}\n")),
  );
  await tamper(file, tampered, (files) => void files.delete(listPath));
  await assert.rejects(restore(target, tampered), /lacks datasets\/changes\/publications\.json/);
});
