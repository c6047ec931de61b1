/** All commands, in the order in which `--help` shows them. */
import { accountCommands } from "./accounts.ts";
import { auditCommands } from "./audit.ts";
import { backupCommand } from "./backup.ts";
import type { AddCommands } from "./command.ts";
import { datasetCommands } from "./datasets.ts";
import { doctorCommand } from "./doctor.ts";
import { exportCommand } from "./export.ts";
import { importCommands } from "./import.ts";
import { instancesCommand } from "./instances.ts";
import { keyCommands } from "./keys.ts";
import { matchCommand } from "./match.ts";
import { migrateCommand } from "./migrate.ts";
import { openapiCommand } from "./openapi.ts";
import { planCommands } from "./plans.ts";
import { restoreCommand } from "./restore.ts";
import { serveCommand } from "./serve.ts";
import { requestCommands, usageCommands } from "./usage.ts";

export const commandParts: readonly AddCommands[] = [
  serveCommand,
  importCommands,
  datasetCommands,
  exportCommand,
  matchCommand,
  instancesCommand,
  accountCommands,
  planCommands,
  keyCommands,
  auditCommands,
  requestCommands,
  usageCommands,
  migrateCommand,
  backupCommand,
  restoreCommand,
  doctorCommand,
  openapiCommand,
];
