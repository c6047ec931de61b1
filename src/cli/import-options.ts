/** The options of `gp-records import`, and what their texts mean. */
import { InvalidArgumentError, Option, type Command } from "commander";
import type { RejectedMax } from "#datasets/rejections.ts";
import { encodings, type Encoding } from "#importers/encoding.ts";
import { jsonOption, type OutputOptions } from "./output.ts";

export interface ImportOptions extends OutputOptions {
  source: string;
  map?: string;
  encoding?: Encoding;
  merge?: boolean;
  dryRun?: boolean;
  stage?: boolean;
  maxRejected: RejectedMax;
  /** In per cent. */
  maxShrink: number;
  allowEmpty?: boolean;
}

/** The options that every format has. */
export const addImportOptions = (command: Command): Command =>
  command
    .argument("<files...>", "files of the source, read in this order; - is standard input")
    .requiredOption("--source <name>", "name of the source whose records are replaced")
    .option("--merge", "add, replace and remove single records; all others of the source stay")
    .addOption(
      new Option(
        "--encoding <name>",
        "how the files are encoded; utf-8 unless the mapping says",
      ).choices(encodings),
    )
    .option("--dry-run", "tell what would change and change nothing")
    .addOption(
      new Option("--stage", "build and check, but leave it to be published later").conflicts(
        "dryRun",
      ),
    )
    .addOption(
      new Option(
        "--max-rejected <n>",
        "publish although up to so many lines, or so many per cent (5%), are rejected",
      )
        .argParser(parseRejectedMax)
        .default({ lines: 0 }, "0"),
    )
    .addOption(
      new Option(
        "--max-shrink <percent>",
        "publish although the source loses up to this share of its records",
      )
        .argParser(parseShrinkMax)
        .default(50, "50%"),
    )
    .option("--allow-empty", "accept files without a record, and a source that ends up without any")
    .option(...jsonOption);

function parseRejectedMax(text: string): RejectedMax {
  const [, count, percent] = /^(\d{1,9})(%?)$/.exec(text) ?? [];
  if (count === undefined || (percent === "%" && Number(count) > 100))
    throw new InvalidArgumentError(
      "Write a number of lines, such as 20, or a share of those read, such as 5%.",
    );
  return percent === "%" ? { percent: Number(count) } : { lines: Number(count) };
}

function parseShrinkMax(text: string): number {
  const [, percent] = /^(\d{1,3})%$/.exec(text) ?? [];
  if (percent === undefined || Number(percent) > 100)
    throw new InvalidArgumentError("Write a share from 0% to 100%, such as 60%.");
  return Number(percent);
}
