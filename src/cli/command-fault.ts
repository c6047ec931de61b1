/** Expected failures of commands: each has one line for the person at the terminal, and an exit code. */

/** Exit codes of all commands, as docs/running.md lists them. */
export const exitCodes = {
  done: 0,
  /** A fault of the program, printed with its stack trace, or output that could not be written. */
  unexpected: 1,
  /** A wrong option, argument or setting, or a file, folder or database that cannot be used. */
  usage: 2,
  /** The input of an import, or a file or page that a sync fetched, was refused. */
  inputRefused: 3,
  /** Nothing has this name, or the current state does not allow the change. */
  conflict: 4,
  /** Another process holds what the command needs, or a server does not answer. Trying again may help. */
  busy: 5,
  /** `doctor` or `datasets verify` found something to fix. */
  unhealthy: 6,
  /** A source would lose more records than `--max-shrink` allows, or too few vehicles have a GP for `--min-named`. */
  shrunk: 7,
  /** The disk has no room for what the command writes, or a quota or limit was reached. */
  diskFull: 8,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

export class CommandFault extends Error {
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string) {
    super(message);
    this.name = "CommandFault";
    this.exitCode = exitCode;
  }
}

export const usageFault = (message: string) => new CommandFault(exitCodes.usage, message);
