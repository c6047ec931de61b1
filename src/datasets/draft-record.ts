/** Drafts the records of a new generation: their public ids, sort keys, and own parts of documents. */
import { hash } from "node:crypto";
import type { CanonicalGp, CanonicalRecord, SourceEntry } from "#records/canonical.ts";
import type { ExternalIds } from "#records/common.ts";
import { Fund, fundsMax, largestFirst } from "#records/gp.ts";
import { eachOf, kinds, type RecordKind, recordKinds } from "#records/kinds.ts";
import { fold } from "#records/fold.ts";
import { externalIdKeys } from "#records/vocabulary.ts";
import { type KeptEvidence, keptEvidence } from "./evidence.ts";
import { ownJson, ownPart } from "./render.ts";
import type { KeptText } from "./text-store.ts";

/** A record of a new generation. Its other facts are stored as text, because a million records may be in memory. */
export interface DraftRecord {
  source: string;
  sourceId: string;
  /** Public id; a GP or principal may get an older one instead (former-ids.ts). */
  id: string;
  /** Text that the display order compares before the id. */
  sortKey: string;
  /** Former ids of a delivered GP and claimed ids of a GP or principal, as the source writes them. */
  formerIds: readonly string[];
  /** Number under which the text store keeps the record's links and the JSON of its own part (render.ts). */
  text: KeptText;
}

/** Facts that the text store keeps with a record's own part. */
export interface StoredLinks {
  /** `updated_at` as the source states it; null if it states none. */
  statedAt: string | null;
  /** Source ids or public ids of its GPs, each once. */
  gps: readonly string[];
  /** Source ids of the projects that a signal names, each once. */
  projects: readonly string[];
  evidence: KeptEvidence | null;
}

export const linksText = ({ statedAt, gps, projects, evidence }: StoredLinks): string =>
  JSON.stringify([statedAt, gps, projects, ...(evidence === null ? [] : [evidence])]);

export function readLinks(text: string): StoredLinks {
  const [statedAt, gps, projects, evidence = null] = JSON.parse(text) as [
    string | null,
    string[],
    string[],
    KeptEvidence?,
  ];
  return { statedAt, gps, projects, evidence };
}

/** A record that has been read but not yet accepted or rejected. */
export interface DraftedRecord
  extends Omit<DraftRecord, "source">, Pick<StoredLinks, "gps" | "projects"> {
  kind: RecordKind;
  /** True if the record states a source other than the imported one. */
  isForeign: boolean;
}

/** Function that stores a record's links and its own part. */
export type KeepText = (links: string, own: string) => KeptText;

export type DraftRecords = Record<RecordKind, DraftRecord[]>;

export const noRecords = (): DraftRecords => eachOf(recordKinds, () => []);

export const countsOf = (records: DraftRecords): Record<RecordKind, number> =>
  eachOf(recordKinds, (kind) => records[kind].length);

/**
 * Drafts a record.
 * @param record record without faults.
 * @param keep function that stores its texts.
 * @param entry claims and evidence of its entry.
 */
export function draftRecord(
  record: CanonicalRecord,
  source: string,
  keep: KeepText,
  { claims = none, evidence }: Pick<SourceEntry, "claims" | "evidence"> = {},
): DraftedRecord {
  const { record: kind, id: sourceId, provenance } = record;
  const gps = eachOnce((record.record === "gp" ? undefined : record.gps) ?? none);
  const projects = eachOnce(("project_ids" in record ? record.project_ids : undefined) ?? none);
  const statedAt = record.updated_at ?? null;
  const links = linksText({ statedAt, gps, projects, evidence: keptEvidence(evidence) });
  return {
    kind,
    sourceId,
    id: mintId(kind, source, sourceId),
    sortKey: sortKeyOf(record),
    formerIds: (record.record === "gp" ? record.former_ids?.concat(claims) : undefined) ?? claims,
    gps,
    projects,
    isForeign: provenance?.source !== undefined && provenance.source !== source,
    text: keep(links, ownJson(publishedPart(record, source, projects))),
  };
}

export const none: readonly never[] = [];

/**
 * Returns the string that the display order compares first: the date of a signal (newest first), or the folded name of
 * any other record. Public ids break ties.
 */
export function sortKeyOf(record: CanonicalRecord): string {
  return record.record === "signal" ? record.date : inByteOrder(fold(record.name));
}

/** Returns a function that compares two different records of a kind by display order. */
export function displayOrderOf(kind: RecordKind) {
  const greater = kind === "signal" ? -1 : 1;
  return (a: Pick<DraftRecord, "sortKey" | "id">, b: Pick<DraftRecord, "sortKey" | "id">) => {
    if (a.sortKey !== b.sortKey) return a.sortKey > b.sortKey ? greater : -greater;
    return a.id < b.id ? -1 : 1;
  };
}

const outOfOrder = /[\ud800-\uffff]/;

/**
 * Returns a string that compares like the UTF-8 bytes of the given text. JavaScript compares UTF-16 code units, which
 * puts surrogates (U+D800 to U+DFFF) before U+E000 to U+FFFF. The two ranges therefore change places.
 */
export function inByteOrder(text: string): string {
  if (!outOfOrder.test(text)) return text;
  const units = Array.from({ length: text.length }, (_, i) => text.charCodeAt(i));
  return units
    .map((unit) => (unit < 0xd800 ? unit : unit < 0xe000 ? unit + 0x2000 : unit - 0x800))
    .map((unit) => String.fromCharCode(unit))
    .join("");
}

/** Returns a record's own part as published: lists without duplicates, complete provenance, projects by public id. */
function publishedPart(
  record: CanonicalRecord,
  source: string,
  projects: readonly string[],
): Record<string, unknown> {
  const own = ownPart(record.record, record);
  for (const name of listMembers[record.record]) own[name] = eachOnce(own[name] as string[]);
  own["provenance"] = {
    source,
    basis: record.provenance?.basis ?? "stated",
    confidence: record.provenance?.confidence ?? 1,
    url: record.provenance?.url ?? null,
  };
  if ("project_ids" in own)
    own["project_ids"] = projects.map((id) => mintId("project", source, id));
  if ("external_ids" in own)
    own["external_ids"] = externalIdsIn(own["external_ids"] as ExternalIds);
  if (record.record === "gp") Object.assign(own, fundsIn(record));
  return own;
}

const blankFund = eachOf(Object.keys(Fund.properties), () => null);

/** Returns at most 100 funds of a GP, largest first and with all members, and the number of all its funds. */
function fundsIn({ funds = [], funds_total = 0 }: CanonicalGp) {
  const all = funds.map((fund) => {
    const external_ids = externalIdsIn(fund.external_ids ?? {});
    return { ...blankFund, ...fund, external_ids } as Fund;
  });
  return {
    funds: all.sort(largestFirst).slice(0, fundsMax),
    funds_total: Math.max(funds_total, all.length),
  };
}

/** Names of the lists that every record of a kind has in its own part. */
const listMembers = eachOf(recordKinds, (kind) => {
  const own = ownPart(kind, {});
  return Object.keys(own).filter((name) => Array.isArray(own[name]));
});

export function eachOnce<T>(list: readonly T[]): readonly T[] {
  if (list.length < 2) return list.length === 0 ? none : list;
  // A set of a few texts takes several times as long.
  if (list.length <= 10 && list.every((one, i) => list.indexOf(one) === i)) return list;
  const once = new Set(list);
  return once.size === list.length ? list : [...once];
}

/** Returns external ids with their keys in a fixed order, each id once per key. Omits keys without ids. */
function externalIdsIn(lists: Readonly<Record<string, readonly string[] | undefined>>): object {
  const ids: Record<string, readonly string[]> = {};
  for (const key of externalIdKeys) {
    const list = lists[key];
    if (list !== undefined && list.length > 0) ids[key] = eachOnce(list);
  }
  return ids;
}

/** Number of base-36 digits in an id, about 83 bits. The chance of two equal ids among a million is near 10⁻¹³. */
const digits = 16;

export function mintId(kind: RecordKind, source: string, sourceId: string): string {
  // A source's name contains no line break, so different triples never give the same string.
  const digest = hash("sha256", `${kind}\n${source}\n${sourceId}`, "hex");
  const number = BigInt(`0x${digest.slice(0, 32)}`)
    .toString(36)
    .padStart(25, "0");
  // `join` makes a flat string. A template would keep both parts alive and take three times the memory.
  return [kinds[kind].prefix, number.slice(-digits)].join("_");
}
