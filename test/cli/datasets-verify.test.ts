import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { exitCodes } from "#cli/command-fault.ts";
import { openCatalogue } from "#datasets/catalogue.ts";
import { mainPath, outcomeOf } from "../support/command-line.ts";
import { changeFacts } from "../support/damage.ts";
import { allCommands } from "../support/all-commands.ts";
import { importRecords } from "../support/dataset.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

test("verify tells of every dataset, and ends with 6 naming the file that is damaged and the mend", async (t) => {
  const dataDir = temporaryFolder(t);
  const catalogue = openCatalogue(join(dataDir, "datasets"));
  const importGp = async (name: string) =>
    (await importRecords(catalogue, [{ record: "gp", id: "a", name }])).published!.version;
  const [older, newer] = [await importGp("A"), await importGp("B")];
  const { text, start, json, refusal } = allCommands(dataDir);
  assert.equal(await text("datasets verify"), `${older}  sound\n${newer}  sound, current\n`);

  const file = catalogue.pathOf(older);
  truncateSync(file, 40_000);
  const { exitCode, out, err } = await start("datasets verify");
  assert.equal(exitCode, exitCodes.unhealthy);
  assert.equal(err, "error: 1 of 2 datasets is not as published.\n");
  assert.match(out, new RegExp(`^${older}  ${file} was cut off: .*\n  It is not served: put `));
  const [check] = JSON.parse((await start("datasets verify --json")).out);
  assert.deepEqual(Object.keys(check), ["version", "file", "current", "fault", "mend"]);

  assert.equal((await json("datasets verify", newer))[0].fault, null);
  assert.match(await refusal(exitCodes.conflict, "datasets verify x"), /no dataset 'x'/);
});

test("verify tells of facts that are not true, also where it is asked for that dataset alone, and what it says mends them", async (t) => {
  const dataDir = temporaryFolder(t);
  const catalogue = openCatalogue(join(dataDir, "datasets"));
  const { published } = await importRecords(catalogue, [{ record: "gp", id: "a", name: "A" }]);
  const { version, hash } = published!;
  const { text, start, refusal } = allCommands(dataDir);
  for (const change of [{ hash: `0${hash.slice(1)}x` }, { version: `${version.slice(0, -1)}x` }]) {
    changeFacts(catalogue.folder, version, change);
    const { exitCode, out, err } = await start("datasets verify", version);
    assert.equal(exitCode, exitCodes.unhealthy, err);
    assert.match(
      out,
      new RegExp(`write the facts of the file into it, .*'gp-records datasets publish ${version}'`),
    );
    assert.match(await refusal(exitCodes.conflict, "datasets publish", version), /instead of/);

    const [, member, right] = /"(\w+)" is \S+ instead of "([^"]+)"/.exec(out)!;
    changeFacts(catalogue.folder, version, { [member!]: right });
    await text("datasets publish", version);
    assert.match(await text("datasets verify"), /sound, current/);
  }
});

test("a FIFO in the place of the current dataset, or of one to be published, ends each command with its path", async (t) => {
  const dataDir = temporaryFolder(t);
  const catalogue = openCatalogue(join(dataDir, "datasets"));
  const importGp = async (name: string) =>
    (await importRecords(catalogue, [{ record: "gp", id: "a", name }])).published!.version;
  const [older, newer] = [await importGp("A"), await importGp("B")];
  const records = join(dataDir, "records.ndjson");
  writeFileSync(records, '{"record":"gp","id":"a","name":"C"}\n');
  const makeFifo = (path: string) => {
    rmSync(path, { force: true });
    execFileSync("mkfifo", [path]);
    return path;
  };
  // Whoever opens one of them would never end.
  const refused = async (path: string, ...args: string[]) => {
    const { exitCode, err } = await outcomeOf(
      "timeout",
      ["120", process.execPath, mainPath, ...args],
      { PATH: process.env["PATH"], DATA_DIR: dataDir },
    );
    assert.equal(exitCode, exitCodes.conflict, args.join(" "));
    assert.ok(err.includes(path), err);
    assert.match(err, /is a FIFO, not a file/);
  };
  const published = makeFifo(catalogue.pathOf(older));
  await refused(published, "datasets", "rollback");
  await refused(published, "datasets", "publish", older);
  await refused(published, "datasets", "diff", older, newer);
  const current = makeFifo(catalogue.pathOf(newer));
  await refused(current, "import", "ndjson", records, "--source", "two", "--merge");
  await refused(current, "export", "--format", "csv", "-o", join(dataDir, "files"));
});

test("a directory, a FIFO, a socket and a device in the place of a dataset's file are named by verify and doctor, which wait for none of them", async (t) => {
  const dataDir = temporaryFolder(t);
  const catalogue = openCatalogue(join(dataDir, "datasets"));
  const { published } = await importRecords(catalogue, [{ record: "gp", id: "a", name: "A" }]);
  const { version: current } = published!;
  const factsOf = (version: string) => join(catalogue.folder, `${version}.json`);
  const socket = createServer();
  t.after(() => socket.close());
  const makeFifo = (path: string) => execFileSync("mkfifo", [path]);
  const others = [
    [factsOf, "a directory", (path: string) => mkdirSync(path)],
    [factsOf, "a FIFO", makeFifo],
    [factsOf, "a socket", (path: string) => once(socket.listen(path), "listening")],
    [factsOf, "a device", (path: string) => symlinkSync("/dev/zero", path)],
    [catalogue.pathOf, "a FIFO", makeFifo],
  ] as const;
  const words: string[] = [];
  for (const [place, [pathOf, kind, make]] of others.entries()) {
    const version = `20261101T00000${place}Z-00000000`;
    for (const fileOf of [factsOf, catalogue.pathOf])
      if (fileOf === pathOf) await make(fileOf(version));
      else copyFileSync(fileOf(current), fileOf(version));
    words.push(`${pathOf(version)} is ${kind}, not a file`);
  }
  // Whoever opens one of them would never end.
  const run = (...args: string[]) =>
    outcomeOf("timeout", ["60", process.execPath, mainPath, ...args], {
      PATH: process.env["PATH"],
      DATA_DIR: dataDir,
      PORT: "0",
    });
  for (const args of [["datasets", "verify"], ["doctor"]]) {
    const { exitCode, out, err } = await run(...args);
    assert.equal(exitCode, exitCodes.unhealthy, err);
    for (const found of words) assert.ok(out.includes(found), out);
    assert.match(out, /Find out who put it there, move it away, put the file back/);
    assert.ok(!out.includes(factsOf(current)), out);
  }

  const { exitCode, err } = await run("datasets", "list");
  assert.equal(exitCode, exitCodes.conflict);
  assert.ok(err.startsWith(`error: ${words[0]}. `), err);

  const pointer = join(catalogue.folder, "current");
  rmSync(pointer);
  makeFifo(pointer);
  const { out } = await run("doctor");
  assert.ok(out.includes(`${pointer} is a FIFO, not a file`), out);
});
