/**
 * `gp-records datasets` lists and checks datasets, and chooses the one to serve; `gp-records instances` lists the
 * servers that share datasets, and the dataset that each one serves.
 */
import { readConfig } from "#config.ts";
import type { GenerationCheck } from "#datasets/check-generations.ts";
import { DatasetFault } from "#datasets/dataset-fault.ts";
import { type Generation, isOutdated, isStaged } from "#datasets/generation.ts";
import { prune as pruneDatasets } from "#datasets/prune.ts";
import type { DatasetStore } from "#datasets/store.ts";
import { recordKinds } from "#records/kinds.ts";
import { allCounts, changeKinds } from "#records/publication.ts";
import { type AuditAction, operator } from "#store/audit.ts";
import { grouped } from "#words.ts";
import { CommandFault, exitCodes, usageFault } from "./command-fault.ts";
import { argument, type CliContext, command, family, flag, option } from "./command.ts";
import { noteChange, withControl } from "./data-dir.ts";
import {
  changeDatasets,
  chosenVersion,
  dataFolderFault,
  lookAtDatasets,
  noDataset,
} from "./datasets-folder.ts";
import { type FilingsFigures, filingsText } from "./import-filings.ts";
import { parseCount } from "./option-values.ts";
import { onOneLine, table, showProgress } from "./output.ts";
import { applyPending, countText, freedBytes, noteAndPrune, notePruned } from "./publishing.ts";

const versionArgument = argument("<version>", "as `datasets list` shows it");

const list = command({
  name: "list",
  description: "list all datasets, oldest first",
  example: "datasets list",
  run: (_, context) =>
    lookAtDatasets(context, async (store) => {
      const kept = await store.read();
      const current = kept.currentVersion();
      const generations = kept.versions().filter(kept.has).map(kept.find);
      return generations.map((generation) => ({
        version: generation.version,
        records: Object.values(generation.records).reduce((a, b) => a + b),
        current: generation.version === current,
        staged: isStaged(generation),
        outdated: isOutdated(generation, current),
        pinned: generation.pinned_at !== null,
        published_at: generation.published_at,
      }));
    }),
  text: (rows) =>
    table(
      rows.map((row) => ({ ...row, state: states.filter((state) => row[state]) })),
      ["version", "records", "state", "published_at"],
      noDataset,
    ),
});

const states = ["current", "staged", "outdated", "pinned"] as const;

const show = command({
  name: "show",
  description: "show everything known about a dataset",
  args: { version: argument("[version]", "the current one if left out") },
  example: "datasets show",
  run: ({ version: named }, context) =>
    lookAtDatasets(context, async (store) => {
      const kept = await store.read();
      const version = chosenVersion(kept, named);
      const current = version === kept.currentVersion();
      return { ...kept.find(version), current, file: kept.pathOf(version) };
    }),
  text: ({ records, reports, ...known }, _, context) => {
    const facts: { fact: string; value: unknown }[] = [
      ...Object.entries(known).map(([name, value]) => ({ fact: name.replaceAll("_", " "), value })),
      ...Object.entries(records).map(([kind, value]) => ({ fact: `${kind} records`, value })),
    ];
    const all = table(facts, ["fact", "value"]);
    const quality = Object.entries(reports).map(([source, figures]) =>
      ["", `Source '${source}'`, ...filingsText(figures as FilingsFigures, context.now())].join(
        "\n",
      ),
    );
    return [all, ...quality].join("\n");
  },
});

const diff = command({
  name: "diff",
  description: "compare two datasets: records added, changed, removed and merged",
  args: {
    givenFrom: argument(
      "[from]",
      "version, as `datasets list` shows it; the one before the current if left out",
    ),
    givenTo: argument("[to]", "version; the current one if left out"),
  },
  options: {
    ndjson: flag(
      "--ndjson",
      "every change as a line of JSON, with the members that differ",
      "json",
    ),
  },
  example: "datasets diff",
  run: ({ givenFrom, givenTo, ndjson }, context) =>
    lookAtDatasets(context, async (store) => {
      const { chosenBefore } = await import("#datasets/choose.ts");
      const { openPublished } = await import("#datasets/open-generation.ts");
      const { compareGenerations, lineOf } = await import("#datasets/steps.ts");
      const kept = await store.read();
      const from = givenFrom ?? chosenBefore(kept).version;
      const to = chosenVersion(kept, givenTo);
      const open = async (version: string) => {
        const path = await store.open(version);
        openPublished(path, kept.find(version)).db.close();
        return path;
      };
      using comparison = compareGenerations(await open(from), await open(to));
      const counts = allCounts({});
      for (const difference of comparison.differences())
        if (ndjson) context.print(lineOf(difference, comparison, { isWhole: true }));
        else counts[difference.kind][difference.change]++;
      return ndjson ? null : { from, to, counts };
    }),
  text: ({ counts }) => {
    const rows = recordKinds
      .map((record) => ({ record, ...counts[record] }))
      .filter((row) => changeKinds.some((change) => row[change] > 0));
    if (rows.length === 0) return "The two datasets have the same records.";
    return `${table(rows, ["record", ...changeKinds])}\n\nAdd --ndjson to list every change with the values that differ.`;
  },
});

const verify = command({
  name: "verify",
  description:
    "check every dataset: its file against its SHA-256, its metadata, and all its records and links",
  args: { versions: argument("[versions...]", "only these datasets; all if left out") },
  example: "datasets verify",
  run: ({ versions }, context) =>
    lookAtDatasets(context, async (store) => {
      const kept = await store.read();
      // Refuses only unknown versions, because the facts of a known one may be what is wrong with it.
      for (const version of versions) if (!kept.has(version)) kept.find(version);
      const progress = showProgress();
      const checks: GenerationCheck[] = [];
      for (const version of versions.length === 0 ? kept.versions() : versions)
        progress.show(checks.push(await store.check(version)), "datasets checked");
      progress.clear();
      return checks;
    }),
  json: (checks) =>
    checks.map(({ version, file, isCurrent, fault, mend }) => {
      return { version, file, current: isCurrent, fault, mend };
    }),
  text: (checks) =>
    checks
      .map(({ version, isCurrent, fault, mend }) =>
        fault === null
          ? `${version}  sound${isCurrent ? ", current" : ""}`
          : `${version}  ${onOneLine(fault)}\n  ${onOneLine(mend!)}`,
      )
      .join("\n") || noDataset,
  fault: (checks) => {
    const faulty = checks.filter(({ fault }) => fault !== null);
    if (faulty.length === 0) return null;
    return new CommandFault(
      exitCodes.unhealthy,
      `${faulty.length} of ${checks.length} datasets ${faulty.length === 1 ? "has a fault" : "have faults"}. The output says what is wrong with each, and what to do.`,
    );
  },
});

const choose = (
  context: CliContext,
  action: AuditAction,
  change: (store: DatasetStore) => Promise<Generation>,
) =>
  changeDatasets(context, async (store) => {
    const isUnfit = await applyPending(context, store).then(() => false, trueIfUnfit);
    let chosen = await change(store);
    const publication = { action, subject: chosen.version };
    const cleared = await noteAndPrune(context, store, publication);
    if (isUnfit) {
      // The suppressions could not be applied to the former dataset, because it is damaged.
      await applyPending(context, store);
      chosen = (await store.read()).current()!;
    }
    return { chosen, cleared };
  });

function trueIfUnfit(error: unknown): true {
  if (error instanceof DatasetFault && error.kind === "unfit") return true;
  throw error;
}

type Chosen = Awaited<ReturnType<typeof choose>>;

/** Output of the commands that choose the current dataset. */
const shownChoice = {
  json: ({ chosen: { version, published_at }, cleared }: Chosen) => {
    return { version, published_at, pruned: cleared.versions };
  },
  text: ({ chosen, cleared }: Chosen) =>
    [`${chosen.version} is the current dataset.`, cleared.text].join("\n").trimEnd(),
};

const publish = command({
  name: "publish",
  description: "serve a dataset; a running server takes it over within two seconds",
  args: { version: versionArgument },
  options: {
    discardsNewer: flag(
      "--discard-newer",
      "publish a staged dataset even if another was published since, and discard the other's changes",
    ),
    isForced: flag(
      "--force",
      "publish even if a running server cannot read the format and has to keep serving what it has",
    ),
  },
  example: "datasets publish 20261120T030000Z-9f3c2a7e",
  run: (choice, context) =>
    choose(context, "dataset.published", async (store) => {
      const { publishVersion } = await import("#datasets/choose.ts");
      await refuseRemoved(context, store, choice.version);
      return publishVersion(store, choice);
    }),
  ...shownChoice,
});

const rollback = command({
  name: "rollback",
  description: "return to the dataset that was served before the current one was published",
  example: "datasets rollback",
  run: (_, context) =>
    choose(context, "dataset.rolled_back", async (store) => {
      const { rollBack } = await import("#datasets/choose.ts");
      const kept = await store.read();
      // Does not throw: a rollback may lead away from a dataset whose files are damaged or missing.
      const current = kept.findReadable(kept.currentVersion() ?? "");
      await refuseRemoved(context, store, current?.published_after);
      return rollBack(store);
    }),
  ...shownChoice,
});

/** Throws a CommandFault if a dataset was removed because it may have contained a suppressed person. */
async function refuseRemoved(
  context: CliContext,
  store: DatasetStore,
  version: string | null = null,
): Promise<void> {
  if (version === null || (await store.read()).has(version)) return;
  const { removedFor } = await import("#datasets/suppressions.ts");
  const number = await withControl(context, ({ database }) => removedFor(database, version));
  if (number !== undefined)
    throw new CommandFault(
      exitCodes.conflict,
      `The dataset ${version} was removed because of suppression ${number}. To return to an older one, run 'gp-records datasets publish VERSION'; 'gp-records datasets list' shows all versions.`,
    );
}

const prune = command({
  name: "prune",
  description: "delete old datasets, but never the current one or a pinned one",
  options: {
    keep: option(
      "--keep <n>",
      "number of newest published datasets to keep (default: DATASETS_KEEP)",
      parseCount,
    ),
    isDryRun: flag("--dry-run", "show what would be deleted, and delete nothing"),
  },
  example: "datasets prune --keep 3 --dry-run",
  run: async ({ keep: given, isDryRun }, context) => {
    const keep = given ?? readConfig(context.environment).datasetsKeep;
    const pruned = await changeDatasets(context, async (store) => {
      if (!isDryRun) await store.forgetSteps();
      return pruneDatasets(store, { keep, isDryRun });
    });
    if (!isDryRun) await notePruned(context, pruned, operator);
    return pruned;
  },
  json: (pruned, { isDryRun }) => ({
    removed: pruned.removed.map(({ version }) => version),
    bytes: freedBytes(pruned),
    pinned: pruned.pinned.map(({ version }) => version),
    dry_run: isDryRun,
  }),
  text: (pruned, { isDryRun }) => {
    const kept = pruned.pinned.map(
      ({ version }) =>
        `${version} is pinned, so it stays. To let it be deleted, run 'gp-records datasets unpin ${version}'.`,
    );
    const { removed, failures } = pruned;
    const why = failures.length === 0 ? ", because every dataset has to be kept" : "";
    if (removed.length === 0) return [...kept, `Nothing was deleted${why}.`].join("\n");
    const what = isDryRun ? "Would delete" : "Deleted";
    const sum = `${what} ${countText(pruned)} and ${isDryRun ? "free" : "freed"} ${grouped(freedBytes(pruned))} bytes.`;
    return [...removed.map(({ version }) => version), ...kept, sum].join("\n");
  },
  fault: ({ failures: [failure] }, context) =>
    failure === undefined
      ? null
      : dataFolderFault(failure.error, readConfig(context.environment).dataDir),
});

/** Makes the command `pin` or `unpin`. @param means output after the version. */
const pinning = (name: "pin" | "unpin", description: string, means: string) =>
  command({
    name,
    description,
    args: { version: versionArgument },
    example: `datasets ${name} 20261120T030000Z-9f3c2a7e`,
    run: async ({ version }, context) => {
      const { isChange, pinned_at } = await changeDatasets(context, async (store) => {
        const before = (await store.read()).find(version).pinned_at;
        const after = await store.pin(version, name === "pin");
        return { isChange: before !== after.pinned_at, pinned_at: after.pinned_at };
      });
      if (isChange) await noteChange(context, { action: `dataset.${name}ned`, subject: version });
      return { version, pinned_at };
    },
    text: ({ version }) => `${version} ${means}`,
  });

const pin = pinning(
  "pin",
  "keep a dataset for good, for figures that must be reproduced",
  "is pinned: it is kept until you unpin it.",
);

const unpin = pinning(
  "unpin",
  "let a pinned dataset be deleted once it is old enough",
  "is no longer pinned: DATASETS_KEEP decides how long it is kept.",
);

export const datasetCommands = family(
  "datasets",
  "show what is published, and choose what is served",
  [list, show, diff, verify, publish, rollback, prune, pin, unpin],
);

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
