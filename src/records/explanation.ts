/** Explains why records say what they say, in one shape and wording for the API, tools, pages and commands. */
import { gps, Provenance } from "./common.ts";
import { date, decimal, link, list, oneOf, orNull, text, whole } from "./fields.ts";
import { kinds, namedKinds } from "./kinds.ts";
import { type Static, Type } from "./schema.ts";
import { basisWords, provenanceBases, sureFrom } from "./vocabulary.ts";

const Document = Type.Object({
  form: text("Kind of document, such as `Form D/A`."),
  number: text("Number of the document, unique in its source."),
  filer: orNull(text("Name of the filer.")),
  filed_on: orNull(date("Date of the filing.")),
  url: orNull(link("Page of the document.")),
});

const Quotation = Type.Object({
  document: Document,
  field: text("Field of the document, as the document names it."),
  text: text("Sentence or name as filed."),
  firm: orNull(text("Firm that it names, as filed.")),
  basis: oneOf("Rule that found it.", provenanceBases),
  confidence: decimal("How far `basis` can be trusted for this quotation, from 0 to 1.", 0, 1),
  taken: Type.Boolean({ description: "Whether it was taken. Otherwise it was refused." }),
  why: text('Reason for taking or refusing it, as a clause that follows "because".'),
});
export type Quotation = Static<typeof Quotation>;

const singulars = namedKinds.map((kind) => kinds[kind].singular).join(", ");
/** Phrase for the kinds whose records are explained: "GP, principal or project". */
export const anyExplained = singulars.replace(/, (?=[^,]*$)/, " or ");

const prefixes = namedKinds.map((kind) => kinds[kind].prefix).join("|");

export const Explanation = Type.Object({
  id: Type.String({ description: "Id of the record.", pattern: `^(${prefixes})_[0-9a-z]{16}$` }),
  kind: oneOf("Kind of the record.", namedKinds),
  name: text("Name of the record."),
  statement: text("Who is named and how sure that is, or that nobody is named.", 1000),
  provenance: Provenance,
  gps,
  evidence: list("Quotations from documents, at most 20; those taken come first.", Quotation),
  documents_left_out: whole("Number of further documents, which are not quoted."),
});
export type Explanation = Static<typeof Explanation>;

/** Explanation; null if no record has the id, undefined if evidence is damaged, `gone` if the dataset was removed. */
export type Explained = Explanation | "gone" | null | undefined;

export const goneText = "The dataset of this record is being replaced. Try again in a second.";

export const damagedText =
  "The evidence for this record is damaged, so it is not shown. Tell the operator of this service, whose log says more.";

/** States who is named and how sure that is, or that nobody is named. */
export function statementOf(told: Omit<Explanation, "statement">): string {
  const { name, provenance, evidence } = told;
  const [gp = name, ...others] = told.gps.map((one) => one.name);
  const more = others.length > 0 ? ` and ${others.length} more` : "";
  const none = evidence.length === 0 ? ` Source '${provenance.source}' gives no evidence.` : "";
  if (told.kind !== "gp" && told.gps.length === 0)
    return `${isFiled(told) ? "No filing names a sponsor" : "The source names no GP"}.${none}`;
  const probably = provenance.confidence < sureFrom ? "Probably " : "";
  return `${probably}${gp}${more}: ${sureText(provenance)}.${none}`;
}

/** Returns why a quotation was taken or refused. Names no rule if a person was refused, because none applied. */
export function reasonOf({ firm, taken, why, ...rule }: Quotation): string {
  if (firm === null && !taken) return `Refused: ${why}`;
  const who = firm === null ? "" : `${firm}: `;
  return `${taken ? "Taken" : "Refused"}: ${who}${sureText(rule)}, because ${why}`;
}

const sureText = ({ basis, confidence }: Pick<Provenance, "basis" | "confidence">): string =>
  `${basisWords[basis] ?? basis}, confidence ${percentText(confidence)}`;

export const percentText = (share: number): string => `${Math.round(share * 100)} %`;

/** Returns a record's basis in words, such as "stated" or "probably: identified by the issuer's name alone". */
export const basisText = ({ basis, confidence }: Provenance): string =>
  `${confidence < sureFrom ? "probably: " : ""}${basisWords[basis] ?? basis}`;

/** Returns provenance in words, such as "demo, stated, confidence 100 %". */
export const provenanceWords = (provenance: Provenance): string =>
  `${provenance.source}, ${basisText(provenance)}, confidence ${percentText(provenance.confidence)}`;

/** Bases that do not imply a public filing. */
const unfiled: readonly Provenance["basis"][] = ["stated", "named_sponsor", "corrected"];

/** Reports whether an address is on a site of the SEC that has filings. */
export const isFiling = (address: string | null): boolean =>
  /^(?:www|adviserinfo)\.sec\.gov$/.test(URL.parse(address ?? "")?.hostname ?? "");

/** Reports whether a record is from public filings. */
export const isFiled = ({ provenance: { basis, url } }: Pick<Explanation, "provenance">): boolean =>
  !unfiled.includes(basis) || isFiling(url);
