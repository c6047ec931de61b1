/** Checks the current dataset's pointer and format, every dataset's file, and whether pages lack a CONTACT. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { type Config, missedContact } from "#config.ts";
import { type Catalogue, currentOrNull, openCatalogue } from "#datasets/catalogue.ts";
import { checkGeneration } from "#datasets/check-generations.ts";
import { whyNoCache } from "#datasets/dataset-cache.ts";
import { unread } from "#datasets/dataset-fault.ts";
import { lastPublished } from "#datasets/generation.ts";
import { openAs, openGeneration, readSources, remedy } from "#datasets/open-generation.ts";
import { isInvented } from "#records/common.ts";
import { type Check, fail, faultsOr, type Finding, ok } from "./check.ts";

export const datasets: Check = {
  name: "datasets",
  look({ dataDir, config }) {
    const folder = join(dataDir, "datasets");
    // Opening a catalogue would create its folder.
    const isThere = statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
    if (!isThere) return [ok("no dataset exists yet")];
    const catalogue = openCatalogue(folder);
    const isOwn = config === null || config.databaseUrl === null;
    // A damaged file in a cache is no fault, because it is fetched again.
    const fault = isOwn ? null : whyNoCache(catalogue);
    return [
      ...(isOwn ? findingsIn(catalogue) : []),
      ...(fault === null ? [] : [fail(fault.found, fault.mend)]),
      ...contactFaults(catalogue, config),
    ];
  },
};

function findingsIn(catalogue: Catalogue): readonly Finding[] {
  const checked = catalogue.versions().map((one) => checkGeneration(catalogue, one, false));
  const sound = checked.filter(({ fault }) => fault === null).map(({ version }) => version);
  const faults = checked.flatMap(({ fault, mend, isCurrent }) => {
    if (fault === null) return [];
    const found = fault.replace(/\.$/, "");
    return [fail(isCurrent ? `${found}; this is the current dataset` : found, mend!)];
  });
  const current = checked.find(({ isCurrent }) => isCurrent)?.version;
  const ofServed =
    current === undefined
      ? pointerFaults(catalogue, sound)
      : sound.includes(current)
        ? formatFaults(catalogue, current)
        : [];
  return faultsOr(
    [...ofServed, ...faults],
    current === undefined
      ? "no dataset is published yet"
      : `${current} is current; ${sound.length} of ${sound.length} datasets match their published SHA-256`,
  );
}

/** Returns a fault if an unchanged file has an unreadable format, or not the version or build time in the catalogue. */
function formatFaults(catalogue: Catalogue, version: string): Finding[] {
  try {
    openAs(catalogue.pathOf(version), catalogue.find(version)).db.close();
    return [];
  } catch (error) {
    return [fail((error as Error).message.replace(remedy, "").trimEnd(), remedy)];
  }
}

/** Returns a fault if pages would show the current dataset to everyone, but people in it have nobody to write to. */
function contactFaults(catalogue: Catalogue, config: Config | null): Finding[] {
  const current = currentOrNull(catalogue);
  if (config?.browse !== "everyone" || current === null) return [];
  try {
    const { db } = openGeneration(catalogue.pathOf(current));
    const missed = missedContact(config, isInvented(readSources(db)));
    db.close();
    return missed === null ? [] : [fail(missed.found, `${missed.mend}.`)];
  } catch {
    // Another finding describes a dataset that cannot be opened, unless the folder is a cache.
    return [];
  }
}

/** Returns the fault of a pointer that is unreadable, names no existing dataset, or is missing after a publication. */
function pointerFaults(catalogue: Catalogue, sound: readonly string[]): Finding[] {
  const pointer = join(catalogue.folder, "current");
  const unreadable = unread(pointer);
  if (unreadable !== null) return [fail(unreadable.fault, unreadable.mend)];
  const last = lastPublished(
    catalogue.list().filter((one) => sound.includes(one.version)),
  )?.version;
  const mend =
    last === undefined
      ? `Stop the server, then: gp-records restore FILE --replace. Without a backup: rm ${pointer}, then import every source again.`
      : `gp-records datasets publish ${last}`;
  try {
    const named = catalogue.currentVersion();
    if (named !== null) return [fail(`${pointer} names ${named}, which does not exist`, mend)];
    const found = `${pointer} is missing, so no dataset is served`;
    return last === undefined ? [] : [fail(found, mend)];
  } catch {
    return [fail(`${pointer} does not name a dataset`, mend)];
  }
}
