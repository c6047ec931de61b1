import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  chmodSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import { exitCodes } from "#cli/command-fault.ts";
import { openCatalogue } from "#datasets/catalogue.ts";
import { allCommands } from "../support/all-commands.ts";
import { cast } from "../support/cast.ts";
import { commandDone, commandInOwnProcess, mainPath, outcomeOf } from "../support/command-line.ts";
import { flipByte, scribble } from "../support/damage.ts";
import { importRecords } from "../support/dataset.ts";
import { asOrdinaryUser, runTool, smallDisk } from "../support/machine.ts";
import { newKey, roomy, startOwnProcess } from "../support/own-process.ts";
import { startServer } from "../support/server-process.ts";
import { startService } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** A data folder with a dataset and an account, and a place for backups of it. */
async function folders(t: TestContext) {
  const dataDir = temporaryFolder(t);
  const place = temporaryFolder(t);
  await importRecords(openCatalogue(join(dataDir, "datasets")), cast);
  const commands = allCommands(dataDir);
  await commands.text("accounts create --name Acme");
  return { dataDir, place, file: join(place, "backup.tar"), ...commands };
}

const queries = [
  "/fetch-gp?gp_name=northwind",
  "/fetch-gp?gp_name=stone&limit=1",
  "/fetch-gp?gp_name=nobody",
  "/fetch-principals",
  "/fetch-principals?market=dallas",
  "/fetch-signals?limit=2&offset=1",
  "/fetch-projects?gp_name=kkr",
];

test("a backup taken under load and restored elsewhere answers byte for byte the same, with the same keys", async (t) => {
  const server = await startOwnProcess(t);
  const { dataDir } = server;
  const place = temporaryFolder(t);
  const file = join(place, "backup.tar");
  let isOver = false;
  let asked = 0;
  const load = async (query: string) => {
    for (; !isOver; asked++)
      assert.equal((await server.get(query, { "x-api-key": server.key })).status, 200);
  };
  const making = async () => {
    // Else only this would be done: writing to SQLite gives no other event a turn.
    for (let n = 0; !isOver; n++, await setImmediate())
      await newKey(dataDir, `account ${n}`, roomy);
  };
  const loads = Promise.all([...queries.map(load), making()]);
  try {
    await Promise.race([loads, commandDone(dataDir, "backup", file)]);
  } finally {
    isOver = true;
  }
  await loads;
  assert.ok(asked > 0);

  const restoredDir = join(place, "restored");
  await commandDone(restoredDir, "restore", file);
  const restored = await startServer(t, { dataDir: restoredDir });
  const compared = ["etag", "dataset-version", "x-total-count", "content-type", "link"];
  for (const query of queries) {
    const answers = await Promise.all(
      [server, restored].map(async ({ url }) => {
        const answer = await fetch(url + query, { headers: { "x-api-key": server.key } });
        const { status, headers } = answer;
        return {
          status,
          headers: compared.map((one) => headers.get(one)),
          body: await answer.text(),
        };
      }),
    );
    assert.equal(answers[0]!.status, 200);
    assert.ok(answers[0]!.headers[0] !== null);
    assert.deepEqual(answers[1], answers[0], query);
  }
});

test("backup says what is in it, also where that is the control store alone, and its SHA-256 is that of the file, which only its owner may read", async (t) => {
  const { dataDir, file, json, text } = await folders(t);
  const version = openCatalogue(join(dataDir, "datasets")).currentVersion();
  const made = await json("backup", file);
  assert.equal(made.dataset, version);
  assert.equal(made.bytes, statSync(file).size);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal(made.sha256, createHash("sha256").update(readFileSync(file)).digest("hex"));
  assert.match(
    await text("restore", file, "--dry-run"),
    /is intact\. It was made at 2026-11-21T12:00:00Z/,
  );
  assert.match(
    await text("backup", file, "--control", "--force"),
    /^Wrote a backup of control\.sqlite to \S+: [\d,]+ bytes\.\nThe SHA-256 of the backup is/,
  );
  assert.match(
    await text("restore", file, "--dry-run"),
    /The data folder would have the dataset \S+, 1 account, .*\nThe backup has only accounts, keys, people and the audit log\. Datasets already there stay as they were, /,
  );
});

test("backup replaces no file unless that is said", async (t) => {
  const { file, place, refusal, text } = await folders(t);
  writeFileSync(file, "precious");
  assert.equal(
    await refusal(exitCodes.conflict, "backup", file),
    `error: ${file} exists, so no backup was made. Add --force to replace it.\n`,
  );
  assert.equal(readFileSync(file, "utf8"), "precious");
  await text("backup", file, "--force");
  assert.notEqual(readFileSync(file, "utf8"), "precious");
  assert.deepEqual(readdirSync(place), ["backup.tar"]);
});

test("backup replaces no folder and no pipe", async (t) => {
  const { place, refusal } = await folders(t);
  const pipe = join(place, "pipe");
  assert.equal(runTool("mkfifo", [pipe]).exitCode, 0);
  for (const one of [place, pipe])
    for (const flags of [[], ["--force"]])
      assert.equal(
        await refusal(exitCodes.conflict, "backup", one, ...flags),
        `error: No backup was made: ${one} is not a file.\n`,
      );
  assert.ok(statSync(pipe).isFIFO());
  assert.deepEqual(readdirSync(place), ["pipe"]);
});

test("what cannot be backed up soundly is not, and no file is left behind", async (t) => {
  const { dataDir, file, place, refusal } = await folders(t);
  const nowhere = join(place, "none", "backup.tar");
  assert.equal(
    await refusal(exitCodes.usage, "backup", nowhere),
    `error: No backup was made, because ${nowhere} cannot be used (ENOENT). Make sure that its folder exists and give this user access to it, or choose another place for the backup.\n`,
  );
  assert.match(
    await allCommands(temporaryFolder(t)).refusal(exitCodes.conflict, "backup", file),
    /neither a database nor a current dataset.*DATA_DIR/,
  );
  const catalogue = openCatalogue(join(dataDir, "datasets"));
  const dataset = catalogue.pathOf(catalogue.currentVersion()!);
  flipByte(dataset, 20_000);
  assert.match(
    await refusal(exitCodes.conflict, "backup", file),
    /datasets\/\S+ is not the file that was published/,
  );
  flipByte(dataset, 20_000);
  scribble(join(dataDir, "control.sqlite"), 4096, 8192);
  assert.match(await refusal(exitCodes.conflict, "backup", file), /control\.sqlite is damaged/);
  truncateSync(join(dataDir, "control.sqlite"));
  assert.match(await refusal(exitCodes.conflict, "backup", file), /control\.sqlite is empty/);
  assert.deepEqual(readdirSync(place), []);
});

test("a data folder that is closed to this user is not taken for an empty one", async (t) => {
  const { dataDir, file, place, refusal } = await folders(t);
  chmodSync(place, 0o777);
  for (const mode of [0o000, 0o644]) {
    chmodSync(dataDir, mode);
    assert.match(
      await asOrdinaryUser(() => refusal(exitCodes.usage, "backup", file)),
      /No backup was made, because \S+control\.sqlite cannot be used \(EACCES\)\. Run gp-records as the user who owns DATA_DIR, .*\n$/,
    );
  }
  chmodSync(dataDir, 0o700);
});

/** A shell with the program as `$0 $1`. */
const inShell = (script: string, dataDir: string, ...args: string[]) =>
  outcomeOf("sh", ["-c", script, process.execPath, mainPath, ...args], {
    PATH: process.env["PATH"],
    DATA_DIR: dataDir,
  });

test("a disk that is full leaves no file behind", async (t) => {
  const { dataDir, file, place } = await folders(t);
  // 10 blocks of 512 or 1024 bytes: less than one database takes.
  const { exitCode, err } = await inShell(`ulimit -f 10; exec "$0" "$@"`, dataDir, "backup", file);
  assert.equal(exitCode, exitCodes.diskFull);
  assert.match(err, /^error: There is no room to write .*control\.sqlite .* \(ulimit -f\)\.\n$/);
  assert.deepEqual(readdirSync(place), []);
});

test("a backup without room beside the databases names them, too", async (t) => {
  const disk = smallDisk(t, "2m");
  if (disk === null) return;
  const { dataDir, file } = await folders(t);
  const full = join(disk.folder, "data");
  cpSync(dataDir, full, { recursive: true });
  assert.throws(() => writeFileSync(join(disk.folder, "fill"), Buffer.alloc(4_000_000)), /ENOSPC/);
  assert.match(
    await allCommands(full).refusal(exitCodes.diskFull, "backup", file),
    new RegExp(`room to write ${file}\\S+, or beside ${full}/\\w+\\.sqlite \\(disk I/O error\\)`),
  );
});

/** A backup into a pipe that nobody reads: it stands still in the middle. */
async function stuckBackup(t: TestContext, dataDir: string, place: string) {
  const child = spawn(process.execPath, [mainPath, "backup", "-"], {
    env: { ...process.env, DATA_DIR: dataDir, TMPDIR: place },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const ended = once(child, "exit");
  t.after(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  await once(child.stdout, "readable");
  return { child, ended };
}

test("a backup that is told to stop takes its copies with it; one that is killed leaves them in one folder", async (t) => {
  const { dataDir, place } = await folders(t);
  const stopped = await stuckBackup(t, dataDir, place);
  assert.equal(readdirSync(place).length, 1);
  stopped.child.kill("SIGTERM");
  assert.deepEqual(await stopped.ended, [null, "SIGTERM"]);
  assert.deepEqual(readdirSync(place), []);
  const killed = await stuckBackup(t, dataDir, place);
  killed.child.kill("SIGKILL");
  await killed.ended;
  assert.match(readdirSync(place).join(), /^gp-records-backup\.tmp-\w{6}$/);
});

test("a backup goes through a pipe, and a reader that stops is told of", async (t) => {
  const { dataDir, place } = await folders(t);
  const script = `"$0" "$1" backup - | DATA_DIR="$2" "$0" "$1" restore - --json`;
  const restored = join(place, "restored");
  const { exitCode, out, err } = await inShell(script, dataDir, restored);
  assert.equal(exitCode, exitCodes.done, err);
  assert.equal(JSON.parse(out).outcome, "restored");
  assert.match(err, /^Wrote a backup of control\.sqlite, .* to standard output: [\d,]+ bytes\./);
  assert.ok(existsSync(join(restored, "control.sqlite")));
  const full = await inShell(`"$0" "$1" backup - > /dev/full`, dataDir);
  assert.equal(full.exitCode, exitCodes.diskFull);
  assert.match(
    full.err,
    /^error: The backup is incomplete, because standard output cannot be written \(ENOSPC\)/,
  );
});

test("restore says what it did, and refuses beside a running server", async (t) => {
  const service = await startService(t);
  const { dataDir } = service;
  const file = join(temporaryFolder(t), "backup.tar");
  const { text, refusal, json } = allCommands(dataDir);
  await text("backup", file);
  const busy = await commandInOwnProcess(["restore", file, "--replace"], dataDir);
  assert.equal(busy.exitCode, exitCodes.busy);
  assert.match(busy.err, /^error: A server or a restore is using .* Stop the server/);
  await service.stop();
  assert.match(
    await refusal(exitCodes.conflict, "restore", file),
    /already has data .* add --replace/,
  );
  const [key] = await json("keys list");
  await text("keys revoke", key.id);
  await text("accounts create --name Later");
  await text("keys create --account Later --name later");
  const said = await text("restore", file, "--replace");
  assert.match(said, /^Restored .*backup\.tar, made at /);
  const { version } = await json("datasets show");
  assert.match(
    said,
    new RegExp(`\nThe data folder now has the dataset ${version}, 1 account, 0 keys neither`),
  );
  assert.match(said, new RegExp(`does not bring these back:\\n {2}key ${key.id} `));
  assert.match(
    said,
    /Live keys that are not in the backup and will be refused after the restore; issue new ones:\n {2}key \S+ 'later' of the account 'Later'/,
  );
  assert.match(said, /The old contents are in .*replaced-/);
  assert.equal((await json("keys list"))[0].state, "revoked");
  const undone = await allCommands(temporaryFolder(t)).text("restore", file);
  assert.match(
    undone,
    /End each such key, account and membership again, and suppress again whoever was suppressed since\./,
  );
});

test("a backup that is not there or that this user may not read is named, and so is a folder that cannot be made, before the backup is read", async (t) => {
  const place = temporaryFolder(t);
  const file = join(place, "backup.tar");
  const { refusal } = allCommands(join(place, "data"));
  assert.equal(
    await refusal(exitCodes.usage, "restore", file),
    `error: There is no file ${file}. Name a file that \`gp-records backup\` made.\n`,
  );
  writeFileSync(file, "x", { mode: 0o000 });
  chmodSync(place, 0o755);
  assert.match(
    await asOrdinaryUser(() => refusal(exitCodes.usage, "restore", file)),
    new RegExp(`^error: ${file} cannot be read: EACCES.*Give this user read access to it\\.\n$`),
  );
  assert.deepEqual(readdirSync(place), ["backup.tar"]);
  const nowhere = allCommands("/proc/none/data");
  assert.match(
    await nowhere.refusal(exitCodes.usage, "restore", mainPath),
    /^error: \/proc\S* cannot be used .*name another folder with DATA_DIR\.\n$/,
  );
});

test("with DATABASE_URL a backup is of the database, which is named without its password where it is away", async (t) => {
  const { dataDir, place, file, text } = await folders(t);
  await text("backup", file);
  const before = readdirSync(dataDir).toSorted();
  const database = { DATABASE_URL: "postgres://u:geheim@127.0.0.1:1/records" };
  const { refusal } = allCommands(dataDir, database);
  const other = join(place, "other.tar");
  const away = "postgres://u:geheim@127.0.0.1:1/other";
  for (const args of [
    ["backup", other],
    ["backup", other, "--control"],
    ["restore", file, "--to", away],
  ]) {
    const message = await refusal(exitCodes.busy, ...args);
    assert.match(message, /PostgreSQL at 127\.0\.0\.1:1\/(?:records|other)\b/);
    assert.doesNotMatch(message, /geheim/);
  }
  for (const options of [[], ["--dry-run"]])
    assert.match(
      await refusal(exitCodes.usage, "restore", file, ...options),
      /DATABASE_URL is set, .* Name the destination with --to: /,
    );
  const both = await refusal(exitCodes.usage, "backup", other, "--control", "--requests");
  assert.match(both, /Leave out either --control or --requests/);
  assert.deepEqual(readdirSync(place), ["backup.tar"]);
  assert.deepEqual(readdirSync(dataDir).toSorted(), before);
});
