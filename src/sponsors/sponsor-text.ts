/** Firms that the words of a filing name: in clarifications, titles, signers, notes and street lines. */
import { fold } from "#records/fold.ts";
import type { FormD } from "#filings/rows.ts";
import { candidateOf, type Candidate } from "./evidence.ts";
import { isIssuer, isLeading, isManaging, objection } from "./guards.ts";
import { entityOf, hasForm, isFirmLike, isWordOf, ownWords, stemOf, wordsOf } from "./names.ts";

/** Firm in a chain. */
interface Link {
  firm: string;
  /** Its role in the words of the text, such as `Manager of the Issuer`; empty if there is none. */
  role: string;
}

/** Returns what speaks against a firm in a role, or null. */
type Objection = (firm: string, role: string) => string | null;

/** Text with the firms that it names, outermost first. */
interface Sentence {
  field: string;
  text: string;
  chain: readonly Link[];
}

const forms = String.raw`L\.? ?L\.? ?C|L\.? ?L\.? ?L?\.? ?P|L\.? ?P|Inc|Incorporated|Corp|Corporation|Ltd|Limited|PLC|GmbH|S\.? ?[àa]\.? ?r\.? ?l`;
const commaBeforeForm = new RegExp(String.raw`,\s*(?=(?:${forms})\b)`, "gi");
const afterForm = new RegExp(
  String.raw`(?<=\b(?:${forms})\.?)\s+(?:(?:and|&)\s+|(?=(?:the|an?|general|managing|sole|investment|manager|sponsor)\b))`,
  "gi",
);
const clauseEnds =
  /\s*[:()"“”]\s*|,\s+|\s[-–—/|@]+\s|(?<=\b(?:C[A-Z]O|President|Manager|Member|Director|Partner))[-/](?=[A-Z])|\s*\b(?:which|who|that|is|are|was|serves?|acts?|acting|serving|being|its|through|as)\b\s*/gi;
const statementEnds = /\s*;\s*|(?<=[a-z)]{3}|[A-Z]{2})\.\s+(?=[A-Z])/;
const byFirm = /\s*\bby\b:?\s*/gi;
const afterTitle = new RegExp(
  String.raw`(?:(?<=\b(?:${wordsOf("titleEnds").join("|")}))\s+(?:of|for|to|at|with|in)|\s+and\s+of)\s+(?:(?:the|an?|each of|both)\s+)?`,
  "gi",
);
const roleBeforeFirm =
  /^(?:(?:the|an?|said)\s+)?(?:(?:issuer|company|fund|partnership)['’]?s\s+)?(?:(?:co-?)?sponsor|manager|managing member|general partner|investment (?:manager|advis[eo]r)|advis[eo]r|developer|promoter)\s+(?=[A-Z0-9])/i;
/** Title that no list knows, at the beginning of a statement. Some names hold such words too, after a word for a place. */
const otherTitle =
  /^(?!.*?\b(?:Bank|Homes|Shops|Villas|Flats|Lofts|Friends|Residences|Trust|House|City)\s)[A-Z][\w ,&]{2,50}?\s(?:of|at|for|with)\s+(?:the\s+)?(?=[A-Z0-9])/;
const fullStop = /(?<!\b(?:Inc|Corp|Ltd|Co|L\.P|L\.L\.C|S\.A))\.$/i;

/**
 * Returns the chains of a text, one a statement, so that `Manager of A, manager of the issuer; CEO of B` makes no chain
 * of A and B.
 */
const chainsIn = (text: string): Link[][] =>
  (/\bby\b.*\bby\b/i.test(text) ? [text] : text.split(statementEnds)).map(chainIn);

/**
 * Returns the firms that a statement names, outermost first: `officer of A, the manager of B, the general partner of the
 * issuer` gives A and B. Signature blocks, `By: B, its general partner; By: A, its manager`, run the other way.
 */
function chainIn(text: string): Link[] {
  const marked = text
    .replace(/\s+/g, " ")
    .replace(commaBeforeForm, " ")
    .replace(byFirm, "\u0001by\u0001")
    .replace(clauseEnds, "\u0001")
    .replace(afterForm, "\u0001")
    .replace(afterTitle, "\u0002")
    .replace(otherTitle, "\u0002");
  const parts = marked.split(/(?=[\u0001\u0002])/).map((part) => {
    const text = part.replace(/^[\u0001\u0002]/, "").trim();
    return { isOf: part.startsWith("\u0002"), text: text.replace(fullStop, "") };
  });
  const links: Link[] = [];
  /** Role that stands before a firm, as in `President of the Manager, Oakline LLC`. */
  let before = "";
  for (const [i, { isOf, text: part }] of parts.entries()) {
    if (part === "") continue;
    const given = roleBeforeFirm.exec(part)?.[0] ?? "";
    const firm = part.slice(given.length).replace(/^(?:the|said)\s+/, "");
    const after = parts.slice(i + 1);
    const end = after.findIndex(
      (next) => next.text === "by" || isFirm(next.text.replace(roleBeforeFirm, ""), next.isOf, ""),
    );
    const role = (end < 0 ? after : after.slice(0, end))
      .map((next) => (next.isOf ? `of ${next.text}` : next.text))
      .join(" ")
      .trim();
    if (isFirm(firm, isOf, role || given))
      links.push({ firm, role: role || given.trim() || before });
    const isRole = isOf && (isWordOf("self", fold(part)) || isLeading(part));
    before = !isRole ? "" : before === "" ? part : `${before} of ${part}`;
  }
  return parts.filter((part) => part.text === "by").length > 1 ? links.reverse() : links;
}

/**
 * Reports whether a part of a text is a firm's name. Without a legal form it needs a title before and a role after.
 * `a Delaware limited partnership` is none.
 */
function isFirm(part: string, isOf: boolean, role: string): boolean {
  if (!/^[\p{Lu}\p{N}]|^[a-z]+[A-Z]/u.test(part) || part.length > 150) return false;
  if (isWordOf("self", fold(part)) || ownWords(part).length === 0) return false;
  return hasForm(part) || (isOf && isFirmLike(part) && isLeading(role));
}

/**
 * Returns the firms that the words of a filing name, each judged.
 * @param manager the related entity that the filing calls manager or adviser, which goes before a mere general partner
 */
export function textCandidates(filing: FormD, isFund: boolean, manager?: Candidate): Candidate[] {
  const object: Objection = (firm, role) =>
    objection(filing, firm, role, isFund) ??
    (manager && manager.stem !== stemOf(firm) && !isManaging(role)
      ? `${manager.firm}, a manager or adviser, goes before it`
      : null);
  const sentences: Sentence[] = [];
  const add = (field: string, text: string, chains: readonly (readonly Link[])[]) => {
    const others = chains.map((chain) => chain.filter(({ firm }) => !isIssuer(filing, firm)));
    const leading = others.filter((chain) => chain.some(({ role }) => isLeading(role)));
    for (const chain of leading.length > 0 ? leading : others)
      if (chain.length > 0) sentences.push({ field, text, chain });
  };
  for (const person of filing.persons)
    if (person.clarification !== null && entityOf(person) === null)
      add("RELATIONSHIPCLARIFICATION", person.clarification, chainsIn(person.clarification));
  for (const { signer, title } of filing.signatures) {
    if (title !== null) add("SIGNATURETITLE", title, chainsIn(title));
    const firm = signer?.replace(/^n\/a\s+/i, "");
    if (firm !== undefined && hasForm(firm))
      add("NAMEOFSIGNER", [signer, title].filter(Boolean).join(", "), [
        [{ firm, role: title ?? "" }],
      ]);
  }
  const note = filing.amountNote ?? "";
  const stated = chainsIn(note).filter((chain) => chain.some(({ role }) => isLeading(role)));
  add("SALESAMTCLARIFICATIONOFRESP", note, stated);
  return [...judgeSentences(filing, sentences, object), ...streetCandidates(filing, object)];
}

/**
 * Judges sentences together. Each means the outermost firm of its chain that passes the guards. Where they mean
 * different firms, those are the persons' own companies, and the firm counts in which the chains meet.
 */
function judgeSentences(
  filing: FormD,
  sentences: readonly Sentence[],
  object: Objection,
): Candidate[] {
  const found: Candidate[] = [];
  const say = (
    { field, text }: Sentence,
    { firm, role }: Link,
    refusal: string | null,
    why = "",
  ) => {
    const isSure =
      isLeading(role) || meant.filter((one) => stemOf(one.link.firm) === stemOf(firm)).length > 1;
    const unsure = field === "SIGNATURETITLE" ? 0.8 : 0.7;
    const given = { field, text, firm, refusal, why, ...(!isSure && { confidence: unsure }) };
    found.push(candidateOf(filing, { basis: "sponsor_text", ...given }));
  };
  const meant: { sentence: Sentence; link: Link }[] = [];
  for (const sentence of sentences) {
    for (const link of sentence.chain) {
      const why = object(link.firm, link.role);
      if (why === null) {
        meant.push({ sentence, link });
        break;
      }
      say(sentence, link, why);
    }
  }
  const leading = meant.filter(({ link }) => isLeading(link.role));
  const chosen = chooseStems(leading.length > 0 ? leading : meant);
  for (const { sentence, link } of meant) {
    if (chosen.has(stemOf(link.firm))) {
      const isStated = isLeading(link.role);
      say(
        sentence,
        link,
        null,
        isStated ? "the text says what it does" : "the text names no other firm",
      );
      continue;
    }
    say(sentence, link, "the chains of other persons end in other firms");
    const meeting = sentence.chain.find(({ firm }) => chosen.has(stemOf(firm)));
    const why = "the chains of several persons meet in it";
    if (meeting) say(sentence, meeting, object(meeting.firm, meeting.role), why);
  }
  return found;
}

/**
 * Returns the stems of the firms that sentences mean together: one; none, if the persons' companies have nothing in
 * common; or several co-sponsors, which stand next to the issuer with a role each.
 */
function chooseStems(meant: readonly { sentence: Sentence; link: Link }[]): ReadonlySet<string> {
  const stems = meant.map(({ link }) => stemOf(link.firm));
  if (new Set(stems).size < 2) return new Set(stems);
  const chains = meant.map(({ sentence }) => sentence.chain.map(({ firm }) => stemOf(firm)));
  const others = (stem: string) => chains.filter((_, i) => stems[i] !== stem);
  const isShared = (stem: string) => stems.filter((one) => one === stem).length > 1;
  const shared = stems.find(
    (stem, i) =>
      isShared(stem) &&
      others(stem).every((chain) => chain.every((inner) => chains[i]!.includes(inner))),
  );
  if (shared !== undefined) return new Set([shared]);
  const meeting = chains[0]!.find((stem) => chains.every((chain) => chain.includes(stem)));
  if (meeting !== undefined) return new Set([meeting]);
  const areDirect = meant.every(
    ({ sentence, link }) => sentence.chain.length === 1 && isLeading(link.role),
  );
  return new Set(areDirect ? stems : []);
}

/** Returns firms of street lines. A line of persons counts only if the issuer's names nobody and theirs agree. */
function streetCandidates(filing: FormD, object: Objection): Candidate[] {
  const own = filing.issuers[0]!.place.firmInStreet;
  const theirs = filing.persons.flatMap(({ place }) => place.firmInStreet ?? []);
  const lines = [
    ...(own === null ? [] : [["ISSUERS.STREET", own] as const]),
    ...theirs.map((firm) => ["RELATEDPERSONS.STREET", firm] as const),
  ];
  const stems = new Set(theirs.map(stemOf));
  return lines.map(([field, firm]) => {
    const isOfIssuer = own !== null && stemOf(own) === stemOf(firm);
    const isShared = isOfIssuer || (own === null && stems.size === 1);
    const isKnown = ownWords(firm).some((word) =>
      filing.issuers.some(({ name }) => ownWords(name).includes(word)),
    );
    const isSure = isOfIssuer && (isKnown || stems.has(stemOf(firm)));
    return candidateOf(filing, {
      basis: "sponsor_text",
      ...(!isSure && { confidence: 0.7 }),
      field,
      text: firm,
      firm,
      refusal: object(firm, "") ?? (isShared ? null : "only some persons have their address there"),
      why: "the address is in its care",
    });
  });
}
