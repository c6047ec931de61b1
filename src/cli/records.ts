/**
 * `gp-records export` writes a dataset's records to files for other programs; `gp-records match` finds the GP for each
 * name in a list.
 */
import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { Option } from "commander";
import { readConfig } from "#config.ts";
import { csvTable } from "#csv.ts";
import { fileFormats, runExport, workbookFormat } from "#exports/run-export.ts";
import { readBytes, shownName } from "#importers/source-file.ts";
import { matchColumns, namesMax } from "#operations/match.ts";
import { type RecordKind, recordKinds } from "#records/kinds.ts";
import { argument, command, option, parameter } from "./command.ts";
import { chosenVersion, dataFolderFault, lookAtDatasets } from "./datasets-folder.ts";
import { table } from "./output.ts";

const formats = [...fileFormats, workbookFormat] as const;

export const exportCommand = command({
  name: "export",
  description: "write the records of a dataset into files: one for each kind, or one workbook",
  options: {
    format: parameter<(typeof formats)[number]>(
      new Option("--format <format>", "format of the files").choices(formats).makeOptionMandatory(),
    ),
    kind: parameter<RecordKind[] | undefined>(
      new Option("--kind <kinds...>", "only these kinds of record; all if left out").choices(
        recordKinds,
      ),
    ),
    version: option(
      "--version <version>",
      "as `datasets list` shows it; the current one if left out",
    ),
    output: option(
      "-o, --output <folder>",
      "folder, made if it does not exist; files of the same name are replaced (default: gp-records-VERSION)",
    ),
  },
  example: "export --format parquet --kind gp project -o records",
  run: ({ format, kind: chosen, version: named, output }, context) =>
    lookAtDatasets(context, async (store) => {
      const kept = await store.read();
      const version = chosenVersion(kept, named);
      const generation = kept.find(version);
      const path = await store.open(version);
      const folder = resolve(output ?? `gp-records-${version}`);
      try {
        mkdirSync(folder, { recursive: true });
        const files = await runExport({
          path,
          generation,
          // In the usual order, without repetition.
          kinds: recordKinds.filter((kind) => chosen?.includes(kind) ?? true),
          format,
          folder,
          licence: readConfig(context.environment).licence,
        });
        return { version, files };
      } catch (error) {
        throw dataFolderFault(error, folder, "--output");
      }
    }),
  text: ({ version, files }) =>
    `Dataset ${version}\n${table(files, ["file", "records", "bytes", "sha256"])}`,
});

export const matchCommand = command({
  name: "match",
  description: "find the GP that each name in a list means, in the current dataset; print CSV",
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
  text: (rows) => csvTable(matchColumns, rows),
});
