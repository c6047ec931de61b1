/** Every firm that one filing proposes as sponsor, and what the issuer is. */
import type { FormD } from "#filings/rows.ts";
import { isFundNamed } from "./classify.ts";
import { ranked, type Candidate } from "./evidence.ts";
import { isManaging } from "./guards.ts";
import { entityCandidates, issuerCandidate, seriesCandidates } from "./related-entity.ts";
import { textCandidates } from "./sponsor-text.ts";

/**
 * Returns the firms that a filing proposes, each with its evidence: those taken first, the surest ahead. Several can be
 * taken, such as co-sponsors, or the manager by its clarification and by its address. Never empty: the issuer's own stem
 * is the last.
 */
export function candidatesOf(filing: FormD): Candidate[] {
  const isFund = isFundNamed(filing);
  const entities = entityCandidates(filing, isFund);
  const manager = entities.find(
    ({ isTaken, firm, text }) => isTaken && isManaging(text.slice(firm.length)),
  );
  const texts = textCandidates(filing, isFund, manager);
  return [
    ...ranked([...texts, ...entities, ...seriesCandidates(filing, isFund)]),
    issuerCandidate(filing),
  ];
}
