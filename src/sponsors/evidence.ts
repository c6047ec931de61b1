/** Evidence that a firm stands behind an issuer or a GP: which rule found it, where, and why it was taken or refused. */
import type { Correction } from "#filings/corrections.ts";
import type { FormD, RelatedPerson } from "#filings/rows.ts";
import type { Evidence } from "#records/canonical.ts";
import type { Provenance } from "#records/common.ts";
import { baseName, stemOf } from "./names.ts";
import { formOf } from "./offerings.ts";
import confidence from "./confidence.json" with { type: "json" };
import words from "./people-words.json" with { type: "json" };

export const confidenceOf: Readonly<Record<Provenance["basis"], number>> = confidence.bases;

/** Firm that one filing proposes as sponsor, or a Form ADV or a correction for it. */
export interface Candidate {
  basis: Provenance["basis"];
  confidence: number;
  /** Field of the document in the document's words, such as `RELATIONSHIPCLARIFICATION`. */
  field: string;
  /** Sentence or name as filed. */
  text: string;
  /** Name of the firm as filed. */
  firm: string;
  /** Accession of a Form D; for a correction its file and line. */
  document: string;
  isTaken: boolean;
  /** Reason for taking or refusing it, as a clause that follows "because". */
  why: string;
  /** Base name, such as `Oakline Capital` for `OAKLINE CAPITAL ADVISORS, LLC`. */
  name: string;
  /** Stem of the name, folded; equal for names of one firm. */
  stem: string;
}

export const dealOnly = "its name is that of this deal";

/**
 * Returns a firm that a filing, or a correction, proposes.
 * @param given `why` is the reason for taking it, unless `refusal` tells why it is refused.
 */
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
    name: baseName(given.firm),
    stem: stemOf(given.firm),
  };
}

/**
 * Returns a filing's words for what a related person is, and the field that has them: the clarification, else the ticks.
 * @param name name of the person or firm, put together.
 */
export function statementOf(
  { first, middle, last, clarification, roles }: RelatedPerson,
  name = [first, middle, last].filter(Boolean).join(" "),
) {
  const said = clarification ?? roles.map((role) => words.roles[role]).join(", ");
  const field = clarification === null ? "RELATEDPERSONS" : "RELATIONSHIPCLARIFICATION";
  return { field, said, text: `${name}: ${said}` };
}

/** Evidence of what its document states, unless it says otherwise. */
export const stated = { firm: null, basis: "stated", confidence: 1, is_taken: 1 } as const;

/** Returns what a correction says. @param firm the firm that it gives a vehicle to. */
export const correctionOf = ({ line, why: text }: Correction, firm = ""): Candidate => {
  const why = "a correction says so";
  const given = { basis: "corrected", field: "why", text, firm, why } as const;
  return candidateOf(`corrections.ndjson:${line}`, given);
};

/**
 * Returns a candidate as evidence.
 * @param filing the Form D that it is from; undefined for a correction
 * @param others the same of other filings
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
