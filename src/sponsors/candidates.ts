/** Finds the firms that a filing proposes as its sponsor, and takes or refuses each. */
import { fold } from "#records/fold.ts";
import type { FormD, RelatedPerson } from "#filings/rows.ts";
import { fundReason } from "./classify.ts";
import { type Candidate, candidateOf, dealOnly, statementOf } from "./evidence.ts";
import {
  baseName,
  entityOf,
  firmKey,
  hasForm,
  isDealOnly,
  isFirmLike,
  isWordOf,
  ownWords,
  professionIn,
  seriesMaster,
  stemOf,
  wordsOf,
} from "./names.ts";
import clauses from "./clause-marks.json" with { type: "json" };
import professions from "./professions.json" with { type: "json" };
import roles from "./role-patterns.json" with { type: "json" };

/** Reports whether a text matches a list in `role-patterns.json`. */
const says = (list: keyof typeof roles.patterns, written: string): boolean =>
  patterns.get(list)!.test(written);

const patterns = new Map(
  Object.entries(roles.patterns).map(([list, all]) => [list, new RegExp(all.join("|"), "i")]),
);

/** Reports whether a role may be a sponsor's, such as that of a manager, adviser or general partner. */
const isLeading = (role: string): boolean => says("managing", role) || says("partnering", role);

/** Test of a firm and its role as filed. Returns why it is not a sponsor, as a clause; null if it may be one. */
type Objection = (firm: string, role: string) => string | null;

/**
 * Returns the firms that a filing proposes, with their evidence. Taken firms come before refused ones, both by falling
 * confidence. Co-sponsors can all be taken. A firm can appear under several bases. The issuer is always last, refused.
 */
export function candidatesOf(filing: FormD): Candidate[] {
  const object = objectionsTo(filing);
  const { entities, manager } = entityCandidates(filing, object);
  const texts = textCandidates(filing, object, manager);
  const all = [...texts, ...entities, ...seriesCandidates(filing, object)].toSorted(byTrust);
  const { name } = filing.issuers[0]!;
  const refusal = "the issuer's name points to nobody else";
  const own = { field: "ENTITYNAME", text: name, firm: name, refusal, why: refusal };
  // Per basis, a firm counts at most once as taken and once as refused.
  const keyOf = ({ basis, stem, isTaken }: Candidate) => `${basis} ${isTaken} ${stem}`;
  return [
    ...[...Map.groupBy(all, keyOf).values()].map(([first]) => first!),
    candidateOf(filing.accession, { basis: "issuer_stem", ...own }),
  ];
}

const byTrust = (one: Candidate, other: Candidate) =>
  Number(other.isTaken) - Number(one.isTaken) || other.confidence - one.confidence;

/** Reports whether a firm is one of the issuers, by a current or previous name. */
const isIssuer = (filing: FormD, firm: string): boolean =>
  filing.issuers.some(({ name, previousNames }) =>
    [name, ...previousNames].some((own) => firmKey(own) === firmKey(firm)),
  );

function objectionsTo(filing: FormD): Objection {
  // A fund's general partner may share its name.
  const isFund = fundReason(filing) !== null;
  const sellers = filing.recipients.flatMap(({ name, broker }) => [name ?? "", broker ?? ""]);
  return (firm, role) => {
    if (isIssuer(filing, firm)) return "it is the issuer";
    if (sellers.some((seller) => seller !== "" && firmKey(seller) === firmKey(firm)))
      return "it receives sales compensation (Item 12)";
    const profession = professionIn(firm);
    if (profession) return `it is ${professions[profession]}`;
    if (says("family", firm)) return "it holds a family's property";
    const clauses = role.split(/[,;/&]|\band\b/i);
    if (!clauses.some((clause) => isLeading(clause) && !says("serving", clause))) {
      if (says("serving", role)) return `it only provides a service: ${role}`;
      if (says("owning", role)) return `it is only an owner: ${role}`;
      if (says("professional", firm)) return "its name is that of a law or accounting firm";
    }
    return filing.issuers.some(({ name }) => isDealOnly(firm, name, isFund)) ? dealOnly : null;
  };
}

interface Entity {
  firm: string;
  person: RelatedPerson;
  /** 3 for a manager, adviser, sponsor, developer or promoter; 2 for a general partner; 1 for any other firm. */
  rank: number;
  objected: ReturnType<Objection>;
}

/**
 * Judges the firms among the related persons. Takes the first by `byPreference`, and acceptable others with its stem.
 * Returns all firms, and the first as `manager` if its rank is 3. A firm that is listed as an officer or director also
 * counts, since it cannot be one itself and so presumably manages the issuer.
 */
function entityCandidates(filing: FormD, object: Objection) {
  const found = filing.persons.flatMap((person): Entity[] => {
    const firm = entityOf(person);
    const role = person.clarification ?? "";
    const rank = says("managing", role) ? 3 : says("partnering", role) ? 2 : 1;
    return firm === null ? [] : [{ firm, person, rank, objected: object(firm, role) }];
  });
  const best = found.filter(({ objected }) => objected === null).toSorted(byPreference)[0];
  const entities = found.map(({ firm, person, rank, objected }) => {
    const isBehind = best !== undefined && stemOf(best.firm) !== stemOf(firm);
    const { field, text } = statementOf(person, firm);
    return candidateOf(filing.accession, {
      basis: "related_entity",
      ...(rank === 1 && { confidence: 0.7 }),
      field,
      text,
      firm,
      refusal: objected ?? (isBehind ? `${best.firm} ranks above it` : null),
      why: rank > 1 ? "the filing states its role" : "it is listed among the related persons",
    });
  });
  return { entities, manager: best?.rank === 3 ? entities[found.indexOf(best)] : undefined };
}

/** Orders by rank; then puts names of vehicles last and short names of general partners first; else keeps the order. */
function byPreference(one: Entity, other: Entity): number {
  const house = ({ firm }: Entity) => Number(says("vehicle", firm));
  const length = ({ firm, rank }: Entity) => (rank === 2 ? baseName(firm).length : 0);
  return other.rank - one.rank || house(one) - house(other) || length(one) - length(other);
}

/** Judges the firm that the issuer is a series of, if any. */
function seriesCandidates(filing: FormD, object: Objection): Candidate[] {
  const { name } = filing.issuers[0]!;
  const firm = seriesMaster(name);
  if (firm === null || ownWords(firm).length === 0) return [];
  const given = { field: "ENTITYNAME", text: name, firm, refusal: object(firm, "") };
  const why = "the issuer is one of its series";
  return [candidateOf(filing.accession, { basis: "series_master", ...given, why })];
}

/** One firm of a chain that a text names. */
interface Named {
  firm: string;
  /** Role as written, such as `Manager of the Issuer`; empty if there is none. */
  role: string;
}

/** Text with the firms that it names, outermost first. */
interface Sentence {
  field: string;
  text: string;
  chain: readonly Named[];
}

const titles = wordsOf("titleEnds").join("|");

/** Compiles a pattern of `clause-marks.json`, with the lists of forms and titles filled in. */
const filled = (pattern: string, flags: string): RegExp =>
  new RegExp(pattern.replace("{forms}", clauses.forms).replace("{titles}", titles), flags);

const marks = clauses.marks.map(
  ([pattern, flags, mark]) => [filled(pattern!, flags!), mark!] as const,
);
const statementEnds = filled(clauses.statementEnds, "");
const roleBeforeFirm = filled(clauses.roleBeforeFirm, "i");
const fullStop = filled(clauses.fullStop, "i");

/**
 * Returns the chains in a text, one per statement. `Manager of A, manager of the issuer; CEO of B` therefore does not
 * link A and B. A text with several `by` is a signature block and is read as one statement.
 */
const chainsIn = (text: string): Named[][] =>
  (/\bby\b.*\bby\b/i.test(text) ? [text] : text.split(statementEnds)).map(chainIn);

/**
 * Returns the firms that a statement names, outermost first. `officer of A, the manager of B, the general partner of
 * the issuer` gives A and B. Signature blocks, `By: B, its general partner; By: A, its manager`, run the other way.
 */
function chainIn(text: string): Named[] {
  const marked = marks.reduce((all, [pattern, mark]) => all.replace(pattern, mark), text);
  const parts = marked.split(/(?=[\u0001\u0002])/).map((part) => {
    const text = part.replace(/^[\u0001\u0002]/, "").trim();
    return { isOf: part.startsWith("\u0002"), text: text.replace(fullStop, "") };
  });
  const named: Named[] = [];
  /** Role written before a firm, as in `President of the Manager, Oakline LLC`. */
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
      named.push({ firm, role: role || given.trim() || before });
    const isRole = isOf && (isWordOf("self", fold(part)) || isLeading(part));
    before = !isRole ? "" : before === "" ? part : `${before} of ${part}`;
  }
  return parts.filter((part) => part.text === "by").length > 1 ? named.reverse() : named;
}

/**
 * Reports whether a part of a text is a firm's name. A name without a legal form needs a title before it and a
 * sponsor's role beside it. `a Delaware limited partnership` is not a name.
 */
function isFirm(part: string, isOf: boolean, role: string): boolean {
  if (!/^[\p{Lu}\p{N}]|^[a-z]+[A-Z]/u.test(part) || part.length > 150) return false;
  if (isWordOf("self", fold(part)) || ownWords(part).length === 0) return false;
  return hasForm(part) || (isOf && isFirmLike(part) && isLeading(role));
}

/**
 * Judges the firms that the texts of a filing name.
 * @param manager related manager or adviser, which ranks above firms in other roles; undefined if there is none
 */
function textCandidates(filing: FormD, objectTo: Objection, manager?: Candidate): Candidate[] {
  const object: Objection = (firm, role) =>
    objectTo(firm, role) ??
    (manager && manager.stem !== stemOf(firm) && !says("managing", role)
      ? `${manager.firm}, a manager or adviser, ranks above it`
      : null);
  const sentences: Sentence[] = [];
  const add = (field: string, text: string, chains: readonly (readonly Named[])[]) => {
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

interface Meant {
  sentence: Sentence;
  named: Named;
}

/**
 * Judges sentences together. Each points to the outermost acceptable firm of its chain. The firm where the chains meet
 * counts instead if the sentences point to different firms. Those are usually the persons' own companies.
 */
function judgeSentences(
  filing: FormD,
  sentences: readonly Sentence[],
  object: Objection,
): Candidate[] {
  const found: Candidate[] = [];
  const meant: Meant[] = [];
  const say = (
    { field, text }: Sentence,
    { firm, role }: Named,
    refusal: string | null,
    why = "",
  ) => {
    const isSure =
      isLeading(role) || meant.filter((one) => stemOf(one.named.firm) === stemOf(firm)).length > 1;
    const unsure = field === "SIGNATURETITLE" ? 0.8 : 0.7;
    const given = { field, text, firm, refusal, why, ...(!isSure && { confidence: unsure }) };
    found.push(candidateOf(filing.accession, { basis: "sponsor_text", ...given }));
  };
  for (const sentence of sentences)
    for (const named of sentence.chain) {
      const refusal = object(named.firm, named.role);
      if (refusal === null) {
        meant.push({ sentence, named });
        break;
      }
      say(sentence, named, refusal);
    }
  const leading = meant.filter(({ named }) => isLeading(named.role));
  const chosen = chooseStems(leading.length > 0 ? leading : meant);
  for (const { sentence, named } of meant) {
    if (chosen.has(stemOf(named.firm))) {
      const isStated = isLeading(named.role);
      const why = isStated ? "the text states its role" : "the text names no other firm";
      say(sentence, named, null, why);
      continue;
    }
    say(sentence, named, "other persons act through other firms");
    const meeting = sentence.chain.find(({ firm }) => chosen.has(stemOf(firm)));
    const why = "several persons act through it";
    if (meeting) say(sentence, meeting, object(meeting.firm, meeting.role), why);
  }
  return found;
}

/**
 * Returns the stem of the firm that all sentences together point to. Returns several stems for co-sponsors, each with
 * its own role at the issuer. Returns an empty set if the sentences have no firm in common.
 */
function chooseStems(meant: readonly Meant[]): ReadonlySet<string> {
  const stems = meant.map(({ named }) => stemOf(named.firm));
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
    ({ sentence, named }) => sentence.chain.length === 1 && isLeading(named.role),
  );
  return new Set(areDirect ? stems : []);
}

/**
 * Judges the firms named in street lines of addresses. A person's firm counts if the issuer's line names it too. It
 * also counts if the issuer's line names no firm and the persons' lines name only this one.
 */
function streetCandidates(filing: FormD, object: Objection): Candidate[] {
  const own = filing.issuers[0]!.place.firmInStreet;
  const theirs = filing.persons.flatMap(({ firmInStreet }) => firmInStreet ?? []);
  const stems = new Set(theirs.map(stemOf));
  const issuerWords = filing.issuers.flatMap(({ name }) => ownWords(name));
  return [...(own === null ? [] : [own]), ...theirs].map((firm, i) => {
    const isOfIssuer = own !== null && stemOf(own) === stemOf(firm);
    const isShared = isOfIssuer || (own === null && stems.size === 1);
    const isKnown = ownWords(firm).some((word) => issuerWords.includes(word));
    const isSure = isOfIssuer && (isKnown || stems.has(stemOf(firm)));
    return candidateOf(filing.accession, {
      basis: "sponsor_text",
      ...(!isSure && { confidence: 0.7 }),
      field: own !== null && i === 0 ? "ISSUERS.STREET" : "RELATEDPERSONS.STREET",
      text: firm,
      firm,
      refusal: object(firm, "") ?? (isShared ? null : "only some persons' addresses name it"),
      why: "the address names it",
    });
  });
}
