/** Checks whether `current` names a dataset that can be served, and every dataset is the file that was published. */
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Catalogue, openCatalogue } from "#datasets/catalogue.ts";
import { checkGenerations, type GenerationCheck } from "#datasets/check-generations.ts";
import { findBefore } from "#datasets/choose.ts";
import { unread } from "#datasets/dataset-fault.ts";
import { lastPublished } from "#datasets/generation.ts";
import { openGeneration, remedy } from "#datasets/open-generation.ts";
import { type Check, fail, faultsOr, type Finding, ok, warn } from "./check.ts";

export const datasets: Check = {
  name: "datasets",
  look({ dataDir, config }) {
    const folder = join(dataDir, "datasets");
    // Opening a catalogue would create its folder.
    const isThere = statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
    if (!isThere) return [ok("there is none yet")];
    const findings = findingsIn(openCatalogue(folder));
    return config === null || config.databaseUrl === null ? findings : findings.map(asCache);
  },
};

/** What is wrong in a folder that is a cache of shared datasets costs nobody anything but time. */
const asCache = ({ status, found }: Finding): Finding =>
  status === "ok"
    ? ok(`in the cache: ${found}`)
    : warn(
        `in the cache: ${found}`,
        "Nothing: servers and commands fetch it anew from the database.",
      );

function findingsIn(catalogue: Catalogue): readonly Finding[] {
  const checked = [...checkGenerations(catalogue, false)];
  const sound = checked.filter(({ fault }) => fault === null).map(({ version }) => version);
  const faults = checked.flatMap((one) => faultOf(one, catalogue, sound));
  // What is wrong with the file of the current dataset is told once.
  const isTold = checked.some(({ isCurrent, fault }) => isCurrent && fault !== null);
  const current = currentVersion(catalogue);
  return faultsOr(
    [...(isTold ? [] : pointerFaults(catalogue, sound)), ...faults],
    current === null
      ? "none is published yet"
      : `${current} is the one to be served; ${sound.length} of ${sound.length} are the same as published, by SHA-256`,
  );
}

function faultOf(
  { wrong, fault, mend, isCurrent }: GenerationCheck,
  catalogue: Catalogue,
  sound: readonly string[],
): Finding[] {
  if (fault === null) return [];
  const found = fault.replace(/\.$/, "");
  // Intact records should not be replaced with older ones.
  if (!isCurrent || wrong !== "file")
    return [fail(isCurrent ? `${found}; it is the one to be served` : found, mend ?? "")];
  const other = nextToServe(catalogue, sound);
  const way =
    other === undefined
      ? "gp-records restore FILE --replace"
      : `gp-records datasets publish ${other}`;
  return [fail(`${found}; it is the one to be served`, way)];
}

function pointerFaults(catalogue: Catalogue, sound: readonly string[]): Finding[] {
  const pointer = join(catalogue.folder, "current");
  const next = nextToServe(catalogue, sound);
  const mend =
    next === undefined
      ? `gp-records restore FILE --replace, or: rm ${pointer}, and import every source again.`
      : `gp-records datasets publish ${next}`;
  if (!existsSync(pointer))
    return next === undefined
      ? []
      : [fail(`${pointer} is missing, so no dataset is served though there are some`, mend)];
  const unreadable = unread(pointer);
  if (unreadable !== null) return [fail(unreadable.fault, unreadable.mend)];
  const version = currentVersion(catalogue);
  if (version === null) return [fail(`${pointer} does not name a dataset`, mend)];
  if (!catalogue.has(version))
    return [fail(`${pointer} names ${version}, which is not there`, mend)];
  try {
    openGeneration(catalogue.pathOf(version)).db.close();
    return [];
  } catch (error) {
    // A dataset can be the one that was published and have another format.
    return [fail((error as Error).message.replace(remedy, "").trimEnd(), remedy)];
  }
}

/**
 * Returns what to serve where the current dataset cannot be served: what a rollback would choose, else what was current
 * last. A dataset that was rolled back comes last.
 */
function nextToServe(catalogue: Catalogue, sound: readonly string[]): string | undefined {
  const before = currentVersion(catalogue) === null ? undefined : findBefore(catalogue)?.version;
  if (before !== undefined && sound.includes(before)) return before;
  return lastPublished(sound.flatMap((one) => catalogue.findReadable(one) ?? []))?.version;
}

/** Null where the pointer is not there or names nothing. */
function currentVersion(catalogue: Catalogue): string | null {
  try {
    return catalogue.currentVersion();
  } catch {
    return null;
  }
}
