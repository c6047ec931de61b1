/** `npm run eval:sponsors`: holds the sponsors that are found against labels; prints how many are right, and every miss. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { readFilings } from "#filings/folder.ts";
import { ImportFault } from "#importers/import-fault.ts";
import type { Candidate } from "#sponsors/evidence.ts";
import { firmKey, stemOf } from "#sponsors/names.ts";
import { resolveSponsors } from "#sponsors/resolve.ts";
import type { Vehicle } from "#sponsors/vehicles.ts";
import { rate } from "./rate.ts";

const usage = `npm run eval:sponsors PATH…
npm run eval:sponsors -- --labels FILE PATH…

  PATH           files and folders of public filings
  --labels FILE  labels of your own, in the form of eval/labels.json; eval/rules.md tells how to label`;

const kinds = ["fund", "project", "out"] as const;

/** What a filing by itself tells a careful reader. */
interface Label {
  accession: string;
  kind: (typeof kinds)[number];
  /** Base name of the sponsor; null if the filing names nobody. */
  sponsor: string | null;
  /** Other names that are as right. */
  also?: string[];
  /** True if careful readers may differ; such a label does not count. */
  unsure?: boolean;
}

/** A filing with its label and what was found. */
interface Case {
  label: Label;
  /** Null if the filing was left out as no real estate. */
  vehicle: Vehicle | null;
  /** All that was weighed for the vehicle. */
  candidates: readonly Candidate[];
  /** True if the link bears the label's name; false, too, if either names nobody. */
  isRight: boolean;
}

/** Links at least this sure are those that pages call by no "probably". */
const sureConfidence = 0.8;
/** Lowest confidence of a link to a GP. */
const minConfidence = 0.5;

/** @throws ImportFault that names the file and the label. */
function readLabels(file: string): Label[] {
  const refuse = (reason: string) => new ImportFault(file, null, reason);
  let found: unknown;
  try {
    found = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw refuse(`cannot be read: ${(error as Error).message}`);
  }
  if (!Array.isArray(found))
    throw refuse("must be a list of labels, in the form of eval/labels.json");
  const seen = new Set<unknown>();
  for (const [at, label] of found.entries()) {
    const { accession, kind, sponsor, also = [], unsure = false } = Object(label) as Partial<Label>;
    const faults = [
      !/^\d{10}-\d{2}-\d{6}$/.test(String(accession)) &&
        "accession must be a number such as 0001234567-25-000001",
      seen.has(accession) && `a second label of ${accession}; take one of them away`,
      !kinds.includes(kind!) && `kind must be one of ${kinds.join(", ")}`,
      sponsor !== null && typeof sponsor !== "string" && "sponsor must be a name or null",
      kind === "out" && sponsor != null && "sponsor must be null where kind is out",
      !(Array.isArray(also) && also.every((name) => typeof name === "string")) &&
        "also must be a list of names",
      typeof unsure !== "boolean" && "unsure must be true or false",
    ];
    const fault = faults.find((one) => one !== false);
    if (fault !== undefined) throw refuse(`label ${at + 1}: ${fault}`);
    seen.add(accession);
  }
  return found as Label[];
}

/** Reports whether two names mean one firm: the same but for the legal form, or of one stem. */
const isSameFirm = (one: string, other: string) =>
  firmKey(one) === firmKey(other) || (stemOf(one) !== "" && stemOf(one) === stemOf(other));

async function readCases(paths: readonly string[], labels: readonly Label[]) {
  const folder = mkdtempSync(join(tmpdir(), "eval-sponsors-"));
  try {
    const scratchFile = join(folder, "rows.sqlite");
    const { filings, report } = await readFilings(paths, { scratchFile, salt: "eval" });
    try {
      const read = new Set<string>();
      for (const { accession } of filings.formD()) read.add(accession);
      const options = { minConfidence, publicId: (_: string, key: string) => key };
      const byAccession = new Map<string, Vehicle>();
      const { vehicles, candidatesOf } = resolveSponsors(filings, options);
      for (const vehicle of vehicles)
        for (const { accession } of vehicle.filings) byAccession.set(accession, vehicle);
      const cases = labels
        .filter(({ accession, unsure }) => read.has(accession) && !unsure)
        .map((label): Case => {
          const vehicle = byAccession.get(label.accession) ?? null;
          const said = vehicle?.link && [vehicle.link.gp.name, vehicle.link.gp.legalName ?? ""];
          const right = label.sponsor === null ? [] : [label.sponsor, ...(label.also ?? [])];
          const isRight = right.some((name) => said?.some((one) => isSameFirm(name, one)));
          const accessions = vehicle?.filings.map(({ accession }) => accession) ?? [];
          const candidates = candidatesOf(filings.formDOf(accessions));
          return { label, vehicle, candidates, isRight };
        });
      return { cases, filingsRead: report.formD, read };
    } finally {
      filings.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const table = (rows: readonly (readonly string[])[]): string[] => {
  const widths = rows[0]!.map((_, at) => Math.max(...rows.map((row) => row[at]!.length)));
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at]!))
      .join("  ")
      .trimEnd(),
  );
};

const kindOf = ({ vehicle }: Case) => vehicle?.kind ?? "out";
const linkOf = ({ vehicle }: Case) => vehicle?.link?.evidence ?? null;

function kindRows(cases: readonly Case[]): string[][] {
  const row = (name: string, of: readonly Case[]) => {
    const right = of.filter((one) => kindOf(one) === one.label.kind);
    return [name, rate(right.length, of.length)];
  };
  const isOf = (kind: Label["kind"]) => cases.filter(({ label }) => label.kind === kind);
  return [["kind", "right"], ...kinds.map((kind) => row(kind, isOf(kind))), row("all", cases)];
}

/**
 * Returns precision, recall and coverage of the links of each basis and band. A link to a firm where the label names
 * nobody, or where the filing is no real estate, is wrong.
 */
function sponsorRows(cases: readonly Case[]): string[][] {
  const realEstate = cases.filter(({ label }) => label.kind !== "out");
  const asked = cases.filter(({ label }) => label.sponsor !== null);
  const row = (
    name: string,
    isIn: (evidence: { basis: string; confidence: number }) => boolean,
  ) => {
    const named = cases.filter((one) => linkOf(one) !== null && isIn(linkOf(one)!));
    const right = named.filter(({ isRight }) => isRight).length;
    const covered = named.filter((one) => realEstate.includes(one)).length;
    return [
      name,
      rate(right, named.length),
      rate(right, asked.length),
      rate(covered, realEstate.length),
    ];
  };
  const bases = [...new Set(cases.flatMap((one) => linkOf(one)?.basis ?? []))].sort();
  return [
    ["links", "precision", "recall", "coverage"],
    ...bases.map((basis) => row(basis, (evidence) => evidence.basis === basis)),
    row(`confidence ${sureConfidence} to 1`, ({ confidence }) => confidence >= sureConfidence),
    row(
      `confidence ${minConfidence} to below ${sureConfidence}`,
      ({ confidence }) => confidence < sureConfidence,
    ),
    row("all", () => true),
  ];
}

/** Returns a line for each wrong kind, each wrong or missing name, and each name where nobody is named. */
function missesOf(cases: readonly Case[]): string[] {
  return cases.flatMap((one) => {
    const { label, vehicle, candidates, isRight } = one;
    const link = vehicle?.link;
    const lines: string[] = [];
    if (kindOf(one) !== label.kind)
      lines.push(
        `kind: label ${label.kind}, said ${kindOf(one)}${vehicle ? ` (${vehicle.reason})` : ""}`,
      );
    if (!isRight && (label.sponsor !== null || link)) {
      const said = link
        ? `${link.gp.name} by ${link.evidence.basis}, ${link.evidence.confidence}, from ${JSON.stringify(link.evidence.text)}`
        : "nobody";
      const names = label.sponsor === null ? [] : [label.sponsor, ...(label.also ?? [])];
      const refused = candidates.find(
        ({ firm, isTaken }) => !isTaken && names.some((name) => isSameFirm(name, firm)),
      );
      const why = refused ? `; ${refused.firm} refused by ${refused.basis}: ${refused.why}` : "";
      lines.push(`sponsor: label ${label.sponsor ?? "nobody"}, said ${said}${why}`);
    }
    return lines.map((line) => `${label.accession}  ${line}`);
  });
}

/** What the command line asks for. @throws UsageFault */
function readArguments() {
  const labels = { type: "string", default: join(import.meta.dirname, "labels.json") } as const;
  try {
    const { values, positionals } = parseArgs({ allowPositionals: true, options: { labels } });
    if (positionals.length === 0) throw new Error("PATH is missing; name a file or a folder");
    return { paths: positionals, labels: readLabels(values.labels) };
  } catch (error) {
    if (error instanceof ImportFault) throw error;
    throw new UsageFault((error as Error).message);
  }
}

class UsageFault extends Error {}

async function run(): Promise<void> {
  const { paths, labels } = readArguments();
  const { cases, filingsRead, read } = await readCases(paths, labels);
  const unread = labels.filter(({ accession }) => !read.has(accession)).length;
  const unsure = labels.length - unread - cases.length;
  const misses = missesOf(cases);
  const lines = [
    `filings read: ${filingsRead}; labels: ${labels.length}; counted: ${cases.length}, unsure: ${unsure}, of filings not read: ${unread}`,
    "",
    ...table(kindRows(cases)),
    "",
    ...table(sponsorRows(cases)),
    "",
    ...(misses.length === 0 ? ["no misses"] : ["misses", ...misses]),
  ];
  console.log(lines.join("\n"));
}

try {
  await run();
} catch (error) {
  if (error instanceof UsageFault) console.error(`error: ${error.message}\n\n${usage}`);
  else if (error instanceof ImportFault) console.error(`error: ${error.message}`);
  else throw error;
  process.exitCode = error instanceof UsageFault ? 2 : 1;
}
