import assert from "node:assert/strict";
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
import { exitCodes } from "#cli/command-fault.ts";
import { manifestBytesMax } from "#backups/manifest.ts";
import { openCatalogue } from "#datasets/catalogue.ts";
import { openPublications } from "#datasets/publications.ts";
import { openUsage } from "#store/stores.ts";
import { allCommands } from "../support/all-commands.ts";
import { cast } from "../support/cast.ts";
import { noon } from "../support/control.ts";
import { changeDatabase } from "../support/damage.ts";
import { importRecords, keepingSteps, rollBack } from "../support/dataset.ts";
import { startService } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { backedUp, backup, type Contents, currentOf, restore, tamper } from "./backed-up.ts";

/** A sound backup, made anew unless there is one, and what `restore` says of it once it was tampered with: refused in one line, the folder unchanged. */
async function refusals(t: TestContext, made?: { dataDir: string; file: string }) {
  const { dataDir, file } = made ?? (await backedUp(t));
  const place = temporaryFolder(t);
  const tampered = join(place, "tampered.tar");
  return {
    version: currentOf(dataDir)!,
    /** The same database after `sql`. */
    altered: (name: string, sql: string) => (files: Contents) => {
      const copy = join(place, name);
      writeFileSync(copy, files.get(name)!);
      changeDatabase(copy, sql);
      files.set(name, readFileSync(copy));
    },
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
    [/"schema\.control\.sqlite"/, { schema: { "control.sqlite": 5 } }],
    [/"schema\.control\.sqlite\.0"/, { schema: { "control.sqlite": [{}] } }],
    [/"files"/, { files: {} }],
    [/"files\.0"/, { files: [null] }],
    [/"files\.0\.bytes"/, { files: [{ path: "control.sqlite", bytes: -1, sha256: "" }] }],
    [/"files\.0\.sha256"/, { files: [{ path: "control.sqlite", bytes: 1, sha256: "no" }] }],
  ];
  for (const [words, member] of cases)
    await refused(words, unchanged, (sound) => JSON.stringify({ ...sound, ...member }));
  for (const name of ["made_at", "program", "dataset", "schema", "files", "backup_format"])
    await refused(new RegExp(`"${name}"`), unchanged, (sound) =>
      JSON.stringify({ ...sound, [name]: undefined }),
    );
  for (const text of ["", "null", "[]", "5", '"manifest"', "{"])
    await refused(/was not made by `gp-records backup`/, unchanged, () => text);
});

test("a manifest that names databases or files that no backup has is refused, whatever they are called", async (t) => {
  const { refused, version } = await refusals(t);
  for (const name of ["other.sqlite", "__proto__", "constructor", "toString"])
    await refused(/schema/, unchanged, (sound) => {
      const schema = JSON.stringify(sound.schema).replace("{", `{"${name}":["0001"],`);
      return JSON.stringify(sound).replace(JSON.stringify(sound.schema), schema);
    });
  for (const path of ["../escape", "/etc/passwd", "__proto__", "datasets/other.json", "counts/1"])
    await refused(/a file that does not belong/, (files) => files.set(path, Buffer.from("x")));
  await refused(/names a file twice/, unchanged, (sound) => {
    sound.files.push(sound.files[0]);
  });
  const other = "20261102T030000Z-00000000";
  await refused(/a file that does not belong/, (files) =>
    files.set(`datasets/${other}.json`, Buffer.from("{}")),
  );
  await refused(/does not name the file 'datasets\/current'/, (files) =>
    files.delete("datasets/current"),
  );
  await refused(new RegExp(`does not name the file 'datasets/${version}\\.json'`), (files) =>
    files.delete(`datasets/${version}.json`),
  );
});

test("a manifest of another format, or a newer schema, is refused with the version that made it, whatever else it says", async (t) => {
  const { refused } = await refusals(t);
  for (const backup_format of [1, 4, 6])
    await refused(
      new RegExp(
        `has backup format ${backup_format}; this program reads only format 5.* made by gp-records 1\\.2\\.3: restore`,
      ),
      unchanged,
      (sound) => JSON.stringify({ ...sound, backup_format, schema: null, files: "elsewhere" }),
    );
  await refused(/'9999-later'.* made by gp-records 1\.2\.3: restore/, unchanged, (sound) => {
    sound.schema["control.sqlite"].push("9999-later");
  });
});

test("a manifest has to name the databases and the dataset that are there", async (t) => {
  const { refused } = await refusals(t);
  await refused(/control\.sqlite/, unchanged, (sound) => {
    delete sound.schema["control.sqlite"];
  });
  await refused(/usage\.sqlite/, unchanged, (sound) => {
    sound.schema["usage.sqlite"] = [];
  });
  await refused(/a file that does not belong/, unchanged, (sound) => {
    sound.dataset = null;
  });
  await refused(
    /a file that does not belong/,
    (files) => {
      for (const path of files.keys()) if (path.startsWith("datasets/")) files.delete(path);
      files.set("datasets/current", Buffer.from("garbage"));
    },
    (sound) => {
      sound.dataset = null;
    },
  );
});

test("a database that no gp-records made is refused before it is put in place", async (t) => {
  const { refused, altered } = await refusals(t);
  const control = (words: RegExp, sql: string) =>
    refused(words, altered("control.sqlite", sql), (sound) => {
      if (/schema_step/.test(sql)) sound.schema["control.sqlite"] = [];
    });
  await control(/table "account"/, "alter table account rename column name to label");
  await control(/table "api_key"/, "alter table api_key add column extra text");
  await control(/"audit"/, "drop table audit");
  await control(/"key_change_api_key_update"/, "drop trigger key_change_api_key_update");
  await control(/"api_key_form"/, "drop index api_key_form");
  await control(/"person"/, "drop table member; drop table person; create view person as select 1");
  // The steps would be taken anew, onto tables that are there.
  await control(/control\.sqlite/, "delete from schema_step");
  const otherSchema =
    /cannot be restored: control\.sqlite in it cannot be read by this version: its schema differs from the manifest\. Nothing was changed\. Copy it here again, or restore another backup\.\n$/;
  await control(otherSchema, "drop table schema_step");
  await control(otherSchema, "insert into schema_step values ('9999-later')");
  await refused(/control\.sqlite/, (files) => files.set("control.sqlite", Buffer.from("no")));
  await refused(/control\.sqlite/, (files) => files.set("control.sqlite", Buffer.alloc(8192)));
});

test("a control store with anything that no gp-records made is refused", async (t) => {
  const { refused, altered } = await refusals(t);
  const control = (words: RegExp, sql: string) => refused(words, altered("control.sqlite", sql));
  await control(
    /control\.sqlite.* trigger "keep_keys"/,
    "create trigger keep_keys before update of revoked_at on api_key begin select raise(ignore); end",
  );
  await control(
    /control\.sqlite.* trigger "more_keys"/,
    "create trigger more_keys after insert on account begin delete from plan; end",
  );
  await control(/control\.sqlite.* view "keys"/, "create view keys as select digest from api_key");
  await control(/control\.sqlite.* table "copy"/, "create table copy as select * from api_key");
  await control(/control\.sqlite.* index "by_name"/, "create index by_name on api_key (name)");
  await control(
    /control\.sqlite.* trigger "key_change_api_key_update"/,
    `drop trigger key_change_api_key_update;
     create trigger key_change_api_key_update after update on account begin select 1; end`,
  );
  await control(
    /control\.sqlite.* index "api_key_form"/,
    "drop index api_key_form; create index api_key_form on api_key (account, form)",
  );
});

test("a usage database of other columns is refused", async (t) => {
  const { dataDir, file } = await backedUp(t);
  await (await openUsage(dataDir)).close();
  const withUsage = `${file}.usage`;
  await backup(dataDir, withUsage);
  const { refused, altered } = await refusals(t, { dataDir, file: withUsage });
  const sql = "alter table usage_hour rename column bytes to size";
  await refused(/usage\.sqlite.*"usage_hour"/, altered("usage.sqlite", sql));
});

const birch = { record: "gp", id: "birch", name: "Birch Partners" };
const cedar = { record: "gp", id: "cedar", name: "Cedar" };

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
  const bytesOf = (name: string) => readFileSync(join(folder, name), "latin1");
  return Object.fromEntries(readdirSync(folder).map((name) => [name, bytesOf(name)]));
};

test("a backup brings the steps back byte for byte, and the next publication goes on from them", async (t) => {
  const { dataDir, file, manifest, target } = await published(t);
  assert.deepEqual([manifest.backup_format, manifest.publications.length], [5, 4]);
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

test("a backup of an older program, which did not know a kind, has counts of 0 for it", async (t) => {
  const { file, target } = await published(t);
  const older = `${file}.older`;
  await tamper(file, older, unchanged, ({ publications }) => {
    for (const { step } of publications) if (step !== null) delete step.counts.project;
  });
  await restore(target, older);
  const folder = join(target, "datasets");
  const { step } = openPublications(folder).list(openCatalogue(folder).currentVersion()).at(-1)!;
  assert.deepEqual(step!.counts.project, { added: 0, changed: 0, removed: 0, merged: 0 });
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
  assert.deepEqual(manifest.publications, []);
  assert.ok(!existsSync(join(target, "datasets", "changes")));
  const control = await backup(dataDir, `${old}.control`, true);
  assert.deepEqual(control.manifest.publications, []);
});

test("a long list of publications is restored, and of one too long to be restored no backup is made", async (t) => {
  const { folder, file, target, dataDir } = await published(t);
  const publications = openPublications(folder);
  const noted = publications.list(openCatalogue(folder).currentVersion());
  const long = [...Array.from({ length: 90_000 }, () => ({ ...noted[1]!, step: null })), ...noted];
  publications.write(long);
  await backup(dataDir, `${file}.long`);
  const { manifest } = await restore(target, `${file}.long`);
  assert.equal(manifest.publications.length, long.length);
  publications.write([{ ...noted[1]!, hash: "0".repeat(manifestBytesMax) }, ...noted]);
  await assert.rejects(backup(dataDir, `${file}.longer`), {
    kind: "conflict",
    message:
      /^No backup was made: the list of 5 publications is too long for a backup\. .*CHANGES_DAYS/,
  });
  assert.ok(!existsSync(`${file}.longer`));
});

test("a backup that the disk has no room for is refused before anything is written", async (t) => {
  const { file } = await backedUp(t);
  const large = `${file}.large`;
  await tamper(file, large, unchanged, ({ files }) => {
    files[0].bytes = 2 ** 52;
  });
  await assert.rejects(restore(temporaryFolder(t), large), {
    kind: "full",
    message:
      /^The backup needs 4,5(?:,?\d){14} bytes, but the disk of \S+ has only [\d,]+ bytes free\. Nothing was changed/,
  });
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
    assert.deepEqual(manifest.publications, []);
    rmSync(`${file}.${damage.length}`);
  }
  const warnings: string[] = [];
  const catalogue = keepingSteps(openCatalogue(folder), (sentence) => warnings.push(sentence));
  const later = [...cast, birch, cedar];
  await importRecords(catalogue, later, { nowMilliseconds: noon + 9000 });
  assert.equal(warnings.length, 1);
  assert.match(warnings[0]!, /publications\.json is damaged\. Remove this file/);
  rmSync(list);
  await importRecords(catalogue, cast, { nowMilliseconds: noon + 10_000 });
  assert.equal(warnings.length, 1);
  const last = openPublications(folder).list(catalogue.currentVersion()).at(-1)!;
  assert.notEqual(last.step, null);
});

test("publications in a backup that are not what gp-records writes are refused, and nothing is changed", async (t) => {
  const { refused } = await refusals(t, await published(t));
  const said = (expected: RegExp, change: (manifest: any) => unknown) =>
    refused(expected, unchanged, (manifest) => void change(manifest));
  await said(/"publications"/, (manifest) => (manifest.publications = -1));
  await said(/"publications"/, (manifest) => delete manifest.publications);
  await said(
    /"publications\.1\.from"/,
    ({ publications }) => (publications[1].from = "../../../escaped"),
  );
  await said(/"publications\.1\.step/, ({ publications }) => (publications[1].step.changes = -1));
  const unknown = /a file that does not belong/;
  await said(unknown, ({ publications }) => (publications[1].step = null));
  await said(unknown, (manifest) => (manifest.publications = []));
  await refused(/does not name the file 'datasets\/changes\/changes-/, (files) => {
    files.delete([...files.keys()].find((name) => name.endsWith(".ndjson"))!);
  });
  await refused(unknown, (files) =>
    files.set("datasets/changes/changes-../escaped.ndjson", Buffer.from("{}\n")),
  );
});
