/**
 * Withholds suppressed people from the records of a generation: leaves out records whose own name contains a suppressed
 * name, and replaces that name in other texts and in evidence. Matches names as whole words, folded.
 */
import { open } from "node:fs/promises";
import type { ExternalIds } from "#records/common.ts";
import { fold } from "#records/fold.ts";
import { isNamed, type RecordKind, recordKinds } from "#records/kinds.ts";
import {
  type DraftRecord,
  type DraftRecords,
  linksText,
  mintId,
  readLinks,
  type StoredLinks,
} from "./draft-record.ts";
import { publicIdOf } from "./former-ids.ts";
import { ownJson } from "./render.ts";
import type { CoveredGps, Suppression } from "./suppressions.ts";
import { linksIn, ownIn, type StoredText, type TextStore } from "./text-store.ts";

interface Withheld {
  /** Number of records that were left out, or from which text was withheld. */
  count: number;
  /** Numbers of the suppressions that matched a record. */
  met: Set<number>;
  /** Public ids of the records that were left out. */
  ids: Set<string>;
  /** Public ids of GPs and projects that were left out, now or earlier. Links may still lead to them. */
  absent: Set<string>;
  /** GPs that a suppression's limit covers, and that are not remembered for it yet. */
  newGps: CoveredGps;
}

/** A suppressed person. `soughtOf` folds names, puts spaces around `name`, and reduces `cik` and `crd` to digits. */
type Sought = Pick<Suppression, "number" | "name" | "gp" | "cik" | "crd" | "gp_ids">;

type Links = Pick<StoredLinks, "gps" | "projects">;

/** Own part of a record. Declares only the members that are used here. */
interface Own extends Record<string, unknown> {
  name?: string;
  legal_name?: string | null;
  aliases?: readonly string[];
  project_ids?: readonly string[];
  external_ids?: ExternalIds;
}

const withheldText = "[withheld]";

/** Kinds, ordered so that the targets of links come first. */
const linkedFirst = [...new Set<RecordKind>(["gp", "project", ...recordKinds])];

interface WithholdOrder {
  texts: TextStore;
  suppressions: readonly Suppression[];
  /** Former ids, with the ids that they lead to. */
  formerIds: ReadonlyMap<string, string>;
  /** Public ids of GPs and projects that were left out before. */
  withheldIds: readonly string[];
}

/**
 * Withholds people from records. Remaining records lose their links to GPs and projects that were left out.
 * @param records records of all sources under their lasting ids. Left-out records are removed from the lists.
 */
export function withhold(records: DraftRecords, order: WithholdOrder): Withheld {
  const { texts, suppressions, formerIds, withheldIds } = order;
  const ids = new Set<string>();
  const absent = new Set<string>();
  const withheld: Withheld = { count: 0, met: new Set(), ids, absent, newGps: new Map() };
  if (suppressions.length === 0) return withheld;
  for (const id of withheldIds) absent.add(id);
  for (const { id } of [...records.gp, ...records.project]) absent.delete(id);
  const keyOf = (source: string, id: string) => `${source}\n${id}`;
  const gpIds = new Map(records.gp.map((gp) => [keyOf(gp.source, gp.sourceId), gp.id]));
  const idsOf = ({ source }: DraftRecord, { gps, projects }: Links): Links => ({
    gps: gps.map(
      (gp) => gpIds.get(keyOf(source, gp)) ?? formerIds.get(gp) ?? publicIdOf("gp", source, gp),
    ),
    projects: projects.map((project) => mintId("project", source, project)),
  });
  // The GP name that limits a suppression may itself have had a person's name withheld from it.
  const sought = suppressions
    .flatMap((one) => (one.gp ? [one, { ...one, gp: masked(one.gp, suppressions) }] : one))
    .map(soughtOf);
  const mayName = openGlance(sought);
  const scopeOf = openScopes(records, order, withheld, sought, idsOf);
  const isKept = (record: DraftRecord, kind: RecordKind): boolean => {
    const stored = texts.read(record.text);
    const links = readLinks(linksIn(stored));
    const linked = idsOf(record, links);
    const scope = scopeOf(record, linked);
    const isCut = [...linked.gps, ...linked.projects].some((id) => absent.has(id));
    if ((scope.length === 0 || !mayName(stored)) && !isCut) return true;
    const own = ownOf(stored);
    const found = scope.filter(finderIn([own, links.evidence?.rows]));
    for (const { number } of found) withheld.met.add(number);
    if (found.length > 0) withheld.count++;
    if (found.some(finderIn(own.name))) {
      ids.add(record.id);
      if (kind === "gp" || kind === "project") absent.add(record.id);
      return false;
    }
    if (found.length === 0 && !isCut) return true;
    const gps = links.gps.filter((_, i) => !absent.has(linked.gps[i]!));
    const projects = links.projects.filter((_, i) => !absent.has(linked.projects[i]!));
    const project_ids = own.project_ids?.filter((id) => !absent.has(id));
    const cleared = without({ ...own, ...(project_ids && { project_ids }) }, found);
    const evidence = without(links.evidence, found);
    record.text = texts.keep(linksText({ ...links, gps, projects, evidence }), ownJson(cleared));
    return true;
  };
  for (const kind of linkedFirst) records[kind] = records[kind].filter((one) => isKept(one, kind));
  return withheld;
}

/**
 * Returns a value, such as a message or an import's report, with every suppressed name in its texts replaced.
 * Ignores limits: a name is withheld even if its suppression is limited to certain GPs.
 */
export const masked = <Value>(value: Value, suppressions: readonly Sought[]): Value =>
  suppressions.length === 0 ? value : without(value, suppressions.map(soughtOf));

/**
 * Reports whether a step contains a suppressed person's name, or more about a left-out record than its removal.
 * @param path file of the step.
 * @param ids public ids of records that were left out.
 */
export async function isStepOf(
  path: string,
  suppressions: readonly Suppression[],
  ids: ReadonlySet<string>,
): Promise<boolean> {
  const sought = suppressions.map(soughtOf);
  await using file = await open(path);
  for await (const line of file.readLines({ autoClose: false })) {
    const change = JSON.parse(line) as { change?: string; id?: string };
    if (change.change !== "removed" && ids.has(change.id ?? "")) return true;
    if (sought.some(finderIn(change))) return true;
  }
  return false;
}

const soughtOf = ({ number, name, gp, cik, crd, gp_ids }: Sought): Sought => ({
  number,
  gp_ids,
  name: ` ${folded(name)} `,
  gp: gp && folded(gp),
  cik: cik && bareNumber(cik),
  crd: crd && bareNumber(crd),
});

/** Returns the digits of a CIK or CRD number without leading zeros. */
const bareNumber = (id: string) => id.replace(/\D/g, "").replace(/^0+/, "");

const ownOf = (stored: StoredText) => JSON.parse(`{${ownIn(stored)}}`) as Own;

/**
 * Opens a search for the suppressions that apply to a record. These are unlimited ones, those limited to a GP name, CIK
 * or CRD number of the record, and those that apply to records it links to. A suppression limited to the number of a
 * project or principal also applies to the GPs of that record, because their texts may name the person.
 * A limited suppression also applies to the GPs remembered for it, even if their ids have changed since.
 * @param withheld receives the GPs that are not remembered yet.
 * @returns a function to be called for records in the order of `linkedFirst`.
 */
function openScopes(
  records: DraftRecords,
  { texts, formerIds }: WithholdOrder,
  { absent, newGps }: Withheld,
  sought: readonly Sought[],
  idsOf: (record: DraftRecord, links: Links) => Links,
) {
  const isLimited = ({ gp, cik, crd }: Sought) => gp !== null || cik !== null || crd !== null;
  const [limited, everywhere] = [sought.filter(isLimited), sought.filter((one) => !isLimited(one))];
  const scopes = new Map<string, readonly Sought[]>();
  const add = (id: string, some: readonly Sought[] = []) => {
    if (some.length > 0) scopes.set(id, [...new Set([...(scopes.get(id) ?? []), ...some])]);
  };
  // The names and numbers of records that were left out earlier are no longer known.
  for (const id of absent) add(id, limited);
  for (const one of limited)
    for (const id of one.gp_ids.split(" "))
      for (const same of [id, formerIds.get(id) ?? id]) add(same, [one]);
  if (limited.length > 0)
    for (const kind of linkedFirst.filter(isNamed))
      for (const record of records[kind]) {
        const stored = texts.read(record.text);
        const own = ownOf(stored);
        const found = limited.filter((one) => isMeant(one, kind, own));
        const { gps } = idsOf(record, readLinks(linksIn(stored)));
        for (const id of [record.id, ...gps]) add(id, found);
        for (const { number, gp_ids } of found)
          for (const id of kind === "gp" ? [record.id] : gps)
            if (!gp_ids.includes(id)) newGps.getOrInsert(number, new Set()).add(id);
      }
  return ({ id }: DraftRecord, { gps, projects }: Links) => {
    for (const linked of [...gps, ...projects]) add(id, scopes.get(linked));
    return [...everywhere, ...(scopes.get(id) ?? [])];
  };
}

const isMeant = ({ gp, ...numbers }: Sought, kind: RecordKind, own: Own): boolean => {
  const { name, legal_name, aliases = [], external_ids = {} } = own;
  const names = kind === "gp" ? [name, legal_name, ...aliases] : [];
  return (
    names.some((one) => one && folded(one) === gp) ||
    (["cik", "crd"] as const).some((register) =>
      external_ids[register]?.some((id) => bareNumber(id) === numbers[register]),
    )
  );
};

/**
 * Returns a quick test for records that may contain a name, so that most records need not be folded. In ASCII text
 * without escapes, a fold only changes case and deletes some characters within words.
 */
function openGlance(sought: readonly Sought[]) {
  const longest = (name: string) =>
    name.split(" ").reduce((one, other) => (other.length > one.length ? other : one));
  const words = [...new Set(sought.map(({ name }) => longest(name)))];
  return ({ bytes, links, end }: StoredText): boolean => {
    const text = bytes.toString("latin1", links, end);
    if (/[^\x00-\x7f]|%/.test(text)) return true;
    const plain = text.toLowerCase().replaceAll(/['.]/g, "");
    return words.some((word) => plain.includes(word));
  };
}

/** Returns a function that reports whether any text in a value contains a person's name. */
function finderIn(value: unknown): (one: Sought) => boolean {
  const texts: string[] = [];
  const gather = (part: unknown): void => {
    if (typeof part === "string") texts.push(folded(part));
    else if (typeof part === "object" && part !== null) Object.values(part).forEach(gather);
  };
  gather(value);
  // No name contains two spaces in a row, so none matches across two texts.
  const all = ` ${texts.join("  ")} `;
  return ({ name }) => all.includes(name);
}

const isLink = /^https?:\/\/\S+$/i;
/** Replacement for a link that contains a name. It leads nowhere (RFC 2606); `[withheld]` would not be a link. */
const withheldLink = "https://withheld.invalid/";

/** Returns a value with people's names replaced in its texts. Returns the value itself if it contains no such name. */
function without<Value>(value: Value, people: readonly Sought[]): Value {
  const found = people.filter(finderIn(value));
  if (found.length === 0) return value;
  const cleared = (): unknown => {
    if (typeof value === "string")
      return isLink.test(value) ? withheldLink : found.reduce(withoutName, value as string);
    if (Array.isArray(value)) return value.map((one) => without(one, found));
    const members = Object.entries(value as object);
    return Object.fromEntries(members.map(([key, one]) => [key, without(one, found)]));
  };
  return cleared() as Value;
}

const possessive = /['’‘ʼ＇](?=\p{M}*s(?![\p{L}\p{M}\p{N}]))/giu;
const periodBeforeWord = /[.․‥…．](?=[\p{L}\p{N}]\p{M}*[\p{L}\p{N}])/gu;
const escapes = /%[0-7][0-9a-f]|(?:%[89a-f][0-9a-f])+|[\u00ad\u200c\u2060\ufeff\u200d]/gi;

/**
 * Decodes percent-escapes and removes invisible characters, such as soft hyphens. Pads the text to its former length
 * with combining marks, which `fold` deletes. Separates words that `fold` would join, as in `Roe's` and `left.Jane`.
 */
const parted = (text: string) =>
  text.replace(escapes, unescaped).replace(possessive, " ").replace(periodBeforeWord, " ");
const unescaped = (escape: string) =>
  Buffer.from(escape.replaceAll("%", ""), "hex").toString().padEnd(escape.length, "\u0301");
const folded = (text: string) => fold(parted(text));

function withoutName(text: string, { name }: Sought): string {
  const { units, starts, ends } = foldWithPlaces(parted(text));
  let cleared = "";
  let done = 0;
  for (let at = units.indexOf(name); at >= 0; at = units.indexOf(name, at + name.length - 1)) {
    cleared += text.slice(done, starts[at + 1]) + withheldText;
    done = ends[at + name.length - 2]!;
  }
  return cleared + text.slice(done);
}

/** Folds a text and adds a space at either end. @returns the units, and where each starts and ends in the text. */
function foldWithPlaces(text: string) {
  let units = " ";
  const starts = [0];
  const ends = [0];
  let at = 0;
  for (const character of text) {
    const end = at + character.length;
    // A fold drops spaces at either end of a text, so the character is folded between two letters.
    const part = fold(`a${character}a`).slice(1, -1);
    if (part === "" && /\p{M}/u.test(character)) ends[ends.length - 1] = end;
    for (const unit of part.split("")) {
      if (unit === " " && units.endsWith(" ")) continue;
      units += unit;
      starts.push(at);
      ends.push(end);
    }
    at = end;
  }
  return { units: `${units} `, starts, ends };
}
