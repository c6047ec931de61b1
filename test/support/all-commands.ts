/** Runs any command here, in one data folder and at noon, or with a clock of the test's. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { Command } from "commander";
import { exitCodes } from "#cli/command-fault.ts";
import { loadCommands } from "#cli/command-parts.ts";
import { run } from "#cli/program.ts";
import type { Outcome } from "./command-line.ts";
import { noon } from "./control.ts";
import { storePlace } from "./for-each-store.ts";

const commands = await loadCommands();

export function allCommands(
  dataDir: string,
  settings: Record<string, string> = {},
  now: () => number = () => noon,
  wait: (milliseconds: number) => Promise<unknown> = async () => {},
) {
  /** Takes the words before the first that may hold a blank as one text: `accounts limits --per-day 5 --json`. */
  const start = async (...words: string[]): Promise<Outcome> => {
    const [begun = "", ...others] = words;
    let out = "";
    let err = "";
    const context = {
      environment: { DATA_DIR: dataDir, ...settings },
      now,
      wait,
      print: (text: string) => void (out += `${text}\n`),
      reportError: (text: string) => void (err += `${text}\n`),
    };
    return { exitCode: await run([...begun.split(" "), ...others], context, commands), out, err };
  };
  /** What the command prints; it must succeed, and say nothing as an error. */
  const text = async (...args: string[]) => {
    const { exitCode, out, err } = await start(...args);
    assert.equal(exitCode, exitCodes.done, err);
    assert.equal(err, "");
    return out;
  };
  const json = async (...args: string[]) => JSON.parse(await text(...args, "--json"));
  /** What the command prints as errors; it must end with this code. */
  const refusal = async (code: number, ...args: string[]) => {
    const { exitCode, err } = await start(...args);
    assert.equal(exitCode, code, err);
    return err;
  };
  return { start, text, json, refusal };
}

/** The same in a fresh place, on the engine of the test. */
export async function commandsOnStore(t: TestContext, settings: Record<string, string> = {}) {
  const place = await storePlace(t);
  const database = { DATABASE_URL: place.databaseUrl ?? "" };
  return { place, ...allCommands(place.dataDir, { ...database, ...settings }) };
}

/** All commands by their words, without the families they are in, and the long options of each. */
export function listCommands(): { path: string; options: string[] }[] {
  const program = new Command("gp-records");
  const context = { environment: {}, now: () => 0, print() {}, reportError() {} };
  for (const addCommands of commands) addCommands(program, context);
  const below = (command: Command, path: string[]): ReturnType<typeof listCommands> =>
    command.commands.length > 0
      ? command.commands.flatMap((child) => below(child, [...path, child.name()]))
      : [{ path: path.join(" "), options: command.options.map(({ long }) => long!) }];
  return below(program, []);
}
