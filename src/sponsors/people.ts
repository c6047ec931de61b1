/** Puts the principals of a GP together from every filing that names them. Nobody is merged across GPs. */
import type { AdviserFiling, Correction, FormD } from "#filings/rows.ts";
import type { CanonicalPrincipal, EvidenceDocument } from "#records/canonical.ts";
import type { Provenance } from "#records/common.ts";
import { editDistance } from "#records/edit-distance.ts";
import { fold } from "#records/fold.ts";
import type { ownershipBands, principalRoles } from "#records/vocabulary.ts";
import { entityOf, readable } from "./names.ts";
import { adviserFormOf, adviserUrl, filedOn, filingUrl, formOf } from "./offerings.ts";
import words from "./people-words.json" with { type: "json" };
import type { ResolvedGp } from "./resolve.ts";

type Role = (typeof principalRoles)[number];
type Band = (typeof ownershipBands)[number];
type Link = Pick<Provenance, "basis" | "confidence" | "url">;
type Principal = Omit<CanonicalPrincipal, "record" | "gps">;

/** A filing's words about a person. */
export interface Mention {
  /** Subject of the filing: `crd:N` of an adviser, `cik:N` of an issuer. */
  subject: string;
  source: EvidenceDocument;
  /** Field of the filing, and the person with his title as filed. */
  field: string;
  sentence: string;
  /** Accession number or FilingID. */
  document: string;
  first: string;
  middle: string | null;
  last: string;
  /** `jr`, `iii` and the like, folded; "" without one. */
  suffix: string;
  crd: string | null;
  title: string;
  roles: Role[];
  band: Band | null;
  since: string | null;
  date: string;
  link: Link;
}

const bands = new Map(Object.entries(words.bands) as [string, Band][]);
const titleRoles = Object.entries(words.titles).map(
  ([role, pattern]) => [new RegExp(`\\b(?:${pattern})\\b`, "i"), role as Role] as const,
);
const rolesIn = (title: string | null): Role[] =>
  titleRoles.filter(([pattern]) => pattern.test(title ?? "")).map(([, role]) => role);

interface Corrected {
  corrections: readonly Correction[];
  /** Corrections that met nothing so far. Those that meet a person are taken out. */
  unmet: Set<Correction>;
  publicId: (key: string) => string;
}

/**
 * Returns the principals of a GP, by id, each with the keys that it claims.
 * @param advisers the Form ADV filings of its CRD numbers, oldest first.
 */
export function principalsOf(
  gp: ResolvedGp<FormD>,
  advisers: readonly AdviserFiling[],
  { corrections, unmet, publicId }: Corrected,
): {
  principal: Principal;
  claims: readonly string[];
  mentions: Person;
  corrected: readonly Correction[];
}[] {
  const mentions = [...advisers.flatMap(adviserMentions), ...vehicleMentions(gp)];
  const aparts = corrections.filter((one) => one.kind === "personApart");
  const fields = corrections.filter((one) => one.kind === "personField");
  /** Returns keys and their public ids, by which corrections may name a person. */
  const idsOf = (keys: readonly string[]) =>
    new Set(aparts.length + fields.length === 0 ? [] : [...keys, ...keys.map(publicId)]);
  const people = group(mentions).flatMap((person) => {
    let parts = [person];
    const ids = idsOf(possibleKeys(person));
    for (const correction of aparts) {
      if (!ids.has(correction.person)) continue;
      const isOther = ({ document }: Mention) => correction.accessions.includes(document);
      if (person.some(isOther)) unmet.delete(correction);
      parts = parts
        .flatMap((some) => [some.filter((one) => !isOther(one)), some.filter(isOther)])
        .filter((some) => some.length > 0);
    }
    return parts;
  });
  return keyed(people)
    .map(({ person, id, claims }) => {
      const corrected: Correction[] = [];
      const principal = principalOf(id, person);
      const ids = idsOf(claims);
      for (const correction of fields) {
        if (!ids.has(correction.person)) continue;
        unmet.delete(correction);
        corrected.push(correction);
        Object.assign(principal, {
          [correction.field]: correction.value,
          provenance: { ...principal.provenance, basis: "corrected", confidence: 1 },
        });
      }
      return { principal, claims, mentions: person, corrected };
    })
    .sort((a, b) => (a.principal.id < b.principal.id ? -1 : 1));
}

function adviserMentions(filing: AdviserFiling): Mention[] {
  return filing.owners
    .filter(({ isPerson }) => isPerson)
    .flatMap((owner): Mention[] => {
      const [last = "", first = "", middle = ""] = owner.name.split(",").map((one) => one.trim());
      if (first === "" || last === "") return [];
      const band = bands.get(owner.ownershipCode ?? "") ?? null;
      return [
        {
          subject: `crd:${filing.crd}`,
          document: filing.filingId,
          source: adviserFormOf(filing),
          field: `Schedule ${owner.schedule}`,
          sentence: `${owner.name}: ${owner.title ?? "Owner"}`,
          ...nameParts(first, middle, last),
          crd: owner.crd,
          title: readable(owner.title ?? "Owner"),
          roles: [
            ...rolesIn(owner.title),
            ...(owner.isControlPerson ? ["control_person" as const] : []),
            ...(band !== null && band !== "under_5" ? ["owner" as const] : []),
          ],
          band,
          since: owner.since,
          date: filing.filedOn,
          link: { basis: "stated", confidence: 1, url: adviserUrl(filing.crd) },
        },
      ];
    });
}

function vehicleMentions({ vehicles }: ResolvedGp<FormD>): Mention[] {
  return vehicles.flatMap(({ cik, filings, link }) =>
    filings.flatMap((filing) =>
      filing.persons.flatMap((person): Mention[] => {
        const { first, middle, last, roles, clarification } = person;
        if (!first || !last || link === null || entityOf(person) !== null) return [];
        const said = clarification ?? roles.map((role) => words.roles[role]).join(", ");
        const issuer = readable(filing.issuers[0]!.name);
        const { basis, confidence } = link.evidence;
        return [
          {
            subject: `cik:${cik}`,
            document: filing.accession,
            source: formOf(filing),
            field: clarification === null ? "RELATEDPERSONS" : "RELATIONSHIPCLARIFICATION",
            sentence: `${[first, middle, last].filter(Boolean).join(" ")}: ${said}`,
            ...nameParts(first, middle ?? "", last),
            crd: null,
            title: clarification === null ? `${said} of ${issuer}` : `${said} (${issuer})`,
            roles: [...roles, ...rolesIn(clarification)],
            band: null,
            since: null,
            date: filedOn(filing),
            link: { basis: basis as Link["basis"], confidence, url: filingUrl(filing) },
          },
        ];
      }),
    ),
  );
}

const suffixes = /[\s,]+(jr|sr|ii|iii|iv)\.?$/i;
const blank = /^(?:n\/?a|none|[-._*]+)$/i;

/** Returns the parts of a name in readable capitals, the suffix apart. */
function nameParts(first: string, middle: string, last: string) {
  const suffix = suffixes.exec(last)?.[1]?.toLowerCase() ?? "";
  return {
    first: proper(first),
    middle: middle === "" || blank.test(middle) ? null : proper(middle),
    last: proper(last.replace(suffixes, "")),
    suffix,
  };
}

/** Returns a person's name in mixed case if it is all capitals or all small letters. */
const proper = (name: string): string =>
  name !== name.toUpperCase() && name !== name.toLowerCase()
    ? name
    : name
        .toLowerCase()
        .replace(
          /(?:^|[\s'’.-]|\bmc)\p{L}/gu,
          (start) => start.slice(0, -1) + start.at(-1)!.toUpperCase(),
        )
        .replace(/\bmc/g, "Mc");

/** Mentions of one person. Never empty. */
type Person = readonly Mention[];

const nameOf = ({ first, last, suffix }: Mention) => fold(`${first} ${last} ${suffix}`).trim();
const crdOf = (person: Person) => person.find(({ crd }) => crd !== null)?.crd ?? null;

/**
 * Groups mentions by person: equal names but for middle ones, and names that one edit in a word of five letters or more
 * makes equal. Different individual CRD numbers and suffixes stay apart.
 */
function group(mentions: readonly Mention[]): Person[] {
  const byName = [...Map.groupBy(mentions, nameOf)].sort(([a], [b]) => (a < b ? -1 : 1));
  const people: { names: string[]; suffix: string; mentions: Mention[] }[] = [];
  for (const [name, all] of byName)
    for (const same of byCrd(all)) {
      const crd = crdOf(same);
      const { suffix } = same[0]!;
      const known = people.find((one) => {
        const other = crdOf(one.mentions);
        return (
          one.suffix === suffix &&
          (crd === null || other === null || crd === other) &&
          !one.names.includes(name) &&
          one.names.some((other) => isSpelling(name, other))
        );
      });
      if (known === undefined) people.push({ names: [name], suffix, mentions: [...same] });
      else {
        known.names.push(name);
        known.mentions.push(...same);
      }
    }
  return people.map((one) => one.mentions);
}

/** Parts mentions of one name by individual CRD number. Those without one go with the only person there is. */
function byCrd(mentions: readonly Mention[]): Mention[][] {
  const crds = new Set(mentions.flatMap(({ crd }) => crd ?? []));
  return crds.size < 2 ? [[...mentions]] : [...Map.groupBy(mentions, ({ crd }) => crd).values()];
}

function isSpelling(name: string, other: string): boolean {
  const [words, others] = [name.split(" "), other.split(" ")];
  if (words.length !== others.length) return false;
  const different = words.flatMap((word, i) => (word === others[i] ? [] : [[word, others[i]!]]));
  const [[word, spelled] = ["", ""]] = different as [string, string][];
  return (
    different.length === 1 &&
    Math.min(word.length, spelled.length) >= 5 &&
    editDistance(word, spelled) === 1
  );
}

/**
 * Gives each person a key, the lowest of those of all that names him, and tells which keys he claims. People who share
 * the lowest have their individual CRD number after it, or another key of their own, or a number. A key that several
 * could claim is of the one whose key it is, else of the one with the better link, else of the one with the lower key.
 */
function keyed(people: readonly Person[]) {
  const ranked = people
    .map((person) => {
      const keys = keysOf(person);
      const confidence = Math.max(...person.map(({ link }) => link.confidence));
      const [document] = person.map((mention) => mention.document).sort();
      return { person, keys, confidence, order: [keys[0], crdOf(person), document].join("\n") };
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
    claims: possibleKeys(person).filter((key) => holders.getOrInsert(key, person) === person),
  }));
}

/**
 * Returns every key that a person could have, also if others have his name. Of those with a number only the first two,
 * which people have whom corrections part.
 */
const possibleKeys = (person: Person): string[] => {
  const crd = crdOf(person);
  const numbers = ["2", "3"].slice(0, person.length - 1);
  const ends = ["", ...[...(crd === null ? [] : [crd]), ...numbers].map((end) => `/${end}`)];
  return keysOf(person).flatMap((key) => ends.map((end) => key + end));
};

/** Returns the keys of all that names a person, the lowest first. */
const keysOf = (person: Person): string[] =>
  [...new Set(person.map((mention) => `${mention.subject}/${nameOf(mention)}`))].sort();

function principalOf(id: string, person: Person): Principal {
  const byDate = person.toSorted((a, b) =>
    a.date === b.date ? (a.document < b.document ? -1 : 1) : a.date < b.date ? -1 : 1,
  );
  const latest = byDate.at(-1)!;
  // An adviser's statement on its own people goes before an issuer's.
  const stated = byDate.findLast(({ subject }) => subject.startsWith("crd:"));
  const named = bestSpelling(stated === undefined ? byDate : byDate.filter(isStated));
  const link = byDate.reduce((best, one) =>
    one.link.confidence >= best.link.confidence ? one : best,
  ).link;
  const crd = crdOf(person);
  const suffix = named.suffix.endsWith("r")
    ? `${proper(named.suffix)}.`
    : named.suffix.toUpperCase();
  const last = `${named.last} ${suffix}`.trim();
  const start = byDate.findLast(({ since }) => since !== null)?.since;
  const band = (stated ?? latest).band;
  return {
    id,
    name: [named.first, named.middle, last].filter(Boolean).join(" "),
    first_name: named.first,
    ...(named.middle !== null && { middle_name: named.middle }),
    last_name: last,
    title: (stated ?? latest).title,
    roles: [...new Set(byDate.flatMap(({ roles }) => roles))],
    ...(band !== null && { ownership_band: band }),
    ...(start && { start_date: start }),
    first_seen_date: byDate[0]!.date,
    last_seen_date: latest.date,
    external_ids: crd === null ? {} : { crd: [crd] },
    provenance: link,
  };
}

const isStated = ({ subject }: Mention) => subject.startsWith("crd:");

/** Returns the mention whose spelling most mentions have; of equals the longest. */
function bestSpelling(mentions: readonly Mention[]): Mention {
  const spelled = ({ first, middle, last }: Mention) => [first, middle, last].join("|");
  const groups = [...Map.groupBy(mentions, spelled)].sort(
    ([a, some], [b, others]) =>
      others.length - some.length || b.length - a.length || (a < b ? -1 : 1),
  );
  return groups[0]![1][0]!;
}
