/** Assembles the principals of a GP from every filing that names them. Nobody is merged across GPs. */
import type { Correction } from "#filings/corrections.ts";
import type { AdviserFiling, FormD, RelatedPerson } from "#filings/rows.ts";
import type { CanonicalPrincipal, Evidence, EvidenceDocument } from "#records/canonical.ts";
import type { Provenance } from "#records/common.ts";
import { cut } from "#records/fields.ts";
import { fold } from "#records/fold.ts";
import type { ownershipBands, principalRoles } from "#records/vocabulary.ts";
import { correctionOf, evidenceOf, stated, statementOf } from "./evidence.ts";
import { entityOf, isAlike, mostFrequent, ownerName, readable, shortKey } from "./names.ts";
import { adviserFormOf, filedOn, formOf } from "./offerings.ts";
import words from "./people-words.json" with { type: "json" };
import type { ResolvedGp, Vehicle } from "./vehicles.ts";

type Role = (typeof principalRoles)[number];
type Band = (typeof ownershipBands)[number];

/** A filing's words about a person. */
interface Mention extends ReturnType<typeof nameParts> {
  /** Subject of the filing: `crd:N` of an adviser, `cik:N` of an issuer. */
  subject: string;
  /** The filing. Its number is an accession number or a FilingID. */
  source: EvidenceDocument;
  date: string;
  field: string;
  /** Person and title as filed. */
  text: string;
  crd: string | null;
  title: string;
  roles: Role[];
  band: Band | null;
  since: string | null;
  /** Basis of the link between the subject and the GP, and its confidence. */
  link: Pick<Provenance, "basis" | "confidence">;
}

const bands = new Map(Object.entries(words.bands) as [string, Band][]);
const titleRoles = Object.entries(words.titles).map(
  ([role, pattern]) => [new RegExp(`\\b(?:${pattern})\\b`, "i"), role as Role] as const,
);
const rolesIn = (title: string | null): Role[] =>
  titleRoles.filter(([pattern]) => pattern.test(title ?? "")).map(([, role]) => role);

/**
 * Returns the principals of a GP, sorted by id, each with the keys that it claims and its evidence.
 * @param advisers Form ADV filings under its CRD numbers, oldest first.
 * @param unmet corrections that have matched nothing so far. Those that match a person are removed.
 * @param publicId function that returns the public id of a key.
 */
export function principalsOf(
  gp: ResolvedGp<FormD>,
  advisers: readonly AdviserFiling[],
  corrections: readonly Correction[],
  unmet: Set<Correction>,
  publicId: (key: string) => string,
): { principal: CanonicalPrincipal; claims: readonly string[]; evidence: readonly Evidence[] }[] {
  const mentions = [...advisers.flatMap(adviserMentions), ...gp.vehicles.flatMap(vehicleMentions)];
  const aparts = corrections.filter((one) => one.kind === "personApart");
  const fields = corrections.filter((one) => one.kind === "personField");
  /** Returns the keys and public ids by which corrections may name a person. Returns none without such corrections. */
  const idsOf = (keys: readonly string[]) =>
    new Set(aparts.length + fields.length === 0 ? [] : [...keys, ...keys.map(publicId)]);
  /** Corrections that split people, by each resulting person. */
  const parted = new Map<Person, Correction[]>();
  const people = group(mentions).flatMap((person) => {
    let parts = [person];
    const ids = idsOf(possibleKeys(person));
    for (const correction of aparts.filter((one) => ids.has(one.person))) {
      const isOther = ({ source }: Mention) => correction.accessions.includes(source.number);
      parts = parts.flatMap((part) => {
        const [others, rest] = [part.filter(isOther), part.filter((one) => !isOther(one))];
        if (others.length === 0 || rest.length === 0) return [part];
        unmet.delete(correction);
        for (const one of [rest, others])
          parted.set(one, [...(parted.get(part) ?? []), correction]);
        return [rest, others];
      });
    }
    return parts;
  });
  return keyed(people)
    .map(({ person, id, claims }) => {
      const principal = principalOf(id, gp, person);
      const ids = idsOf([id, ...claims]);
      const corrected = fields.filter((one) => ids.has(one.person));
      for (const correction of corrected) {
        unmet.delete(correction);
        Object.assign(principal, {
          [correction.field]: correction.value,
          provenance: { ...principal.provenance, basis: "corrected", confidence: 1 },
        });
      }
      const all = [...(parted.get(person) ?? []), ...corrected];
      const evidence = [...all.map((one) => evidenceOf(correctionOf(one))), ...namesOf(person)];
      return { principal, claims, evidence };
    })
    .sort((a, b) => (a.principal.id < b.principal.id ? -1 : 1));
}

/** Returns the filings that name a person, as evidence, newest first. A subject's sentence appears only once. */
function namesOf(person: Person): Evidence[] {
  const byDate = person.toSorted((a, b) => Number(a.date < b.date) - Number(a.date > b.date));
  const said = ({ subject, field, text }: Mention) => [subject, field, text].join("\n");
  return [...Map.groupBy(byDate, said).values()].map(([first, ...rest]): Evidence => {
    const { source, link, field, text } = first!;
    const why = isStated(first!)
      ? "the adviser names the person in its Form ADV"
      : "the filing names the person, and its issuer is a vehicle of the GP";
    const others = rest.map((other) => other.source.number);
    return { ...source, ...stated, field, text, ...link, why, others };
  });
}

const isPersonal = ({ first, last }: Pick<RelatedPerson, "first" | "last">): boolean =>
  fold(first ?? "") !== "" && fold(last ?? "") !== "";

const adviserMentions = (filing: AdviserFiling): Mention[] =>
  filing.owners
    .filter((owner) => owner.isPerson && isPersonal(ownerName(owner)))
    .map((owner) => {
      const band = bands.get(owner.ownershipCode ?? "") ?? null;
      const title = owner.title ?? "Owner";
      return {
        subject: `crd:${filing.crd}`,
        source: adviserFormOf(filing),
        date: filing.filedOn,
        field: `Schedule ${owner.schedule}`,
        text: `${owner.name}: ${title}`,
        ...nameParts(ownerName(owner)),
        crd: owner.crd,
        title: readable(title),
        roles: [
          ...rolesIn(owner.title),
          ...(owner.isControlPerson ? ["control_person" as const] : []),
          ...(band !== null && band !== "under_5" ? ["owner" as const] : []),
        ],
        band,
        since: owner.since,
        link: { basis: "stated", confidence: 1 },
      };
    });

const vehicleMentions = ({ cik, filings, link }: Vehicle<FormD>): Mention[] =>
  filings.flatMap((filing) =>
    filing.persons
      .filter((person) => isPersonal(person) && entityOf(person) === null)
      .map((person) => {
        const { roles, clarification } = person;
        const { field, said, text } = statementOf(person);
        const issuer = readable(filing.issuers[0]!.name);
        const { basis, confidence } = link!.evidence;
        const role = said.replace(/(?<!\b(?:Corp|Inc|Co|Ltd|\w))\.$/i, "");
        return {
          subject: `cik:${cik}`,
          source: formOf(filing),
          date: filedOn(filing),
          field,
          text,
          ...nameParts(person),
          crd: null,
          title: clarification === null ? `${said} of ${issuer}` : `${role} (${issuer})`,
          // The words after "of" describe a firm: "Manager of A, the General Partner of the Issuer".
          roles: [...roles, ...rolesIn(clarification?.split(/\b(?:of|for|at)\b/i)[0] ?? null)],
          band: null,
          since: null,
          link: { basis, confidence },
        };
      }),
  );

/** Suffix at the end of a name, and degrees, which one filing gives and another leaves out. */
const suffixes = /(?:[\s,]+([js]r|iii?|iv)\.?)?(?:[\s,]+(?:ph\.? ?d|[mj]\.?d|esq|cpa|cfa)\.?)*$/i;
const blank = /^(?:n\/?a|none|[-._*]+)$/i;

/** Returns the parts of a name in mixed case, with the suffix on its own. */
function nameParts({ first, middle, last }: Pick<RelatedPerson, "first" | "middle" | "last">) {
  const suffix = suffixes.exec(last!)?.[1]?.toLowerCase() ?? "";
  return {
    first: proper(first!),
    middle: !middle || blank.test(middle) ? null : proper(middle),
    last: proper(last!.replace(suffixes, "")),
    filed: fold(`${first} ${last}`),
    /** Suffix in lower case, such as `jr` or `iii`; "" if there is none. */
    suffix,
  };
}

/** Returns a person's name in mixed case if it is all capitals or all small letters. */
const proper = (name: string): string =>
  name !== name.toUpperCase() && name !== name.toLowerCase()
    ? name
    : name
        .toLowerCase()
        .replace(/(?<=^|[\s'’."“(-]|\bmc)\p{L}/gu, (letter) => letter.toUpperCase());

/** Mentions of one person. Never empty. */
type Person = readonly Mention[];

const nameOf = ({ first, last, suffix }: Mention) => fold(`${first} ${last} ${suffix}`).trim();
const crdOf = (person: Person) => person.find(({ crd }) => crd !== null)?.crd ?? null;

/**
 * Groups mentions by person. Two names match if they are equal apart from middle names, or differ by one edit in a word
 * of five letters or more. Different individual CRD numbers or suffixes never match. Mentions without a CRD number form
 * a group of their own if namesakes have several CRD numbers. Without CRD numbers, initials of middle names count in
 * the same way if one filing has several. Different spellings in one filing are two people unless they share a number.
 */
function group(mentions: readonly Mention[]): Person[] {
  const byName = [...Map.groupBy(mentions, nameOf)].sort(([a], [b]) => (a < b ? -1 : 1));
  const people: { names: string[]; mentions: Mention[] }[] = [];
  for (const [name, all] of byName) {
    const crds = new Set(all.flatMap(({ crd }) => crd ?? []));
    const partOf =
      crds.size > 1 ? ({ crd }: Mention) => crd : areSeveral(all) ? initialOf : () => null;
    const parts = Map.groupBy(all, partOf);
    for (const same of parts.values()) {
      const crd = crdOf(same);
      const known = people.find((one) => {
        const other = crdOf(one.mentions);
        return (
          one.mentions[0]!.suffix === same[0]!.suffix &&
          !one.names.includes(name) &&
          one.names.some((other) => isSpelling(name, other)) &&
          (crd === null || other === null
            ? sourcesOf(one.mentions).isDisjointFrom(sourcesOf(same))
            : crd === other)
        );
      });
      if (known === undefined) people.push({ names: [name], mentions: [...same] });
      else {
        known.names.push(name);
        known.mentions.push(...same);
      }
    }
  }
  return people.map((one) => one.mentions);
}

const sourcesOf = (person: Person) => new Set(person.map(({ source }) => source.number));

/** Returns the initial of the middle name; "" if there is none, or a CRD number. */
const initialOf = ({ crd, middle }: Mention): string =>
  crd === null ? fold(middle ?? "").slice(0, 1) : "";

/** Reports whether one filing names namesakes whose middle names have different initials. */
const areSeveral = (namesakes: readonly Mention[]): boolean =>
  Map.groupBy(namesakes, ({ source }) => source.number)
    .values()
    .some((some) => new Set(some.map(initialOf).filter(Boolean)).size > 1);

function isSpelling(name: string, other: string): boolean {
  const [words, others] = [name.split(" "), other.split(" ")];
  const different = words.filter((word, i) => word !== others[i]);
  const isClose = words.length === others.length && different.length === 1;
  return isClose && words.every((word, i) => isAlike(word, others[i]!));
}

/**
 * Gives each person an id and a list of other keys to claim. The id is the person's lowest key, unless several people
 * share it. A person who shares it gets that key with their CRD number. Without a CRD number, they get their first free
 * key, or else the lowest key with a counter. A key that is nobody's id goes to the person with the better link, or
 * else to the one with the lower key.
 */
function keyed(people: readonly Person[]) {
  const ranked = people
    .map((person) => {
      const keys = keysOf(person);
      const confidence = Math.max(...person.map(({ link }) => link.confidence));
      const [document] = [...sourcesOf(person)].sort();
      const order = [keys[0], crdOf(person), document, initialOf(person[0]!)].join("\n");
      return { person, keys, confidence, order };
    })
    .sort((a, b) => b.confidence - a.confidence || (a.order < b.order ? -1 : 1));
  const byLowest = Map.groupBy(ranked, ({ keys }) => keys[0]!);
  const holders = new Map<string, Person>();
  const withIds = ranked.map(({ person, keys }) => {
    const [lowest, crd] = [keys[0]!, crdOf(person)];
    const isShared = byLowest.get(lowest)!.length > 1;
    const free = [...(isShared && crd !== null ? [`${lowest}/${crd}`] : []), ...keys];
    for (let number = 2; free.every((key) => holders.has(key)); number++)
      free.push(`${lowest}/${number}`);
    const id = free.find((key) => !holders.has(key))!;
    holders.set(id, person);
    return { person, id };
  });
  return withIds.map(({ person, id }) => ({
    person,
    id,
    claims: possibleKeys(person).filter(
      (key) => key !== id && holders.getOrInsert(key, person) === person,
    ),
  }));
}

/**
 * Returns every key that a person could have, including those given when people share a name. Numbers go only up to 3,
 * which is enough for people whom corrections split.
 */
const possibleKeys = (person: Person): string[] => {
  const crd = crdOf(person);
  const numbers = ["2", "3"].slice(0, person.length - 1);
  const ends = ["", ...[...(crd === null ? [] : [crd]), ...numbers].map((end) => `/${end}`)];
  return keysOf(person).flatMap((key) => ends.map((end) => key + end));
};

const keysOf = (person: Person): string[] => {
  const keys = person.flatMap((one) =>
    [nameOf(one), one.filed].map((name) => shortKey(`${one.subject}/${name}`)),
  );
  return [...new Set(keys)].sort();
};

const isStated = ({ subject }: Mention) => subject.startsWith("crd:");

const partMax = 200;

function principalOf(id: string, { key }: ResolvedGp<FormD>, person: Person): CanonicalPrincipal {
  const orderOf = ({ date, source }: Mention) => `${date} ${source.number}`;
  const byDate = person.toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
  const latest = byDate.at(-1)!;
  // An adviser's statement about its own people counts more than an issuer's.
  const { title, band } = byDate.findLast(isStated) ?? latest;
  const named = mostFrequent(
    byDate.some(isStated) ? byDate.filter(isStated) : byDate,
    ({ first, middle, last }) => [first, middle, last].join("|"),
  );
  const { link, source } = byDate.reduce((best, one) =>
    one.link.confidence >= best.link.confidence ? one : best,
  );
  const crd = crdOf(person);
  const suffix = named.suffix.endsWith("r")
    ? `${proper(named.suffix)}.`
    : named.suffix.toUpperCase();
  const last = `${named.last} ${suffix}`.trim();
  return {
    record: "principal",
    id,
    name: cut([named.first, named.middle, last].filter(Boolean).join(" ")),
    first_name: cut(named.first, partMax),
    middle_name: named.middle && cut(named.middle, partMax),
    last_name: cut(last, partMax),
    title: cut(title),
    roles: [...new Set(byDate.flatMap(({ roles }) => roles))],
    ownership_band: band,
    start_date: byDate.findLast(({ since }) => since !== null)?.since ?? null,
    first_seen_date: byDate[0]!.date,
    last_seen_date: latest.date,
    external_ids: crd === null ? {} : { crd: [crd] },
    provenance: { ...link, url: source.url },
    gps: [key],
  };
}
