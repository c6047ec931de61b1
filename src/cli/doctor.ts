/** `gp-records doctor`: looks for what is wrong, and says how to mend it. */
import type { Command } from "commander";
import type { Result } from "#doctor/check.ts";
import { CommandFault, exitCodes } from "./command-fault.ts";
import type { CliContext } from "./context.ts";
import { jsonOption, onOneLine, type OutputOptions, printResult } from "./output.ts";

export function addDoctorCommand(program: Command, context: CliContext): void {
  program
    .command("doctor")
    .description(
      "look for what is wrong with settings, data folder and machine, and say how to mend it; changes nothing",
    )
    .option(...jsonOption)
    .action(async (options: OutputOptions) => {
      const { examine } = await import("#doctor/check.ts");
      const { checks } = await import("#doctor/index.ts");
      const results = await examine(checks, {
        environment: context.environment,
        environmentFile: context.environmentFile ?? null,
      });
      const failed = results.filter(({ status }) => status === "fail").length;
      printResult(context, options, { healthy: failed === 0, checks: results }, () =>
        textOf(results),
      );
      if (failed > 0)
        throw new CommandFault(
          exitCodes.unhealthy,
          `Found ${failed} thing${failed === 1 ? "" : "s"} to mend.`,
        );
    });
}

/** A line for each finding; the mend on a line of its own below it. */
function textOf(results: readonly Result[]): string {
  const width = Math.max(...results.map(({ check }) => check.length));
  return results
    .flatMap(({ status, check, found, mend }) => [
      `${status.padEnd(4)}  ${check.padEnd(width)}  ${onOneLine(found)}`,
      ...(mend === null ? [] : [`${" ".repeat(width + 8)}→ ${onOneLine(mend)}`]),
    ])
    .join("\n");
}
