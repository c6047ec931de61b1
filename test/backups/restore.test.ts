import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import fs, {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { createAccount } from "#accounts/accounts.ts";
import { finishRestore } from "#backups/restore-folders.ts";
import { openCatalogue } from "#datasets/catalogue.ts";
import { hashFile } from "#datasets/dataset-hash.ts";
import { restoreLeftovers } from "#doctor/stores.ts";
import { issueKey, rotateKey } from "#keys/keys.ts";
import { takeLock } from "#store/lock.ts";
import { openUsage } from "#store/stores.ts";
import { allCommands } from "../support/all-commands.ts";
import { mainPath, outcomeOf } from "../support/command-line.ts";
import { hour, noon } from "../support/control.ts";
import { changeDatabase, changeDataset, changeFacts, flipByte } from "../support/damage.ts";
import { importRecords, pinVersion, prune } from "../support/dataset.ts";
import { finding } from "../support/doctor.ts";
import { holdDatabase } from "../support/holder-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import {
  backedUp,
  backup,
  currentOf,
  keyStates,
  restore,
  tamper,
  withControl,
} from "./backed-up.ts";

const birch = { record: "gp", id: "birch", name: "Birch Partners" };
const namesBelow = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).toSorted();

const allActive = { first: "active", second: "active", third: "active" };

test("a backup restored into an empty folder has the keys and the dataset, for its owner alone", async (t) => {
  const { file, made, dataDir: old } = await backedUp(t);
  const dataDir = join(temporaryFolder(t), "a", "new");
  const restored = await restore(dataDir, file);
  assert.deepEqual(restored.manifest, made.manifest);
  assert.equal(restored.replaced, null);
  assert.deepEqual(await keyStates(dataDir), allActive);
  const version = currentOf(old)!;
  assert.equal(currentOf(dataDir), version);
  for (const name of [`${version}.sqlite`, `${version}.json`, "current"])
    assert.deepEqual(
      readFileSync(join(dataDir, "datasets", name)),
      readFileSync(join(old, "datasets", name)),
    );
  for (const name of ["", ...namesBelow(dataDir)])
    assert.equal(statSync(join(dataDir, name)).mode & 0o077, 0, name);
});

test("a database in a backup is one file, whose header asks for no write-ahead log beside it", async (t) => {
  const { dataDir, file } = await backedUp(t);
  await (await openUsage(dataDir)).close();
  const another = `${file}.2`;
  const { manifest } = await backup(dataDir, another);
  const stores = Object.keys(manifest.schema);
  assert.deepEqual(stores.toSorted(), ["control.sqlite", "usage.sqlite"]);
  await tamper(another, `${file}.3`, (files) => {
    for (const store of stores) assert.deepEqual([...files.get(store)!.subarray(18, 20)], [1, 1]);
  });
});

test("a pinned dataset is in every backup, and is pinned again where it is restored", async (t) => {
  const { dataDir: old, file } = await backedUp(t);
  const catalogue = openCatalogue(join(old, "datasets"));
  const [first] = catalogue.versions();
  await importRecords(catalogue, [birch]);
  await importRecords(catalogue, [birch, { record: "gp", id: "cedar", name: "Cedar" }]);
  const [, second, third] = catalogue.versions();
  await pinVersion(catalogue, first!, noon);
  await pinVersion(catalogue, third!, noon);
  const another = `${file}.2`;
  const { manifest } = await backup(old, another);
  assert.deepEqual([manifest.dataset, manifest.pinned], [third, [first]]);
  const dataDir = join(temporaryFolder(t), "new");
  await restore(dataDir, another);
  const restored = openCatalogue(join(dataDir, "datasets"));
  assert.deepEqual(restored.versions(), [first, third]);
  for (const version of [first!, third!]) {
    assert.deepEqual(restored.find(version), catalogue.find(version));
    assert.equal(hashFile(restored.pathOf(version)).sha256, restored.find(version).sha256);
  }
  const order = { keep: 1, isDryRun: false, nowMilliseconds: noon + 30 * 24 * hour };
  const versions = (await prune(restored, order)).pinned.map(({ version }) => version);
  assert.deepEqual(versions, [first]);
  assert.notEqual(second, undefined);
});

test("a pinned dataset that is damaged is not backed up, and one that a manifest does not name is refused", async (t) => {
  const { dataDir, file } = await backedUp(t);
  const catalogue = openCatalogue(join(dataDir, "datasets"));
  const [first] = catalogue.versions();
  await importRecords(catalogue, [birch]);
  await pinVersion(catalogue, first!, noon);
  const another = `${file}.2`;
  await backup(dataDir, another);
  const tampered = `${file}.3`;
  const target = join(temporaryFolder(t), "new");
  const lying = (pinned: unknown) =>
    tamper(
      another,
      tampered,
      () => {},
      (manifest) => void (manifest.pinned = pinned),
    );
  await lying([]);
  await assert.rejects(
    restore(target, tampered),
    /names '\S*datasets\/\S*', a file that does not belong/,
  );
  await lying(["../control"]);
  await assert.rejects(restore(target, tampered), /"pinned\.0"/);
  assert.equal(existsSync(join(target, "datasets")), false);
  const path = catalogue.pathOf(first!);
  flipByte(path, statSync(path).size - 1);
  await assert.rejects(
    backup(dataDir, `${file}.4`),
    new RegExp(`${first}.sqlite is not the file that was published`),
  );
  flipByte(path, 0);
  const words = new RegExp(
    `^No backup was made: \\S+${first}\\.sqlite is not the file that was published: .* not the current one\\. Put .* 'gp-records datasets unpin ${first}' leaves it out\\.$`,
  );
  await assert.rejects(backup(dataDir, `${file}.5`), { kind: "conflict", message: words });
});

test("what is restored belongs to the owner of the data folder, whoever restores it", async (t) => {
  const { file } = await backedUp(t);
  const dataDir = temporaryFolder(t);
  // Only root may restore for somebody else.
  const owner = process.getuid!() === 0 ? 1 : process.getuid!();
  chownSync(dataDir, owner, process.getgid!());
  for (const isTrial of [true, false]) {
    await restore(dataDir, file, { isTrial });
    for (const name of namesBelow(dataDir))
      assert.equal(statSync(join(dataDir, name)).uid, owner, name);
  }
});

test("a folder with data is left alone unless it is said, and is kept aside then", async (t) => {
  const { dataDir, file, issue } = await backedUp(t);
  const version = currentOf(dataDir);
  await issue("later");
  await importRecords(openCatalogue(join(dataDir, "datasets")), [birch]);
  const newer = currentOf(dataDir);
  await assert.rejects(
    restore(dataDir, file),
    /already has data \(control\.sqlite, datasets\)\. .* add --replace/,
  );
  assert.equal(currentOf(dataDir), newer);
  const { replaced, lost } = await restore(dataDir, file, { mayReplace: true });
  assert.equal(currentOf(dataDir), version);
  assert.deepEqual(await keyStates(dataDir), allActive);
  const names = lost.map(({ name }) => name);
  assert.deepEqual(names, ["later"]);
  assert.equal(replaced, join(dataDir, "replaced-20261121T120000Z"));
  assert.equal(currentOf(replaced!), newer);
  assert.deepEqual(await keyStates(replaced!), { ...allActive, later: "active" });
  const second = await restore(dataDir, file, { mayReplace: true });
  assert.equal(second.replaced, join(dataDir, "replaced-20261121T120001Z"));
});

test("where it would replace a mount point, a restore is refused before anything is changed", async (t) => {
  const { dataDir, file } = await backedUp(t);
  const folder = join(dataDir, "datasets");
  if (spawnSync("mount", ["--bind", folder, folder]).status !== 0)
    return t.skip("this user cannot mount a folder");
  using _mount = { [Symbol.dispose]: () => execFileSync("umount", [folder]) };
  for (const isTrial of [true, false])
    await assert.rejects(restore(dataDir, file, { mayReplace: true, isTrial }), {
      message: `${folder} is a mount point, which a restore cannot replace. Nothing was changed. Unmount it, or restore into another folder with --to.`,
    });
  assert.ok(!namesBelow(dataDir).some((name) => name.startsWith(".restore")));
  await backup(dataDir, `${file}.control`, true);
  await restore(dataDir, `${file}.control`, { mayReplace: true });
});

test("keys revoked and accounts suspended after the backup stay so, and work again only if that is said", async (t) => {
  const { dataDir, file, keys, revoke, suspend } = await backedUp(t);
  await revoke(keys[0].id);
  await suspend();
  const { kept, undone } = await restore(dataDir, file, { mayReplace: true });
  assert.deepEqual(
    kept.map(({ what, name }) => [what, name]),
    [
      ["revoked", "first"],
      ["suspended", "Acme"],
    ],
  );
  assert.deepEqual(undone, []);
  assert.deepEqual(await keyStates(dataDir), {
    first: "revoked",
    second: "suspended",
    third: "suspended",
  });
  const again = await restore(dataDir, file, { mayReplace: true, undoesEndings: true });
  assert.deepEqual([again.kept, again.undone.length], [[], 2]);
  assert.deepEqual(await keyStates(dataDir), allActive);
});

test("a key that a rotation ended after the backup ends when it was to", async (t) => {
  const { dataDir, file, keys } = await backedUp(t);
  const { oldExpiresAt } = await withControl(dataDir, (control) =>
    rotateKey(control, { id: keys[1].id, overlapMilliseconds: hour, now: noon }),
  );
  const { kept, lost } = await restore(dataDir, file, { mayReplace: true });
  const found = kept.map(({ what, id, at }) => ({ what, id, at }));
  assert.deepEqual(found, [{ what: "expires", id: keys[1].id, at: oldExpiresAt }]);
  const names = lost.map(({ name }) => name);
  assert.deepEqual(names, ["second"]);
  assert.deepEqual(await keyStates(dataDir), { ...allActive, second: "expired" });
});

test("where the keys there are cannot be read, no key is revived unless that is said", async (t) => {
  const { dataDir, file } = await backedUp(t);
  writeFileSync(join(dataDir, "control.sqlite"), "a text");
  await assert.rejects(
    restore(dataDir, file, { mayReplace: true }),
    /control\.sqlite cannot be read\. .* To restore nevertheless, add --undo-revocations/,
  );
  assert.equal(readFileSync(join(dataDir, "control.sqlite"), "utf8"), "a text");
  await restore(dataDir, file, { mayReplace: true, undoesEndings: true });
  assert.deepEqual(await keyStates(dataDir), allActive);
});

test("keys that another process keeps locked are waited for, not taken for damaged ones", async (t) => {
  const { dataDir, file } = await backedUp(t);
  const exclusive = "pragma locking_mode = exclusive; begin exclusive; create table t (a)";
  await holdDatabase(t, join(dataDir, "control.sqlite"), exclusive);
  await assert.rejects(restore(dataDir, file, { mayReplace: true, undoesEndings: true }), {
    kind: "busy",
  });
});

test("what accounts have used of their quotas stays counted, unless the numbers are those of others", async (t) => {
  const { dataDir, file } = await backedUp(t);
  const segment = join(dataDir, "counts", "00000001.counts");
  mkdirSync(join(dataDir, "counts"));
  writeFileSync(segment, "counted");
  assert.equal((await restore(dataDir, file, { mayReplace: true })).areCountsKept, true);
  assert.equal(readFileSync(segment, "utf8"), "counted");
  // A link to a folder on another disk is followed.
  const elsewhere = join(temporaryFolder(t), "counts");
  renameSync(join(dataDir, "counts"), elsewhere);
  symlinkSync(elsewhere, join(dataDir, "counts"));
  assert.equal((await restore(dataDir, file, { mayReplace: true })).areCountsKept, true);
  assert.ok(statSync(segment).isFile());
  changeDatabase(join(dataDir, "control.sqlite"), "update account set id = 'ac_somebodyelse'");
  assert.equal((await restore(dataDir, file, { mayReplace: true })).areCountsKept, false);
  assert.ok(!existsSync(segment));
});

test("a dry run checks the backup and changes nothing", async (t) => {
  const { dataDir, file, keys, revoke } = await backedUp(t);
  await revoke(keys[0].id);
  const before = namesBelow(dataDir);
  const { kept, replaced } = await restore(dataDir, file, { mayReplace: true, isTrial: true });
  assert.equal(kept.length, 1);
  assert.equal(replaced, null);
  const locks = ["import.lock", "server.lock"];
  assert.deepEqual(namesBelow(dataDir), [...new Set([...before, ...locks])].toSorted());
});

test("what is said after a restore is what the folder then has", async (t) => {
  const { dataDir, file, keys, revoke } = await backedUp(t);
  const restored = await restore(dataDir, file, { mayReplace: true });
  assert.deepEqual(
    [restored.dataset, restored.accounts, restored.keys, restored.people],
    [currentOf(dataDir), 1, 3, 0],
  );
  await revoke(keys[0].id);
  for (const isTrial of [true, false]) {
    const { accounts, keys: live } = await restore(dataDir, file, { mayReplace: true, isTrial });
    assert.deepEqual([accounts, live], [1, 2]);
  }
  const bare = join(temporaryFolder(t), "bare.tar");
  await tamper(
    file,
    bare,
    (files) => {
      for (const path of files.keys()) if (path !== "control.sqlite") files.delete(path);
    },
    (sound) => {
      sound.dataset = null;
    },
  );
  assert.equal((await restore(dataDir, bare, { mayReplace: true })).dataset, null);
  assert.equal(currentOf(dataDir), null);
});

test("a server or an import that runs keeps a restore out", async (t) => {
  const { dataDir, file } = await backedUp(t);
  for (const [name, words] of [
    ["server.lock", /server or a restore is using/],
    ["import.lock", /Another command is changing the datasets in /],
  ] as const) {
    const lock = takeLock(join(dataDir, name), "busy");
    await assert.rejects(restore(dataDir, file, { mayReplace: true }), {
      kind: "busy",
      message: words,
    });
    lock.release();
  }
});

test("a backup that is damaged or cut off anywhere, and something else than a backup, is refused, and nothing is changed", async (t) => {
  const { file } = await backedUp(t);
  const dataDir = temporaryFolder(t);
  const damaged = join(temporaryFolder(t), "damaged.tar");
  const whole = readFileSync(file);
  const refused = async (change: () => void) => {
    writeFileSync(damaged, whole);
    change();
    await assert.rejects(restore(dataDir, damaged), {
      kind: "conflict",
      message: new RegExp(`${damaged}`),
    });
    assert.deepEqual(readdirSync(dataDir).toSorted(), ["import.lock", "server.lock"]);
  };
  const manifestEnd = whole.indexOf("control.sqlite\0");
  for (let cut = 0; cut < 20; cut++)
    await refused(() => truncateSync(damaged, Math.floor((cut * (whole.length - 1024)) / 20)));
  for (let place = 0; place < 20; place++)
    await refused(() =>
      // Within a file's content, of which no byte is without meaning.
      flipByte(damaged, manifestEnd + 512 + Math.floor((place * 49_152) / 20)),
    );
  for (const content of ["", "a text\n".repeat(1000), Buffer.alloc(2048)])
    await refused(() => writeFileSync(damaged, content));
});

test("a dataset of another format is refused with the version that made it", async (t) => {
  const { dataDir } = await backedUp(t);
  const sql = "update meta set value = '99' where key = 'format_version'";
  changeDataset(openCatalogue(join(dataDir, "datasets")), currentOf(dataDir)!, sql);
  const other = join(temporaryFolder(t), "other.tar");
  await backup(dataDir, other);
  await assert.rejects(
    restore(temporaryFolder(t), other),
    /dataset in \S+other\.tar has a format .* made by gp-records 1\.2\.3/,
  );
});

test("a dataset of which something untrue is known is not backed up, and nothing is left behind", async (t) => {
  const { dataDir } = await backedUp(t);
  const place = temporaryFolder(t);
  const ofAnother = { version: "20261102T030000Z-00000000" };
  changeFacts(join(dataDir, "datasets"), currentOf(dataDir)!, ofAnother);
  await assert.rejects(backup(dataDir, join(place, "backup.tar")), /does not describe its dataset/);
  assert.deepEqual(readdirSync(place), []);
});

/** A folder with a nightly backup, and a key that was made after it and is in a backup of the control store. */
async function withLaterKey(t: TestContext) {
  const made = await backedUp(t);
  await (await openUsage(made.dataDir)).close();
  await made.issue("later");
  await made.revoke(made.keys[0].id);
  const later = `${made.file}.control`;
  const { manifest } = await backup(made.dataDir, later, true);
  return { ...made, later, manifest };
}

const afterAll = { first: "revoked", second: "active", third: "active", later: "active" };
const bytesOf = (folder: string, name: string) => readFileSync(join(folder, name));

test("restored over the backup of the night, it brings what came since, and leaves records and usage as they are", async (t) => {
  const { file, later } = await withLaterKey(t);
  const dataDir = join(temporaryFolder(t), "new");
  await restore(dataDir, file);
  const [version, usage] = [currentOf(dataDir), bytesOf(dataDir, "usage.sqlite")];
  const trial = await restore(dataDir, later, { mayReplace: true, isTrial: true });
  assert.deepEqual([trial.manifest.control_only, trial.dataset], [true, version]);
  const restored = await restore(dataDir, later, { mayReplace: true });
  assert.deepEqual([restored.keys, restored.dataset], [3, version]);
  assert.deepEqual(await keyStates(dataDir), afterAll);
  assert.equal(currentOf(dataDir), version);
  assert.deepEqual(bytesOf(dataDir, "usage.sqlite"), usage);
  assert.deepEqual(
    readdirSync(restored.replaced!).filter((name) => name !== "counts"),
    ["control.sqlite"],
  );
});

test("it mends a control store that is damaged, and what is kept of usage stays", async (t) => {
  const { dataDir, later } = await withLaterKey(t);
  const usage = bytesOf(dataDir, "usage.sqlite");
  truncateSync(join(dataDir, "control.sqlite"), 5000);
  await assert.rejects(restore(dataDir, later, { mayReplace: true }), /--undo-revocations/);
  await restore(dataDir, later, { mayReplace: true, undoesEndings: true });
  assert.deepEqual(await keyStates(dataDir), afterAll);
  assert.deepEqual(bytesOf(dataDir, "usage.sqlite"), usage);
});

test("a backup of the control store holds it and nothing else, so that restored where nothing is the folder has the keys and no dataset", async (t) => {
  const { later, manifest } = await withLaterKey(t);
  const paths = manifest.files.map(({ path }) => path);
  assert.deepEqual(paths, ["control.sqlite"]);
  assert.deepEqual([manifest.dataset, manifest.pinned], [null, []]);
  const dataDir = join(temporaryFolder(t), "new");
  const restored = await restore(dataDir, later);
  assert.deepEqual([restored.dataset, restored.keys, restored.replaced], [null, 3, null]);
  assert.deepEqual(await keyStates(dataDir), afterAll);
});

test("where the accounts of the folder are others, what they used is not taken for that of the accounts in the backup", async (t) => {
  const { later } = await withLaterKey(t);
  const dataDir = join(temporaryFolder(t), "other");
  await withControl(dataDir, async (control) => {
    const account = await createAccount(control, { name: "Other", quotas: {}, now: noon });
    await issueKey(control, { account, name: "theirs", expiresAt: null, now: noon });
  });
  await (await openUsage(dataDir)).close();
  const { replaced } = await restore(dataDir, later, { mayReplace: true });
  assert.ok(existsSync(join(replaced!, "usage.sqlite")));
  assert.deepEqual(await keyStates(dataDir), afterAll);
});

test("a folder without a control store has nothing of it to back up", async (t) => {
  const dataDir = temporaryFolder(t);
  await (await openUsage(dataDir)).close();
  const file = join(temporaryFolder(t), "control.tar");
  await assert.rejects(backup(dataDir, file, true), /has no control\.sqlite\. Check DATA_DIR/);
  assert.equal(existsSync(file), false);
});

/** A backup, and a folder that has changed since: another key, another dataset, side files of a killed server. */
async function changedSince(t: TestContext) {
  const begun = await backedUp(t);
  const { dataDir, issue } = begun;
  const version = currentOf(dataDir);
  await issue("later");
  await importRecords(openCatalogue(join(dataDir, "datasets")), [birch]);
  mkdirSync(join(dataDir, "counts"));
  writeFileSync(join(dataDir, "counts", "00000001.counts"), "");
  return { ...begun, version, newer: currentOf(dataDir) };
}

const isOld = async (dataDir: string) => "later" in (await keyStates(dataDir));

/** Lets the process come to its end at the nth renaming from now on; what a kill leaves on the disk is the same. */
function endAtRename(n: number): { restore(): void } {
  const { renameSync } = fs;
  let left = n;
  fs.renameSync = (from, to) => {
    left -= 1;
    if (left === 0) throw new Error("killed");
    renameSync(from, to);
  };
  syncBuiltinESMExports();
  return {
    restore() {
      fs.renameSync = renameSync;
      syncBuiltinESMExports();
    },
  };
}

test("a restore that ends at any point leaves the folder as it was, or is finished by whoever comes next", async (t) => {
  const outcomes: string[] = [];
  for (let n = 1; outcomes.at(-1) !== "done"; n++) {
    const { dataDir, file, version, newer } = await changedSince(t);
    const end = endAtRename(n);
    const outcome = await restore(dataDir, file, { mayReplace: true }).then(
      () => "done",
      (error: Error) => error.message,
    );
    end.restore();
    finishRestore(dataDir);
    const old = await isOld(dataDir);
    outcomes.push(outcome === "done" ? outcome : old ? "old" : "new");
    assert.equal(currentOf(dataDir), old ? newer : version, `at ${n}`);
    await finding("ok", restoreLeftovers, dataDir);
    const replaced = readdirSync(dataDir).filter((name) => name.startsWith("replaced-"));
    assert.equal(replaced.length, old ? 0 : 1, `at ${n}`);
    if (!old) assert.equal(currentOf(join(dataDir, replaced[0]!)), newer);
  }
  // What decides comes first; then each of keys, usage, datasets and counts, and the folder kept aside.
  assert.deepEqual(outcomes, [
    "old",
    ...Array.from({ length: outcomes.length - 2 }, () => "new"),
    "done",
  ]);
  assert.ok(outcomes.length >= 9, outcomes.join(" "));
});

test("what a killed restore left is named, and the next command finishes it before it does its own work", async (t) => {
  const { dataDir, file, version } = await changedSince(t);
  const preload = import.meta.resolve("../support/kill-at-change.ts");
  const command = ["--import", preload, mainPath, "restore", file, "--replace"];
  // Behind the decision, in the middle of the moves.
  const moment = { KILL_IN: ".restore", KILL_AT: "0" };
  const environment = { ...process.env, DATA_DIR: dataDir, ...moment };
  const { exitCode } = await outcomeOf(process.execPath, command, environment);
  assert.equal(exitCode, null);
  assert.ok(!existsSync(join(dataDir, "control.sqlite")));
  const { found, mend } = await finding("warn", restoreLeftovers, dataDir);
  assert.match(found, /was left by a restore that was killed while it put its files in place/);
  assert.match(mend, /gp-records datasets list/);
  const keys = await allCommands(dataDir).json("keys list");
  assert.deepEqual(keys.map(({ name }: { name: string }) => name).toSorted(), [
    "first",
    "second",
    "third",
  ]);
  assert.equal(currentOf(dataDir), version);
});

test("while a restore is putting its files in place no command reads half of them", async (t) => {
  const { dataDir, file } = await changedSince(t);
  const end = endAtRename(4);
  await restore(dataDir, file, { mayReplace: true }).catch(() => {});
  end.restore();
  const lock = takeLock(join(dataDir, "server.lock"), "busy");
  const { refusal } = allCommands(dataDir);
  for (const args of [["keys", "list"], ["datasets", "list"], ["serve"], ["backup", `${file}.2`]])
    assert.match(await refusal(5, ...args), /A server or a restore is using/);
  lock.release();
});
