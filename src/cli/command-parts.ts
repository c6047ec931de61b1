/** Every command, in the order `--help` shows them. */
import { addAccountCommands } from "./accounts.ts";
import { addDatasetCommands } from "./datasets.ts";
import { addImportCommands } from "./import.ts";
import { addKeyCommands } from "./keys.ts";
import { addOpenapiCommand } from "./openapi.ts";
import type { AddCommands } from "./program.ts";
import { addServeCommand } from "./serve.ts";

export const commandParts: readonly AddCommands[] = [
  addServeCommand,
  addImportCommands,
  addDatasetCommands,
  addAccountCommands,
  addKeyCommands,
  addOpenapiCommand,
];
