/** `gp-records restore`: puts a backup in place of what is in the data folder, without reviving a key. */
import { createReadStream, statSync } from "node:fs";
import type { Command } from "commander";
import type { Archive } from "#backups/unpack.ts";
import { whyNotRead } from "#datasets/unread-file.ts";
import { CommandFault } from "./command-fault.ts";
import { dataDirOf } from "./data-dir.ts";
import { dataFolderFault } from "./datasets-folder.ts";
import { exitCodes } from "./exit-codes.ts";
import { jsonOption, type OutputOptions, printResult } from "./output.ts";
import { restoredJson, restoredText } from "./restore-report.ts";
import type { Surroundings } from "./surroundings.ts";

interface RestoreOptions extends OutputOptions {
  replace?: boolean;
  undoRevocations?: boolean;
  dryRun?: boolean;
}

export function addRestoreCommand(program: Command, surroundings: Surroundings): void {
  program
    .command("restore")
    .description("put a backup in place; the server must not run")
    .argument("<file>", "what `backup` made, or - for standard input")
    .option("--replace", "replace what is in the data folder, and keep it aside")
    .option(
      "--undo-revocations",
      "let keys and accounts work again that were ended after the backup was made",
    )
    .option("--dry-run", "check the backup, tell what would change, and change nothing")
    .option(...jsonOption)
    .action(async (file: string, options: RestoreOptions) => {
      const { restoreBackup } = await import("#backups/restore.ts");
      const dataDir = dataDirOf(surroundings);
      const isTrial = options.dryRun === true;
      const archive = openArchive(file);
      const restored = await restoreBackup({
        dataDir,
        archive,
        now: surroundings.now(),
        mayReplace: options.replace === true || isTrial,
        undoesEndings: options.undoRevocations === true,
        isTrial,
      }).catch((error: unknown) => {
        throw dataFolderFault(error, dataDir);
      });
      printResult(surroundings, options, restoredJson(restored, isTrial), () =>
        restoredText(restored, archive.name, isTrial),
      );
    });
}

function openArchive(file: string): Archive {
  if (file === "-") return { name: "standard input", read: () => process.stdin };
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true)
    throw new CommandFault(
      exitCodes.usage,
      `${file} is not a file. Name one that \`gp-records backup\` made.`,
    );
  // Asked before the data folder is made or locked, whose faults are mended in another way.
  const why = whyNotRead(file);
  if (why !== null)
    throw new CommandFault(
      exitCodes.usage,
      `${file} cannot be read: ${why}. Give this user read access to it.`,
    );
  return { name: file, read: () => createReadStream(file, { highWaterMark: 1024 * 1024 }) };
}
