/** `gp-records match`: finds the GP that each name of a list means. */
import { csvHeading, csvRow } from "#csv.ts";
import { readBytes, shownName } from "#importers/source-file.ts";
import { matchColumns, namesMax } from "#operations/match.ts";
import { argument, command } from "./command.ts";
import { chosenVersion, lookAtDatasets } from "./datasets-folder.ts";

export const matchCommand = command({
  name: "match",
  description: "find the GP that each name of a list means, in the current dataset; prints CSV",
  args: {
    file: argument(
      "<file>",
      `CSV with the column name, and optionally city, state, crd and cik, or one name per line; at most ${namesMax} names; - for standard input`,
    ),
  },
  example: "match names.csv > matches.csv",
  run: async ({ file }, context) => {
    const [{ loadGeneration }, { readNameList }, { matchList }, { openReadModel }] =
      await Promise.all([
        import("#datasets/served.ts"),
        import("#importers/name-list.ts"),
        import("#search/match-list.ts"),
        import("#search/read-model.ts"),
      ]);
    const bytes = Buffer.concat(await Array.fromAsync(readBytes(file)));
    const list = readNameList(bytes, shownName(file), namesMax);
    return lookAtDatasets(context, async (store) => {
      const kept = await store.read();
      const version = chosenVersion(kept, undefined);
      const parts = loadGeneration(await store.open(version), kept.find(version));
      const matches = [...matchList(openReadModel(parts), list)].filter((match) => match !== null);
      return list.map((wanted, i) => ({ wanted, match: matches[i]! }));
    });
  },
  json: (rows) => rows.map(({ wanted, match }) => ({ ...wanted, ...match })),
  text: (rows) =>
    [csvHeading(matchColumns), ...rows.map((row) => csvRow(matchColumns, row))].join("\n"),
});
