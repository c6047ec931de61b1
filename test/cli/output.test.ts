import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import { exitCodes } from "#cli/command-fault.ts";
import { harmless } from "#cli/output.ts";
import { openCatalogue } from "#datasets/catalogue.ts";
import { takeLock } from "#store/lock.ts";
import { controlFile } from "#store/sqlite-file.ts";
import { tamper } from "../backups/backed-up.ts";
import { allCommands } from "../support/all-commands.ts";
import { cast } from "../support/cast.ts";
import { outcomeOfScript } from "../support/command-line.ts";
import { importRecords } from "../support/dataset.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** Sets the title of a terminal, clears it, by C1 too, rubs out, goes back to the start of the line, turns text around. */
const hostile = "\u001b]0;owned\u0007\u001b[2J\u009b2J\u007f\r\u202e\u2066";
const obeyed = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

async function commands(t: TestContext, settings: Record<string, string> = {}) {
  const dataDir = join(temporaryFolder(t), "data");
  mkdirSync(dataDir, { mode: 0o700 });
  const { start } = allCommands(dataDir, settings);
  return {
    dataDir,
    folder: join(dataDir, "datasets"),
    file: (name: string, text: string) => {
      const path = join(temporaryFolder(t), name);
      writeFileSync(path, text);
      return path;
    },
    /** What it printed, errors included, which has to name what is hostile and hold none of it. */
    async said(exitCode: number, ...args: string[]) {
      const { exitCode: code, out, err } = await start(...args);
      const said = out + err;
      assert.equal(code, exitCode, said);
      assert.doesNotMatch(said, obeyed, args.join(" "));
      assert.match(said, /\\u(001b|009b|202e)/, args.join(" "));
      return said;
    },
  };
}

test("no control character of a file that is imported reaches the terminal", async (t) => {
  const { said, file } = await commands(t);
  const gp = `{"record":"gp","id":"a","name":"A"}`;
  const source = ["--source", "s"];
  for (const line of [hostile, `{"record":"gp","id":"a","\u009b":"\u202e"}`])
    await said(
      exitCodes.inputRefused,
      "import",
      "ndjson",
      ...source,
      file("a.ndjson", `${gp}\n${line}\n`),
    );
  const mapping = file(
    "map.json",
    JSON.stringify({
      records: [{ record: "gp", id: "Id", fields: { name: "Name", founded_year: "Year" } }],
    }),
  );
  await said(
    exitCodes.inputRefused,
    "import",
    "csv",
    ...source,
    "--map",
    mapping,
    file("a.csv", `Id,Name,Year\n1,A,"${hostile}"\n`),
  );
  await said(
    exitCodes.inputRefused,
    "import",
    "csv",
    ...source,
    "--map",
    file("map.json", `{"${hostile.replaceAll(/[\u0000-\u001f]/g, "")}":1}`),
    file("a.csv", "Id,Name\n1,2\n"),
  );
});

test("none of what is known of a dataset, of a lock or in a database does", async (t) => {
  const { said, dataDir, folder } = await commands(t);
  const catalogue = openCatalogue(folder);
  await importRecords(catalogue, cast);
  const version = catalogue.currentVersion()!;
  const facts = join(folder, `${version}.json`);
  for (const text of [hostile, JSON.stringify({ version: hostile })]) {
    writeFileSync(facts, text);
    await said(exitCodes.conflict, "datasets", "show");
    await said(exitCodes.unhealthy, "datasets", "verify");
    await said(exitCodes.unhealthy, "doctor");
  }
  const holder = { pid: process.pid, since: hostile };
  writeFileSync(join(dataDir, "import.holder"), JSON.stringify(holder));
  const lock = takeLock(join(dataDir, "import.lock"), "busy");
  await said(exitCodes.busy, "datasets", "publish", version);
  lock.release();
});

test("none of a name does, nor does a line break in it make a line", async (t) => {
  const { said, dataDir } = await commands(t);
  const { text, json } = allCommands(dataDir);
  await text("accounts", "create", "--name", "Acme");
  await text("keys", "create", "--account", "Acme", "--name", "first");
  const database = new DatabaseSync(controlFile(dataDir));
  const name = `${hostile}\nforged`;
  database.prepare("update api_key set name = ?").run(name);
  database.close();
  assert.match(await said(exitCodes.done, "keys", "list"), /\\nforged/);
  assert.equal((await text("keys", "list")).trimEnd().split("\n").length, 2);
  const [key] = await json("keys", "list");
  assert.equal(key.name, name);
  assert.doesNotMatch(await text("keys", "list", "--json"), obeyed);
});

test("none of a backup does", async (t) => {
  const { said, dataDir } = await commands(t);
  const { text } = allCommands(dataDir);
  await text("accounts", "create", "--name", "Acme");
  const place = temporaryFolder(t);
  const file = join(place, "backup.tar");
  const tampered = join(place, "tampered.tar");
  await text("backup", file);
  await tamper(
    file,
    tampered,
    () => {},
    (sound) => {
      sound.program = hostile;
    },
  );
  await said(exitCodes.done, "restore", tampered, "--dry-run");
  await tamper(file, tampered, (files) => files.set(`\u001b[2J`, Buffer.from("x")));
  await said(exitCodes.conflict, "restore", tampered, "--dry-run");
});

test("none of an argument or a setting does", async (t) => {
  const { said } = await commands(t);
  await said(exitCodes.usage, hostile);
  await said(exitCodes.conflict, "keys", "revoke", `${hostile}\nerror: forged`);
  await said(exitCodes.usage, "keys", "list", `--${hostile}`);
  const wrong = await commands(t, { PORT: hostile });
  await wrong.said(exitCodes.usage, "keys", "list");
  assert.equal((await wrong.said(exitCodes.usage, "keys", "list")).split("\n").length, 2);
});

test("what programs read stays JSON that means the same", () => {
  const document = { name: hostile, list: ["a\tb", "\u2028", "ü 株 🏢"] };
  const text = harmless(JSON.stringify(document, null, 2));
  assert.doesNotMatch(text, obeyed);
  assert.deepEqual(JSON.parse(text), document);
  assert.ok(text.includes("ü 株 🏢"));
});

test("nor does a line of the server's log", async () => {
  const log = import.meta.resolve("#cli/log.ts");
  const { out } = await outcomeOfScript(`
    const { openLog } = await import(${JSON.stringify(log)});
    const log = openLog("info");
    log.logger.error({ err: new Error(${JSON.stringify(hostile)}) }, ${JSON.stringify(hostile)});
    await log.close();`);
  assert.doesNotMatch(out, obeyed);
  const { msg, err } = JSON.parse(out);
  assert.deepEqual([msg, err.message], [hostile, hostile]);
});
