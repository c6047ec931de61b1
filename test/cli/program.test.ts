import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { constants, getPriority } from "node:os";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { Command, InvalidArgumentError } from "commander";
import { CommandFault, exitCodes } from "#cli/command-fault.ts";
import { loadCommands } from "#cli/command-parts.ts";
import type { AddCommands } from "#cli/command.ts";
import { parseMoment } from "#cli/option-values.ts";
import { harmless, table } from "#cli/output.ts";
import { run } from "#cli/program.ts";
import { controlFile } from "#store/sqlite-file.ts";
import { allCommands } from "../support/all-commands.ts";
import { outcomeOfScript } from "../support/command-line.ts";
import { day, noon } from "../support/control.ts";
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

test("a table has as many rows as there are", () => {
  const rows = Array.from({ length: 150_000 }, (_, id) => ({ id }));
  assert.match(table(rows, ["id"]), /^ID\n0\n[^]*\n149,999$/);
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
  for (const line of [
    key,
    `keys ${key}`,
    `keys list --${key}`,
    `keys list --account ${key}`,
    `keys revoke ${key}`,
    `keys rotate ${key}`,
    `keys create --account a --name b --expires ${key}`,
    `accounts suspend ${key}`,
  ]) {
    const { exitCode, out, err } = await allCommands(dataDir).start(line);
    assert.notEqual(exitCode, exitCodes.done);
    assert.ok(err.includes("gpr_R7mQ…"), err);
    assert.ok(!(out + err).includes(key.slice(8)), err);
  }
});

test("a wrong command, option or argument ends with 2 and one line that names it", async (t) => {
  const { start } = allCommands(temporaryFolder(t));
  for (const [words, ...args] of [
    [/unknown command 'key'/, "key"],
    [/unknown command 'lst'.*Did you mean list/, "keys lst"],
    [/unknown option '--jsn'.*Did you mean --json/, "keys list --jsn"],
    [/required option '--account <account>' not specified/, "keys create --name a"],
    [
      /required option '--name <name>' not specified\. See `gp-records accounts create --help`\./,
      "accounts create",
    ],
    [/missing required argument 'id'/, "keys revoke"],
    [/too many arguments/, "accounts suspend a b"],
    [/name of the account must not be empty/, "accounts create --name", " "],
  ] as [RegExp, ...string[]][]) {
    const { exitCode, out, err } = await start(...args);
    assert.equal(exitCode, exitCodes.usage, err);
    assert.equal(out, "");
    assert.match(err, words);
    assert.match(err, /^error: .*\n$/);
  }
});

test("--version prints the version of the package", async (t) => {
  const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
  for (const option of ["--version", "-V"])
    assert.equal(await allCommands(temporaryFolder(t)).text(option), `${version}\n`);
});

test("every command explains itself with --help, whose example it takes", async () => {
  const examples: string[] = [];
  const printed: string[] = [];
  const context = {
    environment: {},
    now: () => 0,
    print: (text: string) => void printed.push(text),
    reportError: assert.fail,
  };
  const program = new Command("gp-records").exitOverride();
  const parts = await loadCommands();
  for (const add of parts) add(program, context);
  const walk = async (command: Command, path: string[]): Promise<void> => {
    for (const below of command.commands) await walk(below, [...path, below.name()]);
    assert.equal(await run([...path, "--help"], context, parts), exitCodes.done);
    const help = printed.splice(0).join("");
    const usage = `^Usage: ${["gp-records", ...path].join(" ")} .*\n\n[a-zA-Z\`]{3,}`;
    assert.match(help, new RegExp(usage));
    if (command.commands.length > 0) return;
    if (/^(accounts|keys) /.test(path.join(" ")))
      assert.match(help, /--json +print the result as JSON/);
    command.action(() => void examples.push(path.join(" ")));
    const [, example = ""] = /\nExample:\n  gp-records (.*)$/.exec(help) ?? [];
    const words = example.replace(/ >.*/, "").match(/'[^']*'|\S+/g)!;
    const args = words.map((word) => word.replaceAll("'", ""));
    for (const word of args) if (word.startsWith("examples/")) readFileSync(word);
    await program.parseAsync(args, { from: "user" });
    assert.equal(examples.at(-1), path.join(" "), example);
  };
  await walk(program, []);
  assert.ok(examples.length > 30);
});

test("a family of commands without a command explains itself and ends with 2", async (t) => {
  const said = await allCommands(temporaryFolder(t)).refusal(exitCodes.usage, "keys");
  assert.match(said, /^Usage: gp-records keys/);
});

/** Sets the title of a terminal, clears it, by C1 too, rubs out, goes back to the start of the line, turns text around. */
const hostile = "\u001b]0;owned\u0007\u001b[2J\u009b2J\u007f\r\u202e\u2066";
const obeyed = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

/** All that any command prints or reports goes the same way. */
function commands(t: TestContext, settings: Record<string, string> = {}) {
  const dataDir = temporaryFolder(t);
  const { start } = allCommands(dataDir, settings);
  /** What it printed, errors included, which has to name what is hostile and hold none of it. */
  const said = async (exitCode: number, ...args: string[]) => {
    const { exitCode: code, out, err } = await start(...args);
    assert.equal(code, exitCode, out + err);
    assert.doesNotMatch(out + err, obeyed, args.join(" "));
    assert.match(out + err, /\\u(001b|009b|202e)/, args.join(" "));
    return out + err;
  };
  return { dataDir, said };
}

test("no control character of what a command prints reaches the terminal, nor does a line break in a name make a line", async (t) => {
  const { said, dataDir } = commands(t);
  const { text, json } = allCommands(dataDir);
  await text("accounts create --name Acme");
  await text("keys create --account Acme --name first");
  const name = `${hostile}\nforged`;
  using database = new DatabaseSync(controlFile(dataDir));
  database.prepare("update api_key set name = ?").run(name);
  assert.match(await said(exitCodes.done, "keys list"), /\\nforged/);
  assert.equal((await text("keys list")).trimEnd().split("\n").length, 2);
  const [key] = await json("keys list");
  assert.equal(key.name, name);
  assert.doesNotMatch(await text("keys list --json"), obeyed);
});

test("none of what it reports as an error does, be it of an argument or a setting", async (t) => {
  const { said } = commands(t);
  await said(exitCodes.usage, hostile);
  await said(exitCodes.conflict, "keys revoke", `${hostile}\nerror: forged`);
  await said(exitCodes.usage, "keys list", `--${hostile}`);
  const wrong = commands(t, { PORT: hostile });
  await wrong.said(exitCodes.usage, "keys list");
  assert.equal((await wrong.said(exitCodes.usage, "keys list")).split("\n").length, 2);
});

test("what programs read stays JSON that means the same", () => {
  const document = { name: hostile, list: ["a\tb", "\u2028", "ü 株 🏢"] };
  const text = harmless(JSON.stringify(document, null, 2));
  assert.doesNotMatch(text, obeyed);
  assert.deepEqual(JSON.parse(text), document);
  assert.ok(text.includes("ü 株 🏢"));
});

test("nor does a line of the server's log", async () => {
  const serve = import.meta.resolve("#cli/serve.ts");
  const { out } = await outcomeOfScript(`
    const { openLog } = await import(${JSON.stringify(serve)});
    const log = await openLog("info");
    log.logger.error({ err: new Error(${JSON.stringify(hostile)}) }, ${JSON.stringify(hostile)});
    await log.close();`);
  assert.doesNotMatch(out, obeyed);
  const { msg, err } = JSON.parse(out);
  assert.deepEqual([msg, err.message], [hostile, hostile]);
});

const parse = (text: string) => parseMoment(text)(noon);

test("a moment is a day, a time of UTC, or how long ago", () => {
  for (const [text, iso] of [
    ["2026-11-21", "2026-11-21T00:00:00.000Z"],
    ["2026-11-21T09:30Z", "2026-11-21T09:30:00.000Z"],
    ["2026-11-21T09:30:15Z", "2026-11-21T09:30:15.000Z"],
    ["2024-02-29T23:59:59.999Z", "2024-02-29T23:59:59.999Z"],
    ["24h", new Date(noon - day).toISOString()],
    ["30m", "2026-11-21T11:30:00.000Z"],
  ] as const)
    assert.equal(new Date(parse(text)).toISOString(), iso, text);
});

test("a moment that there is not, or of no certain zone, is refused with what one looks like", () => {
  for (const text of [
    "",
    "yesterday",
    "2026-11-31",
    "2026-02-29",
    "2026-13-01",
    "2026-11-21T09:30",
    "2026-11-21T24:00Z",
    "2026-11-21T09:60Z",
    "2026-11-21T09:30+01:00",
    "21.11.2026",
    "-1d",
    "1w",
  ])
    assert.throws(
      () => parse(text),
      (error) => error instanceof InvalidArgumentError && error.message.includes("2026-11-21"),
      text,
    );
});

const longCommands = [
  "import ndjson - --source own",
  "datasets verify",
  "suppress list",
  "backup b.tar",
  "restore b.tar",
  "doctor",
];

for (const command of longCommands)
  test(`\`${command}\` lowers its CPU priority`, async (t) => {
    const child = spawn(process.execPath, ["bin/gp-records", ...command.split(" ")], {
      env: { PATH: process.env["PATH"], DATA_DIR: temporaryFolder(t) },
      stdio: ["pipe", "ignore", "ignore"],
    });
    t.after(() => child.kill("SIGKILL"));
    // The import reads a line that it refuses.
    child.stdin.end("no record\n");
    const ended = once(child, "exit");
    let lowest = getPriority();
    for (; child.exitCode === null; await wait(1)) lowest = getPriority(child.pid!);
    await ended;
    assert.equal(lowest, constants.priority.PRIORITY_BELOW_NORMAL);
  });
