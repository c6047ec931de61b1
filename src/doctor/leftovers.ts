/** Did a killed command leave unfinished files behind? */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { decidedFolder, draftFolder } from "#backups/restore-folders.ts";
import type { Catalogue } from "#datasets/catalogue.ts";
import { draftFactsName, draftName, draftTextsName, findUnconfirmed } from "#datasets/leftovers.ts";
import { asideShape } from "#store/whole-file.ts";
import { type Check, fail, faultsOr, type Finding, ok, warn } from "./check.ts";
import {
  catalogueIn,
  currentVersion,
  datasetsFolder,
  factsPath,
  nextToServe,
  wholeVersions,
} from "./dataset-files.ts";
import { namesIn } from "./kept-files.ts";
import { importLock } from "./locks.ts";

export const leftovers: Check = {
  name: "leftovers",
  look({ dataDir }) {
    if (importLock(dataDir) !== null)
      return [ok("an import or a restore runs, so what is unfinished is its own")];
    return faultsOr(findLeftovers(dataDir), "no command left anything unfinished behind");
  },
};

/** Call it only while neither an import nor a restore runs. */
function findLeftovers(dataDir: string): Finding[] {
  const folder = datasetsFolder(dataDir);
  const unpublished = unpublishedDataset(folder);
  const drafts = namesIn(folder).filter(
    (name) =>
      name === draftName ||
      name === draftTextsName ||
      (name === draftFactsName && unpublished.length === 0) ||
      asideShape.test(name),
  );
  return [
    ...restoreLeftovers(dataDir),
    ...unpublished,
    ...drafts.map((name) =>
      warn(
        `${join(folder, name)} is what an import that was killed left; it only takes space`,
        `Nothing: the next import removes it. Or now: rm ${join(folder, name)}`,
      ),
    ),
    ...findHalves(catalogueIn(dataDir)),
  ];
}

/** A dataset that was about to become the current one when its command was killed. */
function unpublishedDataset(folder: string): Finding[] {
  const facts = findUnconfirmed(folder);
  if (facts === null) return [];
  const { version, published_at } = facts;
  const names = [`${version}.sqlite`, `${version}.json`, draftFactsName];
  const [file, , draft] = names.map((name) => join(folder, name));
  if (published_at === null)
    return [
      warn(
        `${draft} is what a publication of ${version} that was killed left; that dataset is staged as before`,
        `Nothing: the next import removes it. Or publish the dataset: gp-records datasets publish ${version}`,
      ),
    ];
  return [
    warn(
      `${file} is what an import left that was killed before it published it; it is no dataset and only takes space`,
      `Nothing: the next import removes it. Or now: rm ${names.map((name) => join(folder, name)).join(" ")}`,
    ),
  ];
}

function restoreLeftovers(dataDir: string): Finding[] {
  const decided = join(dataDir, decidedFolder);
  const draft = join(dataDir, draftFolder);
  if (existsSync(decided))
    return [
      warn(
        `${decided} is a restore that was killed while it put its files in place`,
        "Any other command finishes it, such as: gp-records datasets list",
      ),
    ];
  return existsSync(draft)
    ? [
        warn(
          `${draft} is what a restore that was killed left; nothing of it was put in place`,
          `Nothing: the next restore removes it. Or now: rm -r ${draft}`,
        ),
      ]
    : [];
}

/** A dataset has two files; finds those that are there alone. */
function findHalves(catalogue: Catalogue | null): Finding[] {
  if (catalogue === null) return [];
  const whole = wholeVersions(catalogue);
  const current = currentVersion(catalogue);
  const isServed = current !== null && whole.includes(current);
  return catalogue
    .versions()
    .filter((version) => !whole.includes(version))
    .map((version) =>
      version === current
        ? servedHalf(catalogue, version, whole)
        : spareHalf(filesOf(catalogue, version).there, isServed),
    );
}

/** It may be the only copy of what is served, so it has to be completed, never removed. */
function servedHalf(catalogue: Catalogue, version: string, whole: readonly string[]): Finding {
  const { there, missing } = filesOf(catalogue, version);
  const older = nextToServe(
    catalogue,
    whole.filter((one) => one < version),
  );
  const wayBack =
    older === undefined
      ? ""
      : ", or serve the dataset before it with: gp-records datasets rollback";
  return fail(
    `${there} is of the dataset to be served, but ${missing} is missing`,
    `Keep it, and put ${missing} back from a backup${wayBack}`,
  );
}

/** While no complete dataset is served, a file may still be needed to complete one. */
function spareHalf(path: string, isServed: boolean): Finding {
  return warn(
    `${path} is one of the two files of a dataset, which nobody reads alone`,
    isServed ? `rm ${path}` : "Keep it until `current` names a whole dataset.",
  );
}

function filesOf(catalogue: Catalogue, version: string): { there: string; missing: string } {
  const paths = [catalogue.pathOf(version), factsPath(catalogue, version)];
  const isThere = (path: string) => existsSync(path);
  return { there: paths.find(isThere)!, missing: paths.find((path) => !isThere(path))! };
}
