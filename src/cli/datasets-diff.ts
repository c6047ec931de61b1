/** `gp-records datasets diff`: what one dataset has that another has not, or has otherwise. */
import { type Command, Option } from "commander";
import type { Change, ChangeCounts, Side } from "#datasets/diff.ts";
import type { CliContext } from "./context.ts";
import { lookAtDatasets } from "./datasets-folder.ts";
import { jsonOption, onOneLine, type OutputOptions, printResult, table } from "./output.ts";

interface DiffOptions extends OutputOptions {
  ndjson?: boolean;
}

/** Examples of each change of each kind of record. */
const examplesMax = 3;

export function addDiff(datasets: Command, context: CliContext): void {
  datasets
    .command("diff")
    .description("what was added, changed, removed and merged from one dataset to another")
    .argument(
      "[from]",
      "version, as `datasets list` shows it; that before the current one if left out",
    )
    .argument("[to]", "version; the current one if left out")
    .addOption(
      new Option(
        "--ndjson",
        "every change as a line of JSON, with the members that differ",
      ).conflicts("json"),
    )
    .option(...jsonOption)
    .action((givenFrom: string | undefined, givenTo: string | undefined, options: DiffOptions) =>
      lookAtDatasets(context, async (datasets) => {
        const { diffGenerations } = await import("#datasets/diff.ts");
        const { chosenBefore } = await import("#datasets/choose.ts");
        const from = givenFrom ?? chosenBefore(datasets).version;
        const to = givenTo ?? datasets.currentVersion()!;
        for (const version of [from, to]) await datasets.fetch(version);
        const sideOf = (version: string): Side => ({
          generation: datasets.find(version),
          path: datasets.pathOf(version),
        });
        const changes = diffGenerations(sideOf(from), sideOf(to));
        if (options.ndjson === true)
          for (const change of changes) context.print(JSON.stringify(change));
        else await summarize(context, options, { from, to }, changes);
      }),
    );
}

type CountRow = { record: string; source: string } & ChangeCounts;

async function summarize(
  context: CliContext,
  options: OutputOptions,
  sides: { from: string; to: string },
  changes: Iterable<Change>,
): Promise<void> {
  const { changeKinds, openChangeCounts } = await import("#datasets/diff.ts");
  const counts = openChangeCounts();
  const shown = new Map<string, Change[]>();
  for (const change of changes) {
    counts.add(change);
    const key = `${change.record} ${change.change}`;
    const examples = shown.get(key) ?? [];
    if (examples.length < examplesMax) shown.set(key, [...examples, change]);
  }
  const rows = counts.rows();
  const records = new Set(rows.map(({ record }) => record));
  const examples = [...records].flatMap((record) =>
    changeKinds.flatMap((change) => shown.get(`${record} ${change}`) ?? []),
  );
  printResult(context, options, { ...sides, counts: rows, examples }, () =>
    rows.length === 0
      ? "The two datasets have the same records."
      : `${countTable(rows)}\n\n${examples.map(exampleText).join("\n")}\n\n--ndjson lists all of them, with the values that differ.`,
  );
}

const countTable = (rows: readonly CountRow[]) =>
  table(
    ["record", "source", "added", "changed", "removed", "merged"],
    rows.map(({ record, source, ...counts }) => [
      record,
      source,
      ...[counts.added, counts.changed, counts.removed, counts.merged].map((one) =>
        one.toLocaleString("en-US"),
      ),
    ]),
  );

function exampleText({ change, record, id, name, members, into }: Change): string {
  const now = into === undefined ? "" : ` into ${into}`;
  const which = members === undefined ? now : `: ${Object.keys(members).join(", ")}`;
  return onOneLine(`${change} ${record} ${id} ${name}${which}`);
}
