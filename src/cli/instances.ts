/** `gp-records instances`: lists the servers that share datasets, and the dataset that each serves. */
import { readConfig } from "#config.ts";
import { command } from "./command.ts";
import { CommandFault, exitCodes } from "./command-fault.ts";
import { lookAtDatasets } from "./datasets-folder.ts";
import { table, timeText } from "./output.ts";

export const instancesCommand = command({
  name: "instances",
  description:
    "list the servers on the database of DATABASE_URL, and the dataset that each one serves",
  example: "instances --json",
  run: async (_, context) => {
    if (readConfig(context.environment).databaseUrl === null)
      throw new CommandFault(
        exitCodes.usage,
        "DATABASE_URL is not set: a server that keeps its datasets in DATA_DIR shares them with no other.",
      );
    return lookAtDatasets(context, (store) => store.servers());
  },
  json: (instances) =>
    instances.map((one) => ({
      id: one.id,
      host: one.host,
      pid: one.pid,
      live: one.isLive,
      seen_at: one.seenAt,
      started_at: one.startedAt,
      program: one.program,
      formats: one.formats,
      served: one.served,
    })),
  text: (instances) =>
    table(
      ["host", "process", "state", "seen", "program", "formats", "serves"],
      instances.map((one) => [
        one.host,
        String(one.pid),
        one.isLive ? "running" : "not seen",
        timeText(one.seenAt),
        one.program,
        one.formats.join(", "),
        one.served ?? "-",
      ]),
      "No server was seen within a day.",
    ),
});
