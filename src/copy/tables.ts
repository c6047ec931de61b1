/** The tables that a copy takes over, and those that it does not. */
import type { ControlTables } from "#store/control-tables.ts";
import type { UsageTables } from "#store/usage-tables.ts";
import type { CopiedTable } from "./equal-tables.ts";

/** Parents before those that refer to them. */
export const controlTables: readonly (CopiedTable & { name: keyof ControlTables })[] = [
  { name: "plan", key: ["name"] },
  { name: "account", key: ["number"], unshared: "name_folded" },
  { name: "api_key", key: ["id"], unshared: "form" },
  { name: "person", key: ["id"], unshared: "email_folded" },
  { name: "member", key: ["account", "person"] },
  { name: "session", key: ["digest"] },
  { name: "known_browser", key: ["digest"] },
  { name: "link", key: ["digest"] },
  { name: "throttle", key: ["subject"] },
  { name: "audit", key: ["number"] },
  { name: "notice", key: ["account", "kind", "subject"] },
];

/** Totals by the hour, and the last use of keys. */
export const usageTables: readonly (CopiedTable & { name: keyof UsageTables })[] = [
  { name: "key_use", key: ["key_id"] },
  {
    name: "usage_hour",
    key: ["account", "hour", "key", "operation", "status"],
    hundredths: "milliseconds",
  },
];

const logged =
  "the request log is copied request by request, as each engine numbers them in its own way";

/** Tables of either engine that are not copied row by row, each with the reason; a test knows of no others. */
export const tablesLeft: Readonly<Record<string, string>> = {
  key_change: "tells servers what to read anew, and each installation counts by itself",
  kysely_migration: "the schema of the file",
  kysely_migration_lock: "the schema of the file",
  schema_step: "the schema of the database",
  move: "the mark of the move itself",
  instance: "the servers that run on the database",
  dataset: "copied as datasets, whose files may be in a folder",
  dataset_part: "copied as datasets",
  dataset_state: "copied as datasets",
  dataset_file: "nothing writes it",
  dataset_publication: "copied with the datasets, as publications",
  dataset_step: "copied with the datasets, as steps",
  dataset_step_part: "copied with the datasets, as steps",
  quota_count: "copied as counts, which may be elsewhere",
  quota_charge: "charges of servers that run",
  usage_writer: "batches of servers that run",
  request_counter: "gives out numbers of requests, which begin anew",
  usage_recent: "copied with the request log",
  request_recent: logged,
  request_group: logged,
  request_block: logged,
  request_run: logged,
  request_text_id: logged,
  request_log_start: logged,
};
