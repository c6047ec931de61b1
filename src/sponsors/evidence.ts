/** Evidence that a firm is behind an issuer or a GP: which rule found it, where, and why it was taken or refused. */
import { basename } from "node:path";
import type { Correction } from "#filings/corrections.ts";
import type { FormD, RelatedPerson } from "#filings/rows.ts";
import type { Evidence } from "#records/canonical.ts";
import type { Provenance } from "#records/common.ts";
import { stemOf } from "./names.ts";
import { formOf } from "./offerings.ts";
import confidence from "./confidence.json" with { type: "json" };
import words from "./people-words.json" with { type: "json" };

export const confidenceOf: Readonly<Record<Provenance["basis"], number>> = confidence.bases;

/** Firm proposed as a filing's sponsor, by the filing itself, a Form ADV or a correction. */
export interface Candidate {
  basis: Provenance["basis"];
  confidence: number;
  /** Field of the document, such as `RELATIONSHIPCLARIFICATION`. */
  field: string;
  /** Sentence, name or number as filed, or the reason for a correction. */
  text: string;
  /** Name of the firm as filed; empty for a correction that assigns no vehicle. */
  firm: string;
  /** Accession number of a Form D, or file and line of a correction. */
  document: string;
  isTaken: boolean;
  /** Reason for taking or refusing it, as a clause that follows "because". */
  why: string;
  /** Stem of the firm's name, folded. Names of one firm usually have equal stems. */
  stem: string;
}

export const dealOnly = "it is named after this deal";

/** Makes a candidate, refused if there is a `refusal`. The refusal `dealOnly` changes its basis and confidence. */
export function candidateOf(
  document: string,
  given: Pick<Candidate, "basis" | "field" | "text" | "firm" | "why"> &
    Partial<Pick<Candidate, "confidence">> & { refusal?: string | null },
): Candidate {
  const { refusal = null, confidence: sure, ...rest } = given;
  const basis = refusal === dealOnly ? "related_entity_deal" : given.basis;
  return {
    ...rest,
    basis,
    confidence: (basis === given.basis ? sure : undefined) ?? confidenceOf[basis],
    document,
    isTaken: refusal === null,
    why: refusal ?? given.why,
    stem: stemOf(given.firm),
  };
}

/**
 * Returns what a filing says about a related person, and in which field: the clarification, or else the ticked roles.
 * @param name full name of the person or firm.
 */
export function statementOf(
  { first, middle, last, clarification, roles }: RelatedPerson,
  name = [first, middle, last].filter(Boolean).join(" "),
) {
  const said = clarification ?? roles.map((role) => words.roles[role]).join(", ");
  const field = clarification === null ? "RELATEDPERSONS" : "RELATIONSHIPCLARIFICATION";
  return { field, said, text: `${name}: ${said}` };
}

/** Members common to all evidence whose document states the fact outright. */
export const stated = { firm: null, basis: "stated", confidence: 1, is_taken: 1 } as const;

/** Returns a correction as a candidate. @param firm firm to which it assigns a vehicle; "" if none. */
export const correctionOf = ({ file, line, why: text }: Correction, firm = ""): Candidate => {
  const why = "a correction says so";
  const given = { basis: "corrected", field: "why", text, firm, why } as const;
  return candidateOf(`${basename(file)}:${line}`, given);
};

/**
 * Returns a candidate as evidence.
 * @param filing Form D that it comes from; undefined for a correction
 * @param others candidates from other filings that say the same
 */
export function evidenceOf(
  { document: number, isTaken, firm, field, text, basis, confidence, why }: Candidate,
  filing?: FormD,
  others: readonly Candidate[] = [],
): Evidence {
  const correction = { form: "Correction", number, filer: null, filed_on: null, url: null };
  const source = filing === undefined ? correction : formOf(filing);
  const said = { field, text, firm: firm || null, basis, confidence, why };
  const numbers = others.map(({ document }) => document);
  return { ...source, ...said, is_taken: isTaken ? 1 : 0, others: numbers };
}
