/** Reads filings for `import sec`, resolves their sponsors, and reports on both. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import type { FilingsReport } from "#filings/folder.ts";
import type { SourceEntry } from "#records/canonical.ts";
import type { Resolution, ResolveOptions } from "#sponsors/resolve.ts";
import type { ResolvedGp } from "#sponsors/vehicles.ts";
import { counted, grouped } from "#words.ts";
import { CommandFault, exitCodes } from "./command-fault.ts";
import { firstLines, onOneLine } from "./output.ts";

export type FilingsSummary = Awaited<ReturnType<typeof openFilings>>["summary"];

/** Counts by kind of record. `records` counts all of them; a member's name counts those with a value in it. */
type Filled = Record<string, Record<string, number>>;

interface FilingsOrder {
  /** Folder for the temporary file of rows. */
  folder: string;
  source: string;
  minConfidence: number;
  /** Lowest percentage of vehicles that must have a GP; undefined if any will do. */
  namedPercentMin: number | undefined;
  /** Shows a count. @param what name of the counted things, such as "rows read". */
  show?: (count: number, what: string) => void;
}

/**
 * V8 flags for an import of filings. Without them, V8 treats short-lived rows as long-lived, and lets the heap grow to
 * three times the memory in use before it collects garbage.
 */
const v8Flags = ["--no-allocation-site-pretenuring", "--heap-growing-percent=20"] as const;

/**
 * Reads and resolves filings.
 * @returns the entries, made on demand, and a summary. The caller must call the returned `close`.
 * @throws ImportFault if a path does not exist or cannot be read, or a file is damaged.
 */
export async function openFilings(
  paths: readonly string[],
  { folder, source, minConfidence, namedPercentMin, show = () => {} }: FilingsOrder,
) {
  for (const flag of v8Flags) setFlagsFromString(flag);
  const { readFilings } = await import("#filings/folder.ts");
  const { resolveSponsors } = await import("#sponsors/resolve.ts");
  const { recordsOf } = await import("#sponsors/records.ts");
  const { draftName } = await import("#datasets/catalogue.ts");
  const { mintId } = await import("#datasets/draft-record.ts");
  // Named like the draft, so that the next command under the import lock removes a file left by a killed import.
  const scratchFile = join(folder, `${draftName}.filings`);
  const salt = randomBytes(16).toString("hex");
  const onRow = (rows: number) => show(rows, "rows read");
  const { filings, report } = await readFilings(paths, { scratchFile, salt, onRow });
  const close = () => filings.close();
  function* shown<T>(all: Iterable<T>, what: string): Generator<T, void> {
    let count = 0;
    for (const one of all) {
      if (++count % 100 === 0) show(count, what);
      yield one;
    }
  }
  try {
    const options: ResolveOptions = {
      minConfidence,
      publicId: (kind, key) => mintId(kind, source, key),
    };
    const resolution = resolveSponsors(
      {
        ...filings,
        formD: () => shown(filings.formD(), "filings resolved"),
        advisers: () => shown(filings.advisers(), "advisers compared"),
      },
      options,
    );
    const filled: Filled = {};
    // Kept in place of the resolution, which is as large as the records and is freed once they are made.
    const figures = filingsFigures(report, resolution, filled);
    const { named, unnamed } = figures.vehicles;
    const isUnnamed = named * 100 < (named + unnamed) * (namedPercentMin ?? 0);
    const refusal = isUnnamed ? ("unnamed" as const) : null;
    const summary = { report, figures, unmet: resolution.unmet, namedPercentMin, refusal };
    const entries = counting(recordsOf(filings, resolution, options), filled, close);
    return { entries, summary, close };
  } catch (error) {
    close();
    throw error;
  }
}

/** Yields entries, and counts their records and filled members. @param done called at the end, to free the rows. */
function* counting(entries: Iterable<SourceEntry>, filled: Filled, done: () => void) {
  for (const entry of entries) {
    for (const { record, id: _, ...given } of entry.records) {
      const counts = (filled[record] ??= { records: 0 });
      counts["records"]!++;
      for (const [name, value] of Object.entries(given))
        if (value !== null && (typeof value !== "object" || Object.keys(value).length > 0))
          counts[name] = (counts[name] ?? 0) + 1;
    }
    yield entry;
  }
  done();
}

/** Returns counts by name, highest first. */
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

const largestMax = 5;

/** Returns the figures that are kept with the dataset. @param filled counts, which grow as records are made. */
function filingsFigures(
  report: FilingsReport,
  { gps, vehicles, leftOut }: Resolution,
  filled: Filled,
) {
  const named = vehicles.filter(({ link }) => link !== null).length;
  const largest = gps.toSorted((a, b) => b.vehicles.length - a.vehicles.length);
  return {
    files: report.files,
    form_d: report.formD,
    form_adv: report.advisers,
    firms: report.firms,
    newest: report.newest,
    unnumbered: report.unnumbered,
    undated: report.undated,
    skipped: report.skipped,
    not_real_estate: byNumber(leftOut),
    vehicles: { named, unnamed: vehicles.length - named },
    gps: {
      total: gps.length,
      by_basis: countBy(gps, basisOf),
      by_confidence: countBy(gps, bandOf),
      largest: largest.slice(0, largestMax).map((gp) => {
        return { key: gp.key, name: gp.name, vehicles: gp.vehicles.length };
      }),
    },
    filled,
  };
}

export function filingsJson({ report, figures, unmet }: FilingsSummary) {
  return {
    ...figures,
    files_left_out: report.leftOut,
    rejected_rows: report.rejectedRows.map(({ file, count, firstLine: first_line }) => ({
      file,
      count,
      first_line,
    })),
    corrections_unmet: [...unmet].map(({ file, line, why }) => ({ file, line, why })),
  };
}

const fileKinds: Readonly<Record<keyof FilingsReport["files"], string>> = {
  form_d_quarter: "Form D quarter",
  form_d_filing: "Form D filing",
  adv: "Form ADV file",
  firm_feed: "firm feed",
  corrections: "corrections file",
  zip_county: "ZIP code table",
  county_cbsa: "county table",
  edgar_index: "EDGAR index file",
};

const skipReasons: Readonly<Record<keyof FilingsReport["skipped"], string>> = {
  test: "to test EDGAR",
  twice: "also in another file",
  other_form: "of another form",
  no_accession: "without an accession number",
  no_issuer: "without an issuer",
  no_offering: "without an offering",
  no_base: "of Form ADV without their base table",
};

/** Returns counts as `12 of one kind, 3 of another`, or `none`. */
const listOf = (
  counts: Readonly<Record<string, number>>,
  words: Readonly<Record<string, string>> = {},
) =>
  Object.entries(counts)
    .map(([name, count]) => `${grouped(count)} ${words[name] ?? name}`)
    .join(", ") || "none";

/** Figures of filings, as kept with the dataset. */
export type FilingsFigures = ReturnType<typeof filingsFigures>;
/** Figures; during an import, also the files left out, the rows rejected and the corrections unmet. */
type Said = FilingsFigures & Partial<ReturnType<typeof filingsJson>>;

export function filingsText(said: Said, nowMilliseconds: number): string[] {
  const { files_left_out: leftOut, rejected_rows = [], corrections_unmet = [] } = said;
  const files = Object.entries(said.files).map(([kind, count]) =>
    counted(count, fileKinds[kind as keyof typeof fileKinds]!),
  );
  const outside = Object.entries(said.not_real_estate);
  const { named, unnamed } = said.vehicles;
  const { total, by_basis, by_confidence, largest } = said.gps;
  const age = (day: string | null) =>
    day === null ? "none" : `${day}, ${counted(daysSince(day, nowMilliseconds), "day")} ago`;
  return [
    `Files: ${files.join(", ") || "none"}${leftOut ? `; ${grouped(leftOut.length)} left out` : ""}${colon(leftOut ?? [])}`,
    ...firstLines((leftOut ?? []).map(({ file, reason }) => onOneLine(`  ${file} ${reason}`))),
    ...firstLines(
      rejected_rows.map(({ file, count, first_line }) =>
        onOneLine(`  ${file}:${first_line}: ${counted(count, "row")} could not be read`),
      ),
    ),
    `Filings: ${grouped(said.form_d)} of Form D, ${grouped(said.form_adv)} of Form ADV${said.firms ? `, ${counted(said.firms, "firm")} of the firm feed` : ""}; left out: ${listOf(said.skipped, skipReasons)}.`,
    `Newest: Form D ${age(said.newest.form_d)}; Form ADV ${age(said.newest.form_adv)}${said.firms ? `; firm feed ${age(said.newest.firm_feed)}` : ""}.`,
    `Not real estate: ${counted(sum(outside), "filing")}${colon(outside)}`,
    ...firstLines(outside.map(([reason, count]) => onOneLine(`  ${grouped(count)}: ${reason}`))),
    `Vehicles: ${grouped(named)} of ${grouped(named + unnamed)} have a GP (${percentOf(named, named + unnamed)}%).`,
    `GPs: ${grouped(total)}. Basis: ${listOf(by_basis)}. Confidence: ${listOf(by_confidence, bands)}.`,
    ...largest.map(({ key, name, vehicles }) =>
      onOneLine(`  ${counted(vehicles, "vehicle")}: ${name} (${key})`),
    ),
    ...firstLines(
      corrections_unmet.map(({ file, line, why }) =>
        onOneLine(`  ${file}:${line}: the correction matches no record; its reason is: ${why}`),
      ),
    ),
    ...Object.entries(said.filled).map(([kind, { records = 0, ...members }]) => {
      const shares = Object.entries(byNumber(Object.entries(members))).map(
        ([name, count]) => `${name} ${percentOf(count, records)}%`,
      );
      return `Members filled in ${counted(records, kind)}: ${shares.join(", ")}.`;
    }),
  ];
}

const percentOf = (count: number, all: number) => Math.floor((count * 100) / Math.max(all, 1));
const daysSince = (day: string, nowMilliseconds: number) =>
  Math.floor((nowMilliseconds - Date.parse(day)) / 86_400_000);
const colon = (list: readonly unknown[]) => (list.length > 0 ? ":" : ".");
const bands = { "1": "at 1", "0.8_to_1": "from 0.8 to 1", "below_0.8": "below 0.8" };
const sum = (counts: readonly (readonly [string, number])[]) =>
  counts.reduce((total, [, count]) => total + count, 0);

export function unnamedFault(
  { namedPercentMin, figures: { vehicles } }: FilingsSummary,
  nothing: string,
): CommandFault {
  const { named, unnamed } = vehicles;
  const all = named + unnamed;
  return new CommandFault(
    exitCodes.shrunk,
    `Only ${grouped(named)} of ${grouped(all)} vehicles have a GP, fewer than the ${namedPercentMin}% that --min-named requires; ${nothing}. Check that no archive of Form ADV is missing. If this share is right, use --min-named ${percentOf(named, all)}%.`,
  );
}
