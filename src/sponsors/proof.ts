/** Hands on what was weighed for each record: the words of filings, what was taken or refused, and why. */
import type { AdviserFiling, Correction, FormD } from "#filings/rows.ts";
import type { Evidence } from "#records/canonical.ts";
import type { Candidate } from "./evidence.ts";
import { entityOf } from "./names.ts";
import { adviserFormOf, formOf } from "./offerings.ts";
import type { Mention } from "./people.ts";
import type { ResolvedGp, Vehicle } from "./resolve.ts";

const lineOf = (number: string) => ({
  form: "Correction",
  number,
  filer: null,
  filed_on: null,
  url: null,
});

const stated = { firm: null, basis: "stated", confidence: 1, is_taken: 1 } as const;

const correctedBy = (corrections: readonly Correction[]): Evidence[] =>
  corrections.map(({ line, why: text }) => {
    const why = "a correction says so";
    const document = lineOf(`corrections.ndjson:${line}`);
    return { ...document, ...stated, field: "why", text, basis: "corrected", why };
  });

/** Returns a candidate of a vehicle as evidence. @param others the same of other filings. */
function evidenceOf(
  { filings }: Vehicle<FormD>,
  { document, field, text, firm, basis, confidence, isTaken, why }: Candidate,
  others: readonly Candidate[] = [],
): Evidence {
  const filing = filings.find(({ accession }) => accession === document);
  return {
    ...(filing === undefined ? lineOf(field) : formOf(filing)),
    field: filing === undefined ? "why" : field,
    text,
    firm,
    basis,
    confidence,
    is_taken: isTaken ? 1 : 0,
    why,
    others: others.map((other) => other.document),
  };
}

const bestFirst = (one: Evidence, other: Evidence) =>
  other.is_taken - one.is_taken || other.confidence - one.confidence;

/** Returns whom the filings of a project propose as sponsor and, if nobody is, the persons of the latest. */
export function projectEvidence(
  vehicle: Vehicle<FormD>,
  candidates: readonly Candidate[],
  minConfidence: number,
): Evidence[] {
  const { link, filings } = vehicle;
  const all = new Set([...(link === null ? [] : [link.evidence]), ...candidates]);
  const said = ({ basis, field, text, stem }: Candidate) => [basis, field, text, stem].join("\n");
  const rows = [...Map.groupBy(all, said).values()].map(([one, ...others]): Evidence => {
    const row = evidenceOf(vehicle, one!, others);
    if (!one!.isTaken || one!.stem === link?.evidence.stem) return row;
    const weak = `a GP takes a confidence of ${minConfidence}`;
    const why = link === null ? weak : "better evidence names another firm";
    return { ...row, is_taken: 0, why };
  });
  const latest = filings.at(-1)!;
  const persons = latest.persons.filter((one) => link === null && entityOf(one) === null);
  const named = persons.map((person): Evidence => {
    const { first, middle, last, clarification, roles } = person;
    const name = [first, middle, last].filter(Boolean).join(" ");
    const text = `${name}: ${clarification ?? roles.join(", ").replaceAll("_", " ")}`;
    const why = "a person is no sponsor";
    return { ...formOf(latest), ...stated, field: "RELATEDPERSONS", text, is_taken: 0, why };
  });
  return [...rows.sort(bestFirst), ...named];
}

/** Returns what makes a GP: corrections, its own Form ADV, and the best evidence of each vehicle. */
export function gpEvidence(
  { vehicles }: ResolvedGp<FormD>,
  advisers: readonly AdviserFiling[],
  corrections: readonly Correction[],
): Evidence[] {
  const [own, ...older] = advisers.toReversed();
  const others = older.map(({ filingId }) => filingId);
  const why = "an adviser speaks of itself";
  const name = own && { field: "1C-Legal", text: own.legalName, firm: own.legalName };
  return [
    ...correctedBy(corrections),
    ...(name ? [{ ...adviserFormOf(own!), ...stated, ...name, why, others }] : []),
    ...vehicles.map((vehicle) => evidenceOf(vehicle, vehicle.link!.evidence)).sort(bestFirst),
  ];
}

/** Returns the filings that name a person, the newest first, each sentence of a subject once. */
export function principalEvidence(
  mentions: readonly Mention[],
  corrections: readonly Correction[],
): Evidence[] {
  const byDate = mentions.toSorted((a, b) => Number(a.date < b.date) - Number(a.date > b.date));
  const said = ({ subject, field, sentence }: Mention) => [subject, field, sentence].join("\n");
  const rows = [...Map.groupBy(byDate, said).values()].map(([first, ...rest]): Evidence => {
    const { source, link, field, sentence } = first!;
    const why =
      source.form === "Form ADV"
        ? "the adviser names the person in its Form ADV"
        : "the filing names the person, and its issuer is a vehicle of the GP";
    const others = rest.map(({ document }) => document);
    const { basis, confidence } = link;
    return { ...source, ...stated, field, text: sentence, basis, confidence, why, others };
  });
  return [...correctedBy(corrections), ...rows];
}
