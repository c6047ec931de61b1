/** Every command, in the order `--help` shows them. */
import { addAccountCommands } from "./accounts.ts";
import { addAuditCommands } from "./audit.ts";
import { addBackupCommand } from "./backup.ts";
import { addDatasetCommands } from "./datasets.ts";
import { addDoctorCommand } from "./doctor.ts";
import { addExportCommand } from "./export.ts";
import { addImportCommands } from "./import.ts";
import { addInstancesCommand } from "./instances.ts";
import { addKeyCommands } from "./keys.ts";
import { addMigrateCommand } from "./migrate.ts";
import { addOpenapiCommand } from "./openapi.ts";
import { addPlanCommands } from "./plans.ts";
import type { AddCommands } from "./program.ts";
import { addRequestCommands } from "./requests.ts";
import { addRestoreCommand } from "./restore.ts";
import { addServeCommand } from "./serve.ts";
import { addUsageCommands } from "./usage.ts";
import { addVocabularyCommand } from "./vocabulary.ts";

export const commandParts: readonly AddCommands[] = [
  addServeCommand,
  addImportCommands,
  addDatasetCommands,
  addVocabularyCommand,
  addExportCommand,
  addInstancesCommand,
  addAccountCommands,
  addPlanCommands,
  addKeyCommands,
  addAuditCommands,
  addRequestCommands,
  addUsageCommands,
  addMigrateCommand,
  addBackupCommand,
  addRestoreCommand,
  addDoctorCommand,
  addOpenapiCommand,
];
