/** Reasons against a firm as sponsor, the same for every rule. */
import type { FormD } from "#filings/rows.ts";
import { dealOnly } from "./evidence.ts";
import { professionIn } from "./known-firms.ts";
import { firmKey, isDealOnly } from "./names.ts";
import professions from "./professions.json" with { type: "json" };

/** Reports whether words for a role are those of a manager, adviser, developer or sponsor. */
export const isManaging = (role: string): boolean =>
  /\bmanag(?:er|ers|ing|ement|es)\b|sponsor|\badvis[eo]r|\bdevelop|\bpromot/i.test(role);

/** Reports whether words for a role are those of a general partner. */
export const isPartnering = (role: string): boolean =>
  /\bgeneral partner/i.test(role) || /\bGP\b/.test(role);

/** Reports whether words for a role make a firm one that stands behind the issuer. */
export const isLeading = (role: string): boolean => isManaging(role) || isPartnering(role);

const serving =
  /\badministrat|\bagents?\b|\battorney|\bcounsel\b|\bcustodian|\bplacement|\bbroker|\bdealer|\blimited partner(?!ship)|\bproperty manag|\bindependent\b|\bauditor|\bnominee|\bdepositor|\btenant\b|\blender\b/i;
const owning =
  /\bowner|\bowns\b|\bshareholder|\bstockholder|\bbeneficial|\bmembers?\b|\bholder\b|\btrustee/i;
const personal =
  /\b(?:family|living|revocable|irrevocable|dynasty|grantor)\b.*\btrust\b|\btrust (?:dated|u\/a|under)|\bfamily (?:l\.?p|limited partnership|partnership)/i;
const professional = /\b(?:LLP|PLLC|P\.?[AC]\.?|law|attorneys?|CPAs?|esq\.?)$/i;

/** Reports whether a name is that of one of the issuers, now or before. */
export const isIssuer = (filing: FormD, firm: string): boolean =>
  filing.issuers.some(({ name, previousNames }) =>
    [name, ...previousNames].some((own) => firmKey(own) === firmKey(firm)),
  );

/**
 * Returns why a firm is refused as sponsor, as a clause. Returns null if nothing speaks against it.
 * @param role the filing's words for what it does, empty if there are none
 * @param isFund true if the issuer calls itself a fund, whose general partner may bear its name
 */
export function objection(
  filing: FormD,
  firm: string,
  role: string,
  isFund: boolean,
): string | null {
  if (isIssuer(filing, firm)) return "it is the issuer";
  const key = firmKey(firm);
  if (
    filing.recipients.some(({ name, broker }) =>
      [name, broker].some((seller) => seller && firmKey(seller) === key),
    )
  )
    return "it is paid for sales (Item 12)";
  const profession = professionIn(firm);
  if (profession) return `it is ${professions[profession]}`;
  if (personal.test(firm)) return "it holds a family's property";
  const clauses = role.split(/[,;/&]|\band\b/i);
  if (!clauses.some((clause) => isLeading(clause) && !serving.test(clause))) {
    if (serving.test(role)) return `it only serves: "${role}"`;
    if (owning.test(role)) return `it only owns: "${role}"`;
    if (professional.test(firm)) return "it is a firm of lawyers or accountants by its name";
  }
  return filing.issuers.some(({ name }) => isDealOnly(firm, name, isFund)) ? dealOnly : null;
}
