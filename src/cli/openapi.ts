/** `gp-records openapi`: the description of the API, as `/openapi.json` serves it. */
import { readFileSync, writeFileSync } from "node:fs";
import { type Command, Option } from "commander";
import { readConfig } from "#config.ts";
import { CommandFault, exitCodes } from "./command-fault.ts";
import type { CliContext } from "./context.ts";

export function addOpenapiCommand(program: Command, context: CliContext): void {
  program
    .command("openapi")
    .description("print the description of the API (OpenAPI 3.1)")
    .option("--write <file>", "write it to a file instead")
    .addOption(
      new Option("--check <file>", "compare it with a file, and fail where they differ").conflicts(
        "write",
      ),
    )
    .action(async (options: { write?: string; check?: string }) => {
      const { pageSizeMax } = readConfig(context.environment);
      const text = await describe(pageSizeMax);
      if (options.write !== undefined) write(options.write, text);
      else if (options.check !== undefined) compare(options.check, text);
      else context.print(text.trimEnd());
    });
}

/** Loads what it needs here, so that no other command waits for it. */
async function describe(pageSizeMax: number): Promise<string> {
  const { describeApi } = await import("#http/describe-api.ts");
  const { operations } = await import("#operations/index.ts");
  return `${JSON.stringify(describeApi(operations, pageSizeMax), null, 2)}\n`;
}

function write(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    throw fileFault(file, "written", error);
  }
}

function compare(file: string, text: string): void {
  if (read(file) === text) return;
  throw new CommandFault(
    exitCodes.conflict,
    `${file} is not what the service describes. Write it anew with 'npm run openapi', and look at the difference.`,
  );
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw fileFault(file, "read", error);
  }
}

const fileFault = (file: string, done: "written" | "read", error: unknown) =>
  new CommandFault(
    exitCodes.usage,
    `${file} cannot be ${done} (${(error as NodeJS.ErrnoException).code}).`,
  );
