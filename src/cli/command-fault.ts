/** How a command ends on purpose: one line for the person at the terminal and an exit code. */
import type { ExitCode } from "./exit-codes.ts";

export class CommandFault extends Error {
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string) {
    super(message);
    this.name = "CommandFault";
    this.exitCode = exitCode;
  }
}
