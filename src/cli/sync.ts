/** `gp-records sync`: brings a folder of public filings up to date, and imports it. */
import { join } from "node:path";
import { InvalidArgumentError } from "commander";
import { readConfig } from "#config.ts";
import { takeLock } from "#store/lock.ts";
import { counted, grouped } from "#words.ts";
import { argument, command, family, option } from "./command.ts";
import { usageFault } from "./command-fault.ts";
import { withControl } from "./data-dir.ts";
import { dataFolderFault, openDatasets } from "./datasets-folder.ts";
import { importSec, outcome, outcomeOf, refuseSource, secOptions } from "./import.ts";
import { onOneLine, showProgress } from "./output.ts";

const sec = command({
  name: "sec",
  description: "fetch new SEC filings into a folder, and import the folder (docs/real-data.md)",
  args: {
    folder: argument(
      "<folder>",
      "existing folder of filings; files are fetched into its subfolder downloads",
    ),
  },
  options: {
    since: option(
      "--since <quarter>",
      "oldest quarter, such as 2024q1 (default: the fourth newest)",
      readQuarter,
    ),
    origin: option("--origin <url>", "mirror to use instead of the SEC's servers", readOrigin),
    ...secOptions,
  },
  example: "sync sec downloads/sec",
  run: async ({ folder, since, origin, ...given }, context) => {
    const { contact, dataDir } = readConfig(context.environment);
    if (contact === null)
      throw usageFault(
        "CONTACT is not set, but the SEC answers only programs that name a contact. Set CONTACT to your e-mail address or an https URL.",
      );
    await refuseSource(given.source);
    openDatasets(dataDir);
    const busy = `Another sync is running on ${dataDir}. Wait until it has finished, or stop it.`;
    const lock = takeLock(join(dataDir, "sync.lock"), busy);
    const { show, clear } = showProgress();
    /** Notes a success, or the start of a first sync, so that an alarm can report a source that never succeeds. */
    const note = (isSuccess: boolean) => {
      const row = { source: given.source, succeeded_at: new Date(context.now()).toISOString() };
      return withControl(context, ({ write }) =>
        write((control) =>
          control
            .insertInto("sync")
            .values(row)
            .onConflict((conflict) =>
              isSuccess ? conflict.column("source").doUpdateSet(row) : conflict.doNothing(),
            )
            .execute(),
        ),
      );
    };
    try {
      if (!given.isDryRun) await note(false);
      const { bringUpToDate, openSource } = await import("./fetch-filings.ts");
      const source = openSource(contact, origin, context);
      const fetched = await bringUpToDate(folder, since, source, show).catch((error: unknown) => {
        throw dataFolderFault(error, folder, "FOLDER");
      });
      clear();
      const imported = await importSec([folder], given, context);
      if (!given.isDryRun && ["published", "unchanged"].includes(outcomeOf(imported)))
        await note(true);
      return { folder, fetched, imported };
    } finally {
      clear();
      lock.release();
    }
  },
  json: ({ fetched, imported }) => ({ downloads: fetched, ...outcome.json(imported) }),
  text: ({ folder, fetched: { files, bytes, removed, missing }, imported }, input, context) =>
    [
      onOneLine(
        `Fetched ${counted(files, "file")} into ${join(folder, "downloads")}, ${grouped(bytes)} bytes; removed ${grouped(removed)} that newer ones replace.`,
      ),
      ...missing.map((url) => `  ${url} is in an index, but does not exist`),
      outcome.text(imported, input, context),
    ].join("\n"),
  fault: ({ imported }) => outcome.fault(imported),
});

export const syncCommands = family("sync", "fetch new files of a source, and import them", [sec]);

function readQuarter(text: string): string {
  if (!/^\d{4}q[1-4]$/.test(text))
    throw new InvalidArgumentError("Write a year and a quarter, such as 2024q1.");
  return text;
}

function readOrigin(text: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.href !== `${url.origin}/`)
    throw new InvalidArgumentError(
      "Write a scheme and a host without a path, such as http://127.0.0.1:8000.",
    );
  return url.origin;
}
