/** `gp-records vocabulary`: the values that the records of a dataset carry, as `/vocabulary` answers them. */
import { argument, command } from "./command.ts";
import { chosenVersion, lookAtDatasets } from "./datasets-folder.ts";
import { table } from "./output.ts";

export const vocabularyCommand = command({
  name: "vocabulary",
  description: "every tag, theme and market with its number of GPs, and the closed lists",
  args: { version: argument("[version]", "of a dataset; the current one if left out") },
  example: "vocabulary --json",
  run: ({ version }, context) =>
    lookAtDatasets(context, async (store) => {
      const kept = await store.read();
      const wanted = chosenVersion(kept, version);
      const path = await store.open(wanted);
      // Loaded here, so that no other command waits for it.
      const { loadGeneration } = await import("#datasets/served.ts");
      const { vocabularyOf } = await import("#operations/vocabulary.ts");
      return vocabularyOf(loadGeneration(path, kept.find(wanted)));
    }),
  text: ({ data: { enums, ...lists } }) => {
    const open = Object.entries(lists).flatMap(([name, values]) =>
      values.map(({ value, gps_total: total }) => [name, value, total.toLocaleString("en-US")]),
    );
    const closed = enums.flatMap(({ members, values }) =>
      values.map(({ value, meaning }) => [members[0]!, value, meaning]),
    );
    return `${table(["list", "value", "gps"], open)}\n\n${table(["closed list", "value", "meaning"], closed)}`;
  },
});
