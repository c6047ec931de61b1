/** Every command, in the order `--help` shows them. */
import { addAccountCommands } from "./accounts.ts";
import { addBackupCommand } from "./backup.ts";
import { addDatasetCommands } from "./datasets.ts";
import { addDoctorCommand } from "./doctor.ts";
import { addImportCommands } from "./import.ts";
import { addKeyCommands } from "./keys.ts";
import { addOpenapiCommand } from "./openapi.ts";
import type { AddCommands } from "./program.ts";
import { addRestoreCommand } from "./restore.ts";
import { addServeCommand } from "./serve.ts";

export const commandParts: readonly AddCommands[] = [
  addServeCommand,
  addImportCommands,
  addDatasetCommands,
  addAccountCommands,
  addKeyCommands,
  addBackupCommand,
  addRestoreCommand,
  addDoctorCommand,
  addOpenapiCommand,
];
