/** Reads filings for `import sec`, resolves their sponsors, and reports on both. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { FilingsReport } from "#filings/folder.ts";
import type { SourceEntry } from "#records/canonical.ts";
import type { Resolution, ResolvedGp, ResolveOptions } from "#sponsors/resolve.ts";
import { counted } from "#words.ts";
import { CommandFault, exitCodes } from "./command-fault.ts";
import { onOneLine } from "./output.ts";

export interface FilingsSummary {
  report: FilingsReport;
  resolution: Resolution;
  /** Number of vehicles that have a GP. */
  named: number;
  /** Lowest percentage of vehicles that must have a GP; undefined if any will do. */
  namedPercentMin: number | undefined;
  /** `unnamed` if fewer vehicles have a GP. */
  refusal: "unnamed" | null;
}

interface FilingsOrder {
  /** Folder for the temporary file of rows. */
  folder: string;
  source: string;
  minConfidence: number;
  namedPercentMin: number | undefined;
}

/** Opened filings, whose entries are made as they are asked for. The caller closes them. */
interface OpenFilings {
  entries: Iterable<SourceEntry>;
  summary: FilingsSummary;
  close: () => void;
}

/** Reads and resolves filings. @throws ImportFault if a path is not there, or a file is damaged. */
export async function openFilings(
  paths: readonly string[],
  { folder, source, minConfidence, namedPercentMin }: FilingsOrder,
): Promise<OpenFilings> {
  const { readFilings } = await import("#filings/folder.ts");
  const { resolveSponsors } = await import("#sponsors/resolve.ts");
  const { recordsOf } = await import("#sponsors/records.ts");
  const { draftName } = await import("#datasets/catalogue.ts");
  const { mintId } = await import("#datasets/draft-record.ts");
  // Named like the draft, so that the next command that takes the lock clears what a killed one left behind.
  const scratchFile = join(folder, `${draftName}.filings`);
  const salt = randomBytes(16).toString("hex");
  const { filings, report } = await readFilings(paths, { scratchFile, salt });
  const close = () => filings.close();
  try {
    const options: ResolveOptions = {
      minConfidence,
      publicId: (kind, key) => mintId(kind, source, key),
    };
    const resolution = resolveSponsors(filings, options);
    const { vehicles } = resolution;
    const named = vehicles.filter(({ link }) => link !== null).length;
    const isUnnamed = named * 100 < vehicles.length * (namedPercentMin ?? 0);
    const refusal = isUnnamed ? "unnamed" : null;
    return {
      entries: recordsOf(filings, resolution, options),
      summary: { report, resolution, named, namedPercentMin, refusal },
      close,
    };
  } catch (error) {
    close();
    throw error;
  }
}

/** Numbers by name, the highest first. */
const byNumber = (counts: Iterable<readonly [string, number]>): Record<string, number> =>
  Object.fromEntries([...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1)));

function countBy(gps: readonly ResolvedGp[], nameOf: (gp: ResolvedGp) => string) {
  const groups = Map.groupBy(gps, nameOf);
  return byNumber([...groups].map(([name, some]) => [name, some.length] as const));
}

const basisOf = ({ isRenamed, evidence }: ResolvedGp) =>
  isRenamed ? "corrected" : (evidence?.basis ?? "stated");

function bandOf({ isRenamed, evidence }: ResolvedGp): string {
  const confidence = isRenamed ? 1 : (evidence?.confidence ?? 1);
  return confidence === 1 ? "1" : confidence >= 0.8 ? "0.8_to_1" : "below_0.8";
}

/** Returns what `--json` says of the filings. */
export function filingsJson({ report, resolution, named }: FilingsSummary) {
  const { gps, vehicles, leftOut, unmet } = resolution;
  return {
    files: report.files,
    files_left_out: report.leftOut,
    form_d: report.formD,
    form_adv: report.advisers,
    unnumbered: report.unnumbered,
    undated: report.undated,
    skipped: report.skipped,
    rejected_rows: report.rejectedRows.map(({ file, count, firstLine: first_line }) => ({
      file,
      count,
      first_line,
    })),
    not_real_estate: byNumber(leftOut),
    vehicles: { named, unnamed: vehicles.length - named },
    gps: {
      total: gps.length,
      by_basis: countBy(gps, basisOf),
      by_confidence: countBy(gps, bandOf),
    },
    corrections_unmet: [...unmet].map(({ line, why }) => ({ line, why })),
  };
}

const fileKinds: Readonly<Record<keyof FilingsReport["files"], string>> = {
  form_d_quarter: "Form D quarter",
  form_d_filing: "Form D filing",
  adv: "Form ADV file",
  corrections: "corrections file",
  zip_county: "ZIP code table",
  county_cbsa: "county table",
  edgar_index: "EDGAR index file",
};

const skipReasons: Readonly<Record<keyof FilingsReport["skipped"], string>> = {
  test: "to test EDGAR",
  twice: "that another file has, too",
  other_form: "of another form",
  no_accession: "without an accession number",
  no_issuer: "without an issuer",
  no_offering: "without an offering",
  no_base: "of Form ADV without their base",
};

const number = (count: number) => count.toLocaleString("en-US");

/** Returns counts as `12 of one kind, 3 of another`, or `none`. */
const listOf = (
  counts: Readonly<Record<string, number>>,
  words: Readonly<Record<string, string>> = {},
) =>
  Object.entries(counts)
    .map(([name, count]) => `${number(count)} ${words[name] ?? name}`)
    .join(", ") || "none";

/** Returns lines for people. @param max maximum number of lines of one list. */
export function filingsText(summary: FilingsSummary, max: number): string[] {
  const said = filingsJson(summary);
  const some = (lines: readonly string[]) =>
    lines.length > max
      ? [...lines.slice(0, max), `  … and ${lines.length - max} more; add --json to list them`]
      : lines;
  const files = Object.entries(said.files).map(([kind, count]) =>
    counted(count, fileKinds[kind as keyof typeof fileKinds]!),
  );
  const outside = Object.entries(said.not_real_estate);
  const { named, unnamed } = said.vehicles;
  const percent = Math.floor((named * 100) / Math.max(named + unnamed, 1));
  const { total, by_basis, by_confidence } = said.gps;
  return [
    `Files: ${files.join(", ") || "none"}; ${number(said.files_left_out.length)} left out${colon(said.files_left_out)}`,
    ...some(said.files_left_out.map(({ file, reason }) => onOneLine(`  ${file} ${reason}`))),
    ...some(
      said.rejected_rows.map(({ file, count, first_line }) =>
        onOneLine(`  ${file}:${first_line}: ${counted(count, "row")} could not be read`),
      ),
    ),
    `Filings: ${number(said.form_d)} of Form D, ${number(said.form_adv)} of Form ADV; left out: ${listOf(said.skipped, skipReasons)}.`,
    `No real estate: ${counted(sum(outside), "filing")}${colon(outside)}`,
    ...some(outside.map(([reason, count]) => onOneLine(`  ${number(count)}: ${reason}`))),
    `Vehicles: ${number(named)} of ${number(named + unnamed)} have a GP (${percent}%).`,
    `GPs: ${number(total)}. Basis: ${listOf(by_basis)}. Confidence: ${listOf(by_confidence, bands)}.`,
    ...some(
      said.corrections_unmet.map(({ line, why }) =>
        onOneLine(`  correction in line ${line} met nothing: ${why}`),
      ),
    ),
  ];
}

const colon = (list: readonly unknown[]) => (list.length > 0 ? ":" : ".");
const bands = { "1": "at 1", "0.8_to_1": "from 0.8 to 1", "below_0.8": "below 0.8" };
const sum = (counts: readonly (readonly [string, number])[]) =>
  counts.reduce((total, [, count]) => total + count, 0);

/** Returns the error for filings that name too few GPs. */
export function unnamedFault(
  { named, namedPercentMin, resolution }: FilingsSummary,
  nothing: string,
): CommandFault {
  const { length } = resolution.vehicles;
  const percent = Math.floor((named * 100) / length);
  return new CommandFault(
    exitCodes.shrunk,
    `Only ${number(named)} of ${number(length)} vehicles have a GP, less than the ${namedPercentMin}% wanted; ${nothing}. Check that no archive of Form ADV is missing. If so few are right, use --min-named ${percent}%.`,
  );
}
