/** Expected failure of a command: one line for the person at the terminal, and an exit code. */

/** The exit codes of every command, as docs/running.md lists them. */
export const exitCodes = {
  done: 0,
  /** A fault of the program; the only case that prints a stack trace. */
  unexpected: 1,
  /** A wrong option, argument or setting. */
  usage: 2,
  /** The input of an import was refused. */
  inputRefused: 3,
  /** Nothing has this name, or the current state does not allow the change. */
  conflict: 4,
  /** Another process holds what is needed; trying again may help. */
  busy: 5,
  /** `doctor` or `datasets verify` found something to mend. */
  unhealthy: 6,
  /** A source would lose more of its records than `--max-shrink` allows. */
  shrunk: 7,
  /** The disk has no room for what was to be written. */
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
