import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { exitCodes } from "#cli/command-fault.ts";
import { openCatalogue } from "#datasets/catalogue.ts";
import { openPublications } from "#datasets/publications.ts";
import { allCommands } from "../support/all-commands.ts";
import { cast } from "../support/cast.ts";
import { noon } from "../support/control.ts";
import { importRecords, keepingSteps, rollBack } from "../support/dataset.ts";
import { startService } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { backedUp, backup, type Contents, currentOf, restore, tamper } from "./backed-up.ts";

/** A sound backup, and what `restore` says of it once it was tampered with: refused in one line, the folder unchanged. */
async function refusals(t: TestContext) {
  const { dataDir, file } = await backedUp(t);
  const tampered = join(temporaryFolder(t), "tampered.tar");
  return {
    version: currentOf(dataDir)!,
    async refused(
      words: RegExp,
      change: (files: Contents) => void,
      manifest?: (sound: any) => string | void,
    ) {
      await tamper(file, tampered, change, manifest);
      const target = temporaryFolder(t);
      for (const options of [["--dry-run"], []]) {
        const { exitCode, out, err } = await allCommands(target).start(
          "restore",
          tampered,
          ...options,
        );
        assert.equal(exitCode, exitCodes.conflict, `${words}: ${out}${err}`);
        assert.equal(out, "");
        assert.match(err, /^error: [^\n]+tampered\.tar[^\n]+\n$/);
        assert.match(err, words);
        assert.deepEqual(readdirSync(target).toSorted(), ["import.lock", "server.lock"]);
      }
    },
  };
}

const unchanged = () => {};

test("a manifest of another shape is refused with the member that is wrong, and nothing is changed", async (t) => {
  const { refused } = await refusals(t);
  const cases: [words: RegExp, member: object][] = [
    [/"backup_format"/, { backup_format: "1" }],
    [/"backup_format"/, { backup_format: 1.5 }],
    [/"made_at"/, { made_at: 5 }],
    [/"made_at"/, { made_at: "yesterday" }],
    [/"made_at"/, { made_at: "2026-02-31T12:00:00Z" }],
    [/"made_at"/, { made_at: "\u001b]0;owned\u0007" }],
    [/"program"/, { program: 5 }],
    [/"program"/, { program: "1".repeat(101) }],
    [/"dataset"/, { dataset: 5 }],
    [/"dataset"/, { dataset: "../../etc" }],
    [/"schema"/, { schema: null }],
    [/"schema"/, { schema: [] }],
    [/"schema"/, { schema: "control.sqlite" }],
    [/"schema\/control\.sqlite"/, { schema: { "control.sqlite": 5 } }],
    [/"schema\/control\.sqlite\/0"/, { schema: { "control.sqlite": [{}] } }],
    [/"files"/, { files: {} }],
    [/"files\/0"/, { files: [null] }],
    [/"files\/0\/bytes"/, { files: [{ path: "control.sqlite", bytes: -1, sha256: "" }] }],
    [/"files\/0\/sha256"/, { files: [{ path: "control.sqlite", bytes: 1, sha256: "no" }] }],
  ];
  for (const [words, member] of cases)
    await refused(words, unchanged, (sound) => JSON.stringify({ ...sound, ...member }));
  for (const name of ["made_at", "program", "dataset", "schema", "files", "backup_format"])
    await refused(new RegExp(`must have required properties ${name}\\.`), unchanged, (sound) =>
      JSON.stringify({ ...sound, [name]: undefined }),
    );
  for (const text of ["", "null", "[]", "5", '"manifest"', "{"])
    await refused(/is not a backup of gp-records/, unchanged, () => text);
});

test("a manifest that names databases or files that no backup has is refused, whatever they are called", async (t) => {
  const { refused, version } = await refusals(t);
  for (const name of ["other.sqlite", "__proto__", "constructor", "toString"])
    await refused(/schema/, unchanged, (sound) => {
      const schema = JSON.stringify(sound.schema).replace("{", `{"${name}":["0001"],`);
      return JSON.stringify(sound).replace(JSON.stringify(sound.schema), schema);
    });
  for (const path of ["../escape", "/etc/passwd", "__proto__", "datasets/other.json", "counts/1"])
    await refused(/holds files that no backup/, (files) => files.set(path, Buffer.from("x")));
  await refused(/names control\.sqlite twice/, unchanged, (sound) => {
    sound.files.push(sound.files[0]);
  });
  const other = "20261102T030000Z-00000000";
  await refused(/holds files that no backup/, (files) =>
    files.set(`datasets/${other}.json`, Buffer.from("{}")),
  );
  await refused(/lacks datasets\/current/, (files) => files.delete("datasets/current"));
  await refused(new RegExp(`lacks datasets/${version}\\.json`), (files) =>
    files.delete(`datasets/${version}.json`),
  );
});

test("a manifest of another format, or a newer schema, is refused with the version that made it, whatever else it says", async (t) => {
  const { refused } = await refusals(t);
  for (const backup_format of [1, 2, 3, 5])
    await refused(
      new RegExp(
        `has format ${backup_format}; this program reads only format 4.* made by gp-records 1\\.2\\.3: restore`,
      ),
      unchanged,
      (sound) => JSON.stringify({ ...sound, backup_format, schema: null, files: "elsewhere" }),
    );
  await refused(/'9999-later'.* made by gp-records 1\.2\.3: restore/, unchanged, (sound) => {
    sound.schema["control.sqlite"].push("9999-later");
  });
});

test("a control store that is no database is refused before it is put in place", async (t) => {
  const { refused } = await refusals(t);
  for (const bytes of [Buffer.from("no"), Buffer.alloc(8192)])
    await refused(/control\.sqlite/, (files) => files.set("control.sqlite", bytes));
});

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

test("a step that is gone is left out, and the backup is made all the same", async (t) => {
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
  rmSync(pathOf(3).replace(/ndjson$/, "index"));
  assert.deepEqual(await stepsOf(3), [false, false, true, true]);
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

test("a backup whose list names steps that it lacks, or that are elsewhere, is refused, and nothing is changed", async (t) => {
  const { file, target } = await published(t);
  const tampered = `${file}.tampered`;
  const refused = async (
    expected: RegExp,
    change: (files: Contents) => void,
    manifest: (sound: any) => void = () => {},
  ) => {
    await tamper(file, tampered, change, manifest);
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
  for (const text of ["{}", "[{"])
    await refused(/publications\.json is damaged/, (files) =>
      files.set(listPath, Buffer.from(text)),
    );
  await refused(
    /lacks the step \.\.\/\.\.\/\.\.\/escaped\.\./,
    ofList((list) => (list[1].from = "../../../escaped")),
  );
  await refused(/lacks the step /, (files) => {
    files.delete([...files.keys()].find((name) => name.endsWith(".ndjson"))!);
  });
  await refused(/"publications"/, unchanged, (manifest) => void (manifest.publications = -1));
  await refused(/required properties publications/, unchanged, (manifest) => {
    delete manifest.publications;
  });
  await refused(
    /holds files that no backup/,
    unchanged,
    (manifest) => void (manifest.publications = 0),
  );
  await refused(/holds files that no backup/, (files) =>
    files.set("datasets/changes/changes-../escaped.ndjson", Buffer.from("{}\n")),
  );
  await refused(
    /lacks datasets\/changes\/publications\.json/,
    (files) => void files.delete(listPath),
  );
});
