/** `gp-records instances`: lists the servers that share datasets, and the dataset that each serves. */
import { readConfig } from "#config.ts";
import { command } from "./command.ts";
import { usageFault } from "./command-fault.ts";
import { lookAtDatasets } from "./datasets-folder.ts";
import { table } from "./output.ts";

export const instancesCommand = command({
  name: "instances",
  description:
    "list the servers that use the database of DATABASE_URL, and the dataset that each one serves",
  example: "instances --json",
  run: async (_, context) => {
    if (readConfig(context.environment).databaseUrl === null)
      throw usageFault(
        "DATABASE_URL is not set, so each server has its own datasets. To list the servers that share a database, set DATABASE_URL to the URL of that database.",
      );
    return lookAtDatasets(context, (store) => store.servers());
  },
  text: (instances) =>
    table(
      instances.map((one) => {
        return { ...one, pid: String(one.pid), state: one.live ? "running" : "not seen lately" };
      }),
      ["host", "pid", "state", "seen_at", "program", "formats", "served"],
      "No server was seen in the last 24 hours.",
    ),
});
