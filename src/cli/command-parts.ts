/** All commands, in the order in which `--help` shows them. */
import type { AddCommands } from "./command.ts";

/** Loaders of the commands and families, by name. Each command waits only for its own code. */
const loaders: Readonly<Record<string, () => Promise<AddCommands>>> = {
  serve: async () => (await import("./serve.ts")).serveCommand,
  import: async () => (await import("./import.ts")).importCommands,
  sync: async () => (await import("./sync.ts")).syncCommands,
  datasets: async () => (await import("./datasets.ts")).datasetCommands,
  suppress: async () => (await import("./suppress.ts")).suppressCommands,
  export: async () => (await import("./records.ts")).exportCommand,
  match: async () => (await import("./records.ts")).matchCommand,
  explain: async () => (await import("./explain.ts")).explainCommand,
  instances: async () => (await import("./datasets.ts")).instancesCommand,
  accounts: async () => (await import("./accounts.ts")).accountCommands,
  plans: async () => (await import("./accounts.ts")).planCommands,
  keys: async () => (await import("./keys.ts")).keyCommands,
  audit: async () => (await import("./usage.ts")).auditCommands,
  requests: async () => (await import("./usage.ts")).requestCommands,
  usage: async () => (await import("./usage.ts")).usageCommands,
  migrate: async () => (await import("./installation.ts")).migrateCommand,
  backup: async () => (await import("./backup.ts")).backupCommand,
  restore: async () => (await import("./backup.ts")).restoreCommand,
  doctor: async () => (await import("./installation.ts")).doctorCommand,
  openapi: async () => (await import("./openapi.ts")).openapiCommand,
};

/** Loads the command or family of this name, or all if there is none, as for `--help`. */
export const loadCommands = (name = ""): Promise<readonly AddCommands[]> =>
  Promise.all(
    (Object.hasOwn(loaders, name) ? [loaders[name]!] : Object.values(loaders)).map((load) =>
      load(),
    ),
  );
