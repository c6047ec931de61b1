/** Finds files of datasets without the other one that makes a dataset. */
import { existsSync } from "node:fs";
import type { Catalogue } from "#datasets/catalogue.ts";
import { fail, type Finding, warn } from "./check.ts";
import { currentVersion, factsPath, nextToServe, wholeVersions } from "./dataset-files.ts";

export function findHalves(catalogue: Catalogue | null): Finding[] {
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

/** Perhaps the only copy of what is served: it is to be made whole, never removed. */
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

/** While nothing whole is served, nobody can tell that a file is not needed to make it so. */
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
