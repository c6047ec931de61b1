/** Finds every firm that one filing proposes as sponsor: those of its texts and related persons, each taken or refused. */
import { fold } from "#records/fold.ts";
import type { FormD, RelatedPerson } from "#filings/rows.ts";
import { isFundNamed } from "./classify.ts";
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

/** Reports whether words for a role, or for a kind of firm, match a list of `role-patterns.json`. */
const says = (list: keyof typeof roles.patterns, written: string): boolean =>
  patterns.get(list)!.test(written);

const patterns = new Map(
  Object.entries(roles.patterns).map(([list, all]) => [list, new RegExp(all.join("|"), "i")]),
);

/** Reports whether words for a role make a firm one that stands behind the issuer. */
const isLeading = (role: string): boolean => says("managing", role) || says("partnering", role);

/** Returns why a firm in a role, in the filing's words, is no sponsor, as a clause. Returns null if it may be one. */
type Objection = (firm: string, role: string) => string | null;

/**
 * Returns the firms that a filing proposes, each with its evidence: those taken first, the surest ahead. Several can be
 * taken, such as co-sponsors, or the manager by its clarification and by its address. Never empty: the issuer's own stem
 * is the last.
 */
export function candidatesOf(filing: FormD): Candidate[] {
  const object = objectionsTo(filing);
  const { entities, manager } = entityCandidates(filing, object);
  const texts = textCandidates(filing, object, manager);
  const all = [...texts, ...entities, ...seriesCandidates(filing, object)].toSorted(byTrust);
  const { name } = filing.issuers[0]!;
  const refusal = "the issuer's own name names nobody else";
  const own = { field: "ENTITYNAME", text: name, firm: name, refusal, why: refusal };
  // A firm counts once by each basis.
  const keyOf = ({ basis, stem, isTaken }: Candidate) => `${basis} ${isTaken} ${stem}`;
  return [
    ...[...Map.groupBy(all, keyOf).values()].map(([first]) => first!),
    candidateOf(filing.accession, { basis: "issuer_stem", ...own }),
  ];
}

const byTrust = (one: Candidate, other: Candidate) =>
  Number(other.isTaken) - Number(one.isTaken) || other.confidence - one.confidence;

/** Reports whether a name is that of one of the issuers, now or before. */
const isIssuer = (filing: FormD, firm: string): boolean =>
  filing.issuers.some(({ name, previousNames }) =>
    [name, ...previousNames].some((own) => firmKey(own) === firmKey(firm)),
  );

function objectionsTo(filing: FormD): Objection {
  // The general partner of a fund may bear its name.
  const isFund = isFundNamed(filing);
  const sellers = filing.recipients.flatMap(({ name, broker }) => [name ?? "", broker ?? ""]);
  return (firm, role) => {
    if (isIssuer(filing, firm)) return "it is the issuer";
    if (sellers.some((seller) => seller !== "" && firmKey(seller) === firmKey(firm)))
      return "it is paid for sales (Item 12)";
    const profession = professionIn(firm);
    if (profession) return `it is ${professions[profession]}`;
    if (says("family", firm)) return "it holds a family's property";
    const clauses = role.split(/[,;/&]|\band\b/i);
    if (!clauses.some((clause) => isLeading(clause) && !says("serving", clause))) {
      if (says("serving", role)) return `it only serves: "${role}"`;
      if (says("owning", role)) return `it only owns: "${role}"`;
      if (says("professional", firm)) return "it is a firm of lawyers or accountants by its name";
    }
    return filing.issuers.some(({ name }) => isDealOnly(firm, name, isFund)) ? dealOnly : null;
  };
}

/** Firm among the related persons. */
interface Entity {
  firm: string;
  person: RelatedPerson;
  /** 3 for a manager or adviser, 2 for a general partner, 1 for a firm whose role only its name or a tick tells. */
  rank: number;
  objected: ReturnType<Objection>;
}

/**
 * Returns the firms among the related persons, each judged, and the manager or adviser that is taken, if one is. It goes
 * before a general partner, and either before a firm without a clarification; of several general partners the one with
 * the shortest base name is meant. A firm cannot be an officer or director itself, so that one in such a role manages
 * the issuer.
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
      refusal: objected ?? (isBehind ? `${best.firm} goes before it` : null),
      why: rank > 1 ? "the filing says what it does" : "it stands among the related persons",
    });
  });
  return { entities, manager: best?.rank === 3 ? entities[found.indexOf(best)] : undefined };
}

/** Orders by rank; then names of houses before those of vehicles; general partners by length; else as filed. */
function byPreference(one: Entity, other: Entity): number {
  const house = ({ firm }: Entity) => Number(says("vehicle", firm));
  const length = ({ firm, rank }: Entity) => (rank === 2 ? baseName(firm).length : 0);
  return other.rank - one.rank || house(one) - house(other) || length(one) - length(other);
}

/** Returns the firm whose series the issuer is, judged. */
function seriesCandidates(filing: FormD, object: Objection): Candidate[] {
  const { name } = filing.issuers[0]!;
  const firm = seriesMaster(name);
  if (firm === null || ownWords(firm).length === 0) return [];
  const given = { field: "ENTITYNAME", text: name, firm, refusal: object(firm, "") };
  const why = "the issuer is its series";
  return [candidateOf(filing.accession, { basis: "series_master", ...given, why })];
}

/** Firm that a text names, in a chain of such firms. */
interface Named {
  firm: string;
  /** Its role in the words of the text, such as `Manager of the Issuer`; empty if there is none. */
  role: string;
}

/** Text with the firms that it names, outermost first. */
interface Sentence {
  field: string;
  text: string;
  chain: readonly Named[];
}

const titles = wordsOf("titleEnds").join("|");

/** Returns a pattern of `clause-marks.json` with its lists of forms and titles filled in. */
const filled = (pattern: string, flags: string): RegExp =>
  new RegExp(pattern.replace("{forms}", clauses.forms).replace("{titles}", titles), flags);

const marks = clauses.marks.map(
  ([pattern, flags, mark]) => [filled(pattern!, flags!), mark!] as const,
);
const statementEnds = filled(clauses.statementEnds, "");
const roleBeforeFirm = filled(clauses.roleBeforeFirm, "i");
const fullStop = filled(clauses.fullStop, "i");

/**
 * Returns the chains of a text, one a statement, so that `Manager of A, manager of the issuer; CEO of B` makes no chain
 * of A and B.
 */
const chainsIn = (text: string): Named[][] =>
  (/\bby\b.*\bby\b/i.test(text) ? [text] : text.split(statementEnds)).map(chainIn);

/**
 * Returns the firms that a statement names, outermost first: `officer of A, the manager of B, the general partner of the
 * issuer` gives A and B. Signature blocks, `By: B, its general partner; By: A, its manager`, run the other way.
 */
function chainIn(text: string): Named[] {
  const marked = marks.reduce((all, [pattern, mark]) => all.replace(pattern, mark), text);
  const parts = marked.split(/(?=[\u0001\u0002])/).map((part) => {
    const text = part.replace(/^[\u0001\u0002]/, "").trim();
    return { isOf: part.startsWith("\u0002"), text: text.replace(fullStop, "") };
  });
  const named: Named[] = [];
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
      named.push({ firm, role: role || given.trim() || before });
    const isRole = isOf && (isWordOf("self", fold(part)) || isLeading(part));
    before = !isRole ? "" : before === "" ? part : `${before} of ${part}`;
  }
  return parts.filter((part) => part.text === "by").length > 1 ? named.reverse() : named;
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
function textCandidates(filing: FormD, objectTo: Objection, manager?: Candidate): Candidate[] {
  const object: Objection = (firm, role) =>
    objectTo(firm, role) ??
    (manager && manager.stem !== stemOf(firm) && !says("managing", role)
      ? `${manager.firm}, a manager or adviser, goes before it`
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

/** Sentence with the firm that it means. */
interface Meant {
  sentence: Sentence;
  named: Named;
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
      const why = isStated ? "the text says what it does" : "the text names no other firm";
      say(sentence, named, null, why);
      continue;
    }
    say(sentence, named, "the chains of other persons end in other firms");
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

/** Returns firms of street lines. A line of persons counts only if the issuer's names nobody and theirs agree. */
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
      refusal: object(firm, "") ?? (isShared ? null : "only some persons have their address there"),
      why: "the address is in its care",
    });
  });
}
