/** Builds the command line from its parts, runs a command and returns its exit code. */
import { readFileSync } from "node:fs";
import { findPackageJSON } from "node:module";
import { Command, CommanderError } from "commander";
import { ConfigFault } from "#config.ts";
import { DatasetFault } from "#datasets/dataset-fault.ts";
import { ImportFault } from "#importers/import-fault.ts";
import { maskKeys } from "#problems.ts";
import { DomainError, type DomainErrorKind } from "#store/store-fault.ts";
import { CommandFault, type ExitCode, exitCodes } from "./command-fault.ts";
import type { AddCommands, CliContext } from "./command.ts";
import { harmless, onOneLine } from "./output.ts";

/**
 * Runs a command. Escapes control characters, except line breaks, in its output, wherever they come from.
 * @param args without the program's own name.
 */
export async function run(
  args: readonly string[],
  given: CliContext,
  parts: readonly AddCommands[],
): Promise<ExitCode> {
  const context: CliContext = {
    ...given,
    print: (text) => given.print(lineOf(text)),
    reportError: (text) => given.reportError(lineOf(text)),
  };
  const program = emptyProgram(context);
  for (const addCommands of parts) addCommands(program, context);
  pointToHelp(program, "gp-records");
  try {
    await program.parseAsync([...args], { from: "user" });
    return exitCodes.done;
  } catch (error) {
    return report(error, context);
  }
}

/** Returns harmless text without its last line feed, which the printer adds. */
const lineOf = (text: string) => harmless(text).replace(/\n$/, "");

/**
 * Returns a program without commands. Commands made by its `command()` inherit these settings. An option after a
 * command's name belongs to the command, so a command may have its own `--version`.
 */
function emptyProgram({ print, reportError }: CliContext): Command {
  return new Command("gp-records")
    .description(
      "Publishes records of General Partners over HTTP. Settings come from the environment and a .env file in the working folder (docs/settings.md).",
    )
    .version(programVersion(), "-V, --version", "print the version")
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: print,
      writeErr: (text) => reportError(maskKeys(text)),
    });
}

/** Makes the usage errors of a command, and of all commands below it, point to their help. */
function pointToHelp(command: Command, path: string): void {
  const where = `See \`${path} --help\`.`;
  command.configureOutput({
    // Commander puts a suggestion on a line of its own, but an error should be one line.
    outputError: (text, write) => {
      const line = text.trim().replaceAll("\n", " ");
      write(`${line}${/[.)]$/.test(line) ? "" : "."} ${where}`);
    },
  });
  for (const below of command.commands) pointToHelp(below, `${path} ${below.name()}`);
}

/** Reports an error, with its stack trace only if it is unexpected. Returns the exit code. */
function report(error: unknown, { reportError }: CliContext): ExitCode {
  const exitCode = exitCodeOf(error);
  // Commander has already reported its own errors.
  if (error instanceof CommanderError) return exitCode;
  for (const line of linesOf(error, exitCode)) reportError(maskKeys(`error: ${line}`));
  return exitCode;
}

/** Returns an error's lines. Escapes line breaks in expected errors, because files and arguments may contain them. */
function linesOf(error: unknown, exitCode: ExitCode): readonly string[] {
  const { message = String(error), stack = message } = (error ?? {}) as Partial<Error>;
  if (exitCode === exitCodes.unexpected) return [`unexpected fault: ${stack}`];
  if (error instanceof ConfigFault) return error.faults.map(onOneLine);
  if (error instanceof ImportFault) return error.lines.map(onOneLine);
  return [onOneLine(message)];
}

const storeExitCodes: Readonly<Record<DomainErrorKind, ExitCode>> = {
  not_found: exitCodes.conflict,
  conflict: exitCodes.conflict,
  invalid: exitCodes.usage,
  refused: exitCodes.conflict,
  too_often: exitCodes.busy,
  unusable: exitCodes.usage,
  full: exitCodes.diskFull,
  busy: exitCodes.busy,
};

function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof CommandFault) return error.exitCode;
  if (error instanceof DomainError) return storeExitCodes[error.kind];
  if (error instanceof ConfigFault) return exitCodes.usage;
  if (error instanceof ImportFault) return exitCodes.inputRefused;
  if (error instanceof DatasetFault)
    return error.kind === "full" ? exitCodes.diskFull : exitCodes.conflict;
  if (error instanceof CommanderError)
    return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
  return exitCodes.unexpected;
}

export const programVersion = (): string =>
  (JSON.parse(readFileSync(findPackageJSON(import.meta.url)!, "utf8")) as { version: string })
    .version;
