/** `gp-records datasets verify`: checks every dataset byte by byte and record by record. */
import type { Command } from "commander";
import type { GenerationCheck } from "#datasets/check-generations.ts";
import { CommandFault } from "./command-fault.ts";
import { lookAtDatasets } from "./datasets-folder.ts";
import { exitCodes } from "./exit-codes.ts";
import { jsonOption, onOneLine, type OutputOptions, printResult } from "./output.ts";
import { showProgress } from "./progress.ts";
import type { Surroundings } from "./surroundings.ts";

export function addVerify(datasets: Command, surroundings: Surroundings): void {
  datasets
    .command("verify")
    .description(
      "check every dataset: its file against its SHA-256, what is known of it, and all records and links in it",
    )
    .argument("[versions...]", "only these")
    .option(...jsonOption)
    .action((versions: string[], options: OutputOptions) =>
      lookAtDatasets(surroundings, async (catalogue) => {
        const { checkGenerations } = await import("#datasets/check-generations.ts");
        // What is known of one that is there may be what is wrong with it.
        for (const version of versions) if (!catalogue.has(version)) catalogue.find(version);
        const progress = showProgress();
        const checks: GenerationCheck[] = [];
        const chosen = versions.length === 0 ? catalogue.versions() : versions;
        for (const check of checkGenerations(catalogue, true, chosen))
          progress.show(checks.push(check), "datasets checked");
        progress.clear();
        report(surroundings, options, checks);
      }),
    );
}

function report(
  surroundings: Surroundings,
  options: OutputOptions,
  checks: readonly GenerationCheck[],
): void {
  const json = checks.map(({ version, file, isCurrent, fault, mend }) => {
    return { version, file, current: isCurrent, fault, mend };
  });
  printResult(surroundings, options, json, () => checks.map(checkText).join("\n"));
  const faulty = checks.filter(({ fault }) => fault !== null);
  const orUnread = faulty.some(({ wrong }) => wrong === "unread") ? ", or not to be read" : "";
  if (faulty.length > 0)
    throw new CommandFault(
      exitCodes.unhealthy,
      `${faulty.length} of ${checks.length} datasets ${faulty.length === 1 ? "is" : "are"} not as published${orUnread}.`,
    );
}

function checkText({ version, isCurrent, fault, mend }: GenerationCheck): string {
  const sound = `${version}  sound${isCurrent ? ", current" : ""}`;
  return fault === null ? sound : `${version}  ${onOneLine(fault)}\n  ${onOneLine(mend!)}`;
}
