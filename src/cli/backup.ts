/** `gp-records backup`: saves keys, usage and the datasets that are served or pinned in one file, beside running servers. */
import type { Command } from "commander";
import type { MadeBackup } from "#backups/make-backup.ts";
import { isNoRoom } from "#datasets/disk-space.ts";
import { readConfig } from "#config.ts";
import { CommandFault, exitCodes } from "./command-fault.ts";
import type { CliContext } from "./context.ts";
import { jsonOption, type OutputOptions, printResult } from "./output.ts";
import { programVersion } from "./program-version.ts";

interface BackupOptions extends OutputOptions {
  control?: boolean;
  requests?: boolean;
  force?: boolean;
}

export function addBackupCommand(program: Command, context: CliContext): void {
  program
    .command("backup")
    .description(
      "save keys, usage, the dataset that is served and pinned ones in one file; servers may run",
    )
    .argument("<file>", "tar archive to make, or - for standard output")
    .option("--control", "accounts, keys, people and the audit log alone, for every few minutes")
    .option("--requests", "the request log, too, which may be large")
    .option("--force", "replace a file of this name")
    .option(...jsonOption)
    .action(async (file: string, options: BackupOptions) => {
      const isToOutput = file === "-";
      const made = await make(context, file, options).catch((error: unknown) => {
        throw fileFault(error, isToOutput ? "standard output" : file);
      });
      // Standard output carries the archive itself then.
      const print = isToOutput ? context.reportError : context.print;
      printResult({ ...context, print }, options, madeJson(made, file), () =>
        madeText(made, isToOutput ? "standard output" : file, options),
      );
    });
}

async function make(
  context: CliContext,
  file: string,
  { control, requests, force }: BackupOptions,
): Promise<MadeBackup> {
  if (control === true && requests === true)
    throw new CommandFault(
      exitCodes.usage,
      "--control is for accounts and keys alone. Leave away either it or --requests.",
    );
  const { backupToFile, backupToStream } = await import("#backups/make-backup.ts");
  const { dataDir, databaseUrl } = readConfig(context.environment);
  const order = {
    dataDir,
    databaseUrl,
    program: programVersion(),
    now: context.now(),
    isControlOnly: control === true,
    hasRequests: requests === true,
  };
  if (file !== "-") return backupToFile(order, file, force === true);
  if (process.stdout.isTTY)
    throw new CommandFault(
      exitCodes.usage,
      "A backup is no text for a terminal. Redirect it: gp-records backup - > FILE",
    );
  return backupToStream(order, writeOut);
}

/** Resolves when the reader has taken it, so that nothing piles up in memory. */
const writeOut = (bytes: Buffer) =>
  new Promise<void>((resolve, reject) => {
    process.stdout.write(bytes, (error) => (error ? reject(error) : resolve()));
  });

function fileFault(error: unknown, file: string): unknown {
  const { code, syscall, path = file } = error as NodeJS.ErrnoException;
  if (syscall === undefined) return error;
  return new CommandFault(
    isNoRoom(error) ? exitCodes.diskFull : exitCodes.usage,
    `No backup was made: ${path} cannot be used (${code}). Choose another place, or give this user access to it.`,
  );
}

const madeJson = ({ manifest, bytes, sha256 }: MadeBackup, file: string) => ({
  file,
  bytes,
  sha256,
  made_at: manifest.made_at,
  dataset: manifest.dataset,
  pinned: manifest.pinned,
  requests: manifest.requests,
  files: manifest.files,
});

const madeText = (
  { manifest, bytes, sha256 }: MadeBackup,
  file: string,
  { control }: BackupOptions,
) =>
  [
    `Saved ${manifest.files.map(({ path }) => path).join(", ")} in ${file}: ${bytes.toLocaleString("en-US")} bytes.`,
    ...(manifest.dataset === null && control !== true
      ? ["No dataset is published, so none is in it."]
      : []),
    ...(manifest.requests || control === true
      ? []
      : ["The request log is not in it; --requests saves it, too."]),
    `Its SHA-256 is ${sha256}. \`gp-records restore --dry-run\` of it, with DATA_DIR set to another folder, checks it.`,
  ].join("\n");
