/** `gp-records backup`: saves keys, usage and the datasets that are served or pinned in one file, beside a running server. */
import type { Command } from "commander";
import type { MadeBackup } from "#backups/make-backup.ts";
import { isNoRoom } from "#datasets/disk-space.ts";
import { CommandFault, exitCodes } from "./command-fault.ts";
import type { CliContext } from "./context.ts";
import { dataDirOf, refuseDatabase } from "./data-dir.ts";
import { jsonOption, type OutputOptions, printResult } from "./output.ts";
import { programVersion } from "./program-version.ts";

interface BackupOptions extends OutputOptions {
  control?: boolean;
  force?: boolean;
}

export function addBackupCommand(program: Command, context: CliContext): void {
  program
    .command("backup")
    .description(
      "save keys, usage, the dataset that is served and pinned ones in one file; the server may run",
    )
    .argument("<file>", "tar archive to make, or - for standard output")
    .option("--control", "accounts, keys, people and the audit log alone, for every few minutes")
    .option("--force", "replace a file of this name")
    .option(...jsonOption)
    .action(async (file: string, options: BackupOptions) => {
      await refuseDatabase(
        context,
        `No backup was made: accounts, keys, ${options.control ? "people and the audit log" : "usage and datasets"} are in`,
        `Its own programs save them: pg_dump --format=custom --file=records.dump "$DATABASE_URL" (docs/running.md, 'From one machine to many').`,
      );
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
  { control, force }: BackupOptions,
): Promise<MadeBackup> {
  const { backupToFile, backupToStream } = await import("#backups/make-backup.ts");
  const order = {
    dataDir: dataDirOf(context),
    program: programVersion(),
    now: context.now(),
    isControlOnly: control === true,
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
  pinned: manifest.pinned ?? [],
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
    `Its SHA-256 is ${sha256}. \`gp-records restore --dry-run\` of it, with DATA_DIR set to another folder, checks it.`,
  ].join("\n");
