import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { openCatalogue } from "#datasets/catalogue.ts";
import { clock } from "#doctor/clock.ts";
import { dataFolder } from "#doctor/data-folder.ts";
import { disk, judgeSpace } from "#doctor/disk.ts";
import { fileSystem, judgeFileSystem } from "#doctor/file-system.ts";
import { modes } from "#doctor/modes.ts";
import { owners } from "#doctor/owners.ts";
import { cast } from "../support/cast.ts";
import { changeFacts } from "../support/damage.ts";
import { builtAt, importRecords } from "../support/dataset.ts";
import { finding } from "../support/doctor.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

async function folderWithDataset(t: TestContext) {
  const dataDir = temporaryFolder(t);
  const catalogue = openCatalogue(join(dataDir, "datasets"));
  const { published } = await importRecords(catalogue, cast);
  return { dataDir, path: catalogue.pathOf(published!.version) };
}

test("a folder that is not there yet is said to be so, and not made", async (t) => {
  const above = temporaryFolder(t);
  const dataDir = join(above, "a", "b");
  for (const check of [dataFolder, owners, modes, fileSystem, disk, clock])
    await finding("ok", check, dataDir);
  assert.match(
    (await finding("ok", dataFolder, dataDir)).found,
    /is not there yet; the first import/,
  );
  assert.match(
    (await finding("ok", dataFolder, above)).found,
    /is empty: nothing has been imported/,
  );
  assert.deepEqual(readdirSync(above), []);
});

test("a file in place of the folder is named", async (t) => {
  const file = join(temporaryFolder(t), "file");
  writeFileSync(file, "");
  const { found, mend } = await finding("fail", dataFolder, file);
  assert.equal(found, `DATA_DIR names ${file}, which is a file, not a folder`);
  assert.match(mend, /DATA_DIR/);
  chmodSync(file, 0o644);
  for (const check of [owners, modes]) await finding("ok", check, file);
});

test("a folder of other programs, named by mistake, is said to be none of ours and is not to be changed", async (t) => {
  const dataDir = temporaryFolder(t);
  chmodSync(dataDir, 0o755);
  mkdirSync(join(dataDir, "bin"));
  const { found, mend } = await finding("warn", dataFolder, dataDir);
  assert.ok(found.startsWith(`DATA_DIR names ${dataDir}, which does not look like`), found);
  assert.match(mend, /DATA_DIR/);
  for (const check of [owners, modes]) await finding("ok", check, dataDir);
  mkdirSync(join(dataDir, "counts"));
  await finding("ok", dataFolder, dataDir);
});

test("a new disk, and a home without anything to see, are taken for empty", async (t) => {
  const dataDir = temporaryFolder(t);
  mkdirSync(join(dataDir, "lost+found"));
  writeFileSync(join(dataDir, ".profile"), "");
  assert.match((await finding("ok", dataFolder, dataDir)).found, /is empty/);
});

test("files that others may read or write are named, and the command that is named mends them and no other", async (t) => {
  const { dataDir, path } = await folderWithDataset(t);
  const another = join(dataDir, "notes");
  writeFileSync(another, "");
  chmodSync(another, 0o644);
  const demoKey = join(dataDir, "demo.key");
  writeFileSync(demoKey, "", { mode: 0o600 });
  await finding("ok", modes, dataDir);
  for (const [place, mode, status, words] of [
    [dataDir, 0o755, "warn", "read"],
    [path, 0o640, "warn", "read"],
    [path, 0o660, "fail", "write"],
    [demoKey, 0o644, "warn", "read"],
    [dataDir, 0o777, "fail", "write"],
  ] as const) {
    chmodSync(place, mode);
    const { found, mend } = await finding(status, modes, dataDir);
    assert.equal(found, `others may ${words} ${place} (mode 0${mode.toString(8)})`);
    execFileSync("sh", ["-c", mend]);
    await finding("ok", modes, dataDir);
    assert.equal(statSync(place).mode & 0o777, mode & 0o700);
    assert.equal(statSync(another).mode & 0o777, 0o644);
  }
  for (const place of [dataDir, join(dataDir, "datasets"), path]) chmodSync(place, 0o755);
  assert.equal(
    (await finding("warn", modes, dataDir)).mend,
    `chmod go= ${dataDir} && chmod -R go= ${join(dataDir, "datasets")}`,
  );
});

test("a file of another user is named", async (t) => {
  const dataDir = temporaryFolder(t);
  mkdirSync(join(dataDir, "counts"));
  await finding("ok", owners, dataDir);
  const file = join(dataDir, "counts", "00000001.counts");
  // Only root may give files away; for everybody else /etc is somebody else's.
  if (process.getuid?.() === 0) {
    writeFileSync(file, "");
    chownSync(file, 1, 1);
  } else symlinkSync("/etc/passwd", file);
  const { found, mend } = await finding("fail", owners, dataDir);
  assert.ok(found.startsWith(`${file} belongs to user `), found);
  assert.match(mend, new RegExp(`^chown -R \\d+:\\d+ ${join(dataDir, "counts")}$`));
});

test("a disk without room for three times the largest dataset is named before an import fails", async (t) => {
  const { dataDir, path } = await folderWithDataset(t);
  assert.match((await finding("ok", disk, dataDir)).found, /an import may need/);
  // A file of holes, larger than what any disk here has free.
  truncateSync(path, 8 * 1024 ** 4);
  const { found, mend } = await finding("warn", disk, dataDir);
  assert.match(found, /^only .* free on the disk .*; an import may need 24 TiB$/);
  assert.match(mend, /gp-records datasets prune/);
});

test("a disk that is nearly full, of bytes or of files, is a fault", () => {
  const mib = 1024 ** 2;
  const judge = (freeBytes: number, freeFiles: number | null) =>
    judgeSpace("/data", { freeBytes, freeFiles }, 0);
  assert.equal(judge(100 * mib, 1000).status, "ok");
  assert.equal(judge(100 * mib, null).status, "ok");
  assert.match(judge(63 * mib, 1000).found, /^only 63 MiB are free .*; the server needs 64 MiB/);
  assert.match(judge(100 * mib, 99).found, /^only 99 more files can be made/);
  for (const space of [judge(63 * mib, 1000), judge(100 * mib, 99)])
    assert.equal(space.status, "fail");
});

test("file systems of a network are told from those of this machine", async (t) => {
  await finding("ok", fileSystem, temporaryFolder(t));
  if (process.platform !== "linux") return;
  for (const [type, name] of [
    [0x6969, "NFS"],
    [0x517b, "SMB"],
    [0xff534d42, "SMB"],
    [0xff534d42 | 0, "SMB"],
    [0x01021997, "9p"],
  ] as const) {
    const { status, found, mend } = judgeFileSystem("/data", type);
    assert.equal(status, "fail");
    assert.ok(found.includes(name), found);
    assert.match(mend!, /DATA_DIR/);
  }
  assert.equal(judgeFileSystem("/data", 0x65735546).status, "warn");
  assert.equal(judgeFileSystem("/data", 0xef53).status, "ok");
});

test("a clock that stands before the newest dataset was set back, and is named", async (t) => {
  const { dataDir } = await folderWithDataset(t);
  await finding("ok", clock, dataDir, { now: builtAt });
  const { found } = await finding("fail", clock, dataDir, { now: builtAt - 3_600_000 });
  assert.match(
    found,
    /clock says 2026-11-20T02:00:00Z, but the dataset \S+ is of 2026-11-20T03:00:00Z/,
  );
});

test("a time beside a dataset that is not that of its name is no fault of the clock", async (t) => {
  const { dataDir } = await folderWithDataset(t);
  const { folder, currentVersion } = openCatalogue(join(dataDir, "datasets"));
  changeFacts(folder, currentVersion()!, { built_at: "2036-11-20T03:00:00Z" });
  await finding("ok", clock, dataDir, { now: builtAt });
  await finding("fail", clock, dataDir, { now: builtAt - 3_600_000 });
});
