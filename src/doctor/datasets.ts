/** Is every dataset the file that was published, and is what is known of it true? */
import type { Catalogue } from "#datasets/catalogue.ts";
import { checkGenerations, type GenerationCheck } from "#datasets/check-generations.ts";
import { asCache, type Check, fail, faultsOr, type Finding, ok } from "./check.ts";
import { catalogueIn, nextToServe, wholeVersions } from "./dataset-files.ts";

export const datasets: Check = {
  name: "datasets",
  look({ dataDir, isThorough, config }) {
    const findings = findingsIn(dataDir, isThorough);
    return config === null || config.databaseUrl === null ? findings : asCache(findings);
  },
};

function findingsIn(dataDir: string, isThorough: boolean): readonly Finding[] {
  const catalogue = catalogueIn(dataDir);
  const versions = wholeVersions(catalogue);
  if (catalogue === null || versions.length === 0) return [ok("there is none yet")];
  const checked = [...checkGenerations(catalogue, isThorough, versions)];
  const sound = checked.filter(({ fault }) => fault === null).map(({ version }) => version);
  return faultsOr(
    checked.flatMap((one) => findingOf(one, catalogue, sound)),
    `${versions.length} of ${versions.length} the same as published, by SHA-256, and as their VERSION.json says`,
  );
}

function findingOf(
  { wrong, fault, mend, isCurrent }: GenerationCheck,
  catalogue: Catalogue,
  sound: readonly string[],
): Finding[] {
  if (fault === null) return [];
  const found = fault.replace(/\.$/, "");
  if (!isCurrent || wrong === "unread") return [fail(found, mend ?? "")];
  const other = nextToServe(catalogue, [...sound]);
  const anotherOne =
    other === undefined
      ? "gp-records restore FILE --replace"
      : `gp-records datasets publish ${other}`;
  // Intact records should not be replaced with older ones.
  const way = wrong === "facts" ? (mend ?? "") : anotherOne;
  return [fail(`${found}; it is the one to be served`, way)];
}
