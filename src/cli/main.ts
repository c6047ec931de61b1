/** The command line of gp-records. No other module in `src` calls `process.exit`. */
import { withEnvironmentFile } from "#config/environment-file.ts";
import { exitCodes } from "./command-fault.ts";
import { onOneLine } from "./output.ts";

// The reader of the output may stop early (`| head`), or the disk may be full. Neither is a reason to stop a server.
process.stdout.on("error", () => {});
process.stderr.on("error", () => {});

/** Commands that may run for a long time beside a server, and so get a lower priority. */
const longCommands = new Set(
  "import sync datasets suppress export backup restore doctor".split(" "),
);

const { environment, file } = withEnvironmentFile(process.env);
if (file?.ignored)
  process.stderr.write(
    `warning: ${onOneLine(`${file.path} is ignored: it ${file.ignored.found}. ${file.ignored.mend}`)}\n`,
  );

let printFault: Error | undefined;
const args = process.argv.slice(2);
if (longCommands.has(args[0] ?? "")) (await import("#datasets/priority.ts")).lowerProcessPriority();
const { run } = await import("./program.ts");
const { loadCommands } = await import("./command-parts.ts");
const exitCode = await run(
  args,
  {
    environment,
    environmentFile: file,
    now: Date.now,
    print: (text) =>
      process.stdout.write(`${text}\n`, (error) => {
        printFault ??= error ?? undefined;
      }),
    reportError: (text) => process.stderr.write(`${text}\n`),
  },
  await loadCommands(args[0]),
);
// Called when all output has been written or has failed. A key that nobody was shown is not a success.
process.stdout.write("", () => {
  if (printFault !== undefined)
    process.stderr.write(
      `error: The output could not be written: ${printFault.message}. What the command changed stays changed.\n`,
    );
  process.exit(printFault === undefined ? exitCode : exitCodes.unexpected);
});
