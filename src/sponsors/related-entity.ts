/** Firms among the related persons of a filing, the master of a series, and the issuer's own name. */
import type { FormD, RelatedPerson } from "#filings/rows.ts";
import { candidateOf, type Candidate } from "./evidence.ts";
import { isManaging, isPartnering, objection } from "./guards.ts";
import { baseName, entityOf, ownWords, seriesMaster, stemOf } from "./names.ts";

interface Entity {
  firm: string;
  person: RelatedPerson;
  role: string;
  /** 3 for a manager or adviser, 2 for a general partner, 1 for a firm whose role only its name or a tick tells. */
  rank: number;
  /** Reason against it, or null. */
  objected: string | null;
}

/**
 * Returns the firms among the related persons, each judged. A manager or adviser goes before a general partner, either
 * before a firm without a clarification; of several general partners the one with the shortest base name is meant. A
 * firm cannot be an officer or director itself, so that one in such a role manages the issuer.
 */
export function entityCandidates(filing: FormD, isFund: boolean): Candidate[] {
  const entities = filing.persons.flatMap((person): Entity[] => {
    const firm = entityOf(person);
    const role = person.clarification ?? "";
    if (firm === null) return [];
    const rank = isManaging(role) ? 3 : isPartnering(role) ? 2 : 1;
    return [{ firm, person, role, rank, objected: objection(filing, firm, role, isFund) }];
  });
  const best = entities.filter(({ objected }) => objected === null).toSorted(byPreference)[0];
  return entities.map(({ firm, person, role, rank, objected }) => {
    const isBehind = best !== undefined && stemOf(best.firm) !== stemOf(firm);
    const roles = person.roles.join(", ").replaceAll("_", " ");
    return candidateOf(filing, {
      basis: "related_entity",
      ...(rank === 1 && { confidence: 0.7 }),
      field: role === "" ? "RELATEDPERSONS" : "RELATIONSHIPCLARIFICATION",
      text: role === "" ? `${firm} (${roles})` : `${firm}: ${role}`,
      firm,
      refusal: objected ?? (isBehind ? `${best.firm} goes before it` : null),
      why: rank > 1 ? "the filing says what it does" : "it stands among the related persons",
    });
  });
}

const vehicleName = /\b(?:GP|MM|Manager|Managing Member|General Partner|Member|Services)\b/i;

/** Orders by rank; then names of houses before those of vehicles; general partners by length; else as filed. */
function byPreference(one: Entity, other: Entity): number {
  const house = ({ firm }: Entity) => Number(vehicleName.test(firm));
  const length = ({ firm, rank }: Entity) => (rank === 2 ? baseName(firm).length : 0);
  return other.rank - one.rank || house(one) - house(other) || length(one) - length(other);
}

/** Returns the firm whose series the issuer is, judged. */
export function seriesCandidates(filing: FormD, isFund: boolean): Candidate[] {
  const { name } = filing.issuers[0]!;
  const master = seriesMaster(name);
  if (master === null || ownWords(master).length === 0) return [];
  return [
    candidateOf(filing, {
      basis: "series_master",
      field: "ENTITYNAME",
      text: name,
      firm: master,
      refusal: objection(filing, master, "", isFund),
      why: "the issuer is its series",
    }),
  ];
}

/** Returns the issuer's own stem, which names no GP. */
export function issuerCandidate(filing: FormD): Candidate {
  const { name } = filing.issuers[0]!;
  const refusal = "the issuer's own name names nobody else";
  return candidateOf(filing, {
    basis: "issuer_stem",
    field: "ENTITYNAME",
    text: name,
    firm: name,
    refusal,
    why: refusal,
  });
}
