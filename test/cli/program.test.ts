import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { Command } from "commander";
import type { AddCommands } from "#cli/command.ts";
import { CommandFault, exitCodes } from "#cli/command-fault.ts";
import { commandParts } from "#cli/command-parts.ts";
import { run } from "#cli/program.ts";
import { controlFile } from "#store/sqlite-file.ts";
import { openControl } from "#store/stores.ts";
import { command } from "../support/command-line.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** Runs `gp-records fail`, a command that throws. */
async function failWith(error: unknown) {
  const reported: string[] = [];
  const context = {
    environment: {},
    now: () => 0,
    print: (text: string) => assert.fail(text),
    reportError: (text: string) => void reported.push(text),
  };
  const addFail: AddCommands = (program) => {
    program.command("fail").action(() => {
      throw error;
    });
  };
  return { exitCode: await run(["fail"], context, [addFail]), reported };
}

test("what a command throws on purpose ends it with its code and one line", async () => {
  for (const exitCode of [exitCodes.inputRefused, exitCodes.conflict, exitCodes.busy])
    assert.deepEqual(await failWith(new CommandFault(exitCode, "Line 7 is no record.")), {
      exitCode,
      reported: ["error: Line 7 is no record."],
    });
});

test("a fault nobody expected ends with 1 and a stack trace to report", async () => {
  const { exitCode, reported } = await failWith(new TypeError("undefined is not a function"));
  assert.equal(exitCode, exitCodes.unexpected);
  assert.match(
    reported.join("\n"),
    /^error: unexpected fault: TypeError: undefined is not a function\n +at /,
  );
  assert.equal((await failWith("a text")).exitCode, exitCodes.unexpected);
});

test("a key given in the wrong place is never repeated", async (t) => {
  const key = "gpr_R7mQ2xVb9TzK4pWn8LsJ3hYd6FgC1a2kDPFA";
  const dataDir = temporaryFolder(t);
  for (const args of [
    [key],
    ["keys", key],
    ["keys", "list", `--${key}`],
    ["keys", "list", "--account", key],
    ["keys", "revoke", key],
    ["keys", "rotate", key],
    ["keys", "create", "--account", "a", "--name", "b", "--expires", key],
    ["accounts", "suspend", key],
  ]) {
    const { exitCode, out, err } = await command(args, { dataDir });
    assert.notEqual(exitCode, exitCodes.done);
    assert.ok(err.includes("gpr_R7mQ…"), err);
    assert.ok(!(out + err).includes(key.slice(8)), err);
  }
});

test("a wrong command, option or argument ends with 2 and one line that names it", async (t) => {
  const dataDir = temporaryFolder(t);
  for (const [words, ...args] of [
    [/unknown command 'key'/, "key"],
    [/unknown command 'lst'.*Did you mean list/, "keys", "lst"],
    [/unknown option '--jsn'.*Did you mean --json/, "keys", "list", "--jsn"],
    [/required option '--account <account>' not specified/, "keys", "create", "--name", "a"],
    [
      /required option '--name <name>' not specified\. See `gp-records accounts create --help`\./,
      "accounts",
      "create",
    ],
    [/missing required argument 'id'/, "keys", "revoke"],
    [/too many arguments/, "accounts", "suspend", "a", "b"],
    [/name of the account must not be empty/, "accounts", "create", "--name", " "],
  ] as [RegExp, ...string[]][]) {
    const { exitCode, out, err } = await command(args, { dataDir });
    assert.equal(exitCode, exitCodes.usage, err);
    assert.equal(out, "");
    assert.match(err, words);
    assert.match(err, /^error: .*\n$/);
  }
});

test("what is not there, or what the present state forbids, ends with 4", async (t) => {
  const dataDir = temporaryFolder(t);
  const codeOf = async (...args: string[]) => (await command(args, { dataDir })).exitCode;
  assert.equal(await codeOf("accounts", "create", "--name", "Acme"), exitCodes.done);
  assert.equal(await codeOf("accounts", "create", "--name", "ACME"), exitCodes.conflict);
  assert.equal(await codeOf("accounts", "resume", "Beta"), exitCodes.conflict);
  assert.equal(
    await codeOf("keys", "create", "--account", "Beta", "--name", "a"),
    exitCodes.conflict,
  );
  assert.equal(await codeOf("keys", "list", "--account", ""), exitCodes.conflict);
  assert.equal(await codeOf("keys", "revoke", "key_nothing"), exitCodes.conflict);
  const newer = new DatabaseSync(controlFile(dataDir));
  newer.exec("insert into schema_step values ('9999-of-tomorrow')");
  newer.close();
  assert.equal(await codeOf("accounts", "list"), exitCodes.conflict);
});

test("a store that another process keeps locked ends with 5, within the time it is given", async (t) => {
  const dataDir = temporaryFolder(t);
  await (await openControl(dataDir)).close();
  const other = new DatabaseSync(controlFile(dataDir));
  other.exec("begin immediate");
  const { exitCode, err } = await command(["accounts", "create", "--name", "Acme"], { dataDir });
  assert.equal(exitCode, exitCodes.busy);
  assert.match(err, /^error: Another process is writing .*control\.sqlite.*\n$/);
  assert.equal((await command(["accounts", "list"], { dataDir })).exitCode, exitCodes.done);
  other.close();
});

test("--version prints the version of the package", async (t) => {
  const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
  for (const option of ["--version", "-V"])
    assert.deepEqual(await command([option], { dataDir: temporaryFolder(t) }), {
      exitCode: exitCodes.done,
      out: `${version}\n`,
      err: "",
    });
});

test("every command explains itself with --help", async (t) => {
  const dataDir = temporaryFolder(t);
  const paths = [
    [],
    ["accounts"],
    ...["create", "list", "limits", "suspend", "resume"].map((name) => ["accounts", name]),
    ["keys"],
    ...["create", "list", "revoke", "rotate"].map((name) => ["keys", name]),
  ];
  for (const path of paths) {
    const { exitCode, out, err } = await command([...path, "--help"], { dataDir });
    assert.equal(exitCode, exitCodes.done, err);
    assert.match(
      out,
      new RegExp(`^Usage: ${["gp-records", ...path].join(" ")} .*\n\n[a-zA-Z]{3,}`),
    );
    if (path.length === 2) assert.match(out, /--json +print the result as JSON/);
  }
});

test("the help of every command ends with an example, which the command takes", async () => {
  const examples: string[] = [];
  const printed: string[] = [];
  const context = {
    environment: {},
    now: () => 0,
    print: (text: string) => void printed.push(text),
    reportError: assert.fail,
  };
  const program = new Command("gp-records").exitOverride();
  for (const add of commandParts) add(program, context);
  const walk = async (command: Command, path: string[]): Promise<void> => {
    for (const below of command.commands) await walk(below, [...path, below.name()]);
    if (command.commands.length > 0) return;
    command.action(() => void examples.push(path.join(" ")));
    assert.equal(await run([...path, "--help"], context, commandParts), exitCodes.done);
    const [, example = ""] = /\nExample:\n  gp-records (.*)$/.exec(printed.at(-1)!) ?? [];
    await program.parseAsync(example.replace(/ >.*/, "").split(" "), { from: "user" });
    assert.equal(examples.at(-1), path.join(" "), example);
  };
  await walk(program, []);
  assert.ok(examples.length > 30);
});

test("a family of commands without a command explains itself and ends with 2", async (t) => {
  const { exitCode, err } = await command(["keys"], { dataDir: temporaryFolder(t) });
  assert.equal(exitCode, exitCodes.usage);
  assert.match(err, /^Usage: gp-records keys/);
});
