/** `gp-records instances`: lists the servers that share datasets, and the dataset that each serves. */
import { readConfig } from "#config.ts";
import { command } from "./command.ts";
import { usageFault } from "./command-fault.ts";
import { lookAtDatasets } from "./datasets-folder.ts";
import { table, timeText } from "./output.ts";

export const instancesCommand = command({
  name: "instances",
  description:
    "list the servers that use the database of DATABASE_URL, and the dataset that each one serves",
  example: "instances --json",
  run: async (_, context) => {
    if (readConfig(context.environment).databaseUrl === null)
      throw usageFault(
        "DATABASE_URL is not set: a server that keeps its datasets in DATA_DIR shares them with no other.",
      );
    return lookAtDatasets(context, (store) => store.servers());
  },
  text: (instances) =>
    table(
      ["host", "process", "state", "seen", "program", "formats", "serves"],
      instances.map((one) => [
        one.host,
        String(one.pid),
        one.live ? "running" : "not seen",
        timeText(one.seen_at),
        one.program,
        one.formats.join(", "),
        one.served ?? "-",
      ]),
      "No server was seen within a day.",
    ),
});
