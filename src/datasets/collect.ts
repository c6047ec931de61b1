/**
 * Collects a source's records for a new generation: checks them, accepts each id once, rejects lines with broken links
 * within the source, and counts the lines that it rejects.
 */
import { checkRecord } from "#records/check-record.ts";
import { eachOf, type RecordKind, recordKinds } from "#records/kinds.ts";
import { withoutForm } from "#records/legal-forms.ts";
import {
  type CanonicalRecord,
  namedGpPrefix,
  type RecordFault,
  type RecordName,
  type SourceEntry,
  type UnknownWord,
} from "#records/canonical.ts";
import {
  type DraftedRecord,
  type DraftRecord,
  type DraftRecords,
  draftRecord,
  type KeepText,
  mintId,
  none,
  noRecords,
  readLinks,
  type StoredLinks,
} from "./draft-record.ts";
import { publicIdShape } from "./former-ids.ts";
import { linksIn, ownIn, type TextStore } from "./text-store.ts";

export interface Collected {
  /** Number of lines or rows that were read. */
  read: number;
  accepted: number;
  rejections: Rejections;
  /** Lines with removals of records that do not exist. */
  absent: Rejections;
  /** Names of delivered GPs that differ only in legal form (`Acme LLC`, `Acme, Inc.`), in at most 100 groups. */
  alike: string[][];
}

interface CollectRequest {
  source: string;
  /** Entries in the order of the source's lines. */
  entries: AsyncIterable<SourceEntry> | Iterable<SourceEntry>;
  texts: TextStore;
  /** Former records of the source, to merge the delivery into; null if the delivery replaces them all. */
  former: DraftRecords | null;
  /** Public ids of GPs and projects that a merge may link to although suppressions left them out. */
  withheldIds: readonly string[];
  /** Links an entry's named GPs to GPs of other sources. */
  link: (entry: SourceEntry) => SourceEntry;
  /** Called after every 1,000 lines, with the number of lines read so far. */
  onRead: (lines: number) => void;
}

/**
 * Collects the records of a source, merged with `former` unless that is null.
 * @returns the records, and a report as `collected`. `isClaiming` is true if an entry claims ids (former-ids.ts).
 */
export async function collectSource({
  source,
  entries,
  texts,
  former,
  withheldIds,
  link,
  onRead,
}: CollectRequest): Promise<{ collected: Collected; records: DraftRecords; isClaiming: boolean }> {
  const ledger = openLedger(source, former, new Set(withheldIds));
  const rejections = countRejections();
  const absent = countRejections();
  const records = noRecords();
  let read = 0;
  let isClaiming = false;
  for await (const entry of entries) {
    if (++read % 1000 === 0) onRead(read);
    isClaiming ||= entry.claims !== undefined;
    const entered = ledger.enter(draftEntry(link(entry), source, texts.keep));
    if (entered.faults.length > 0) rejections.add(entry.file, entry.line, entered.faults);
    for (const { kind, sourceId, id, sortKey, formerIds: ids, text } of entered.records) {
      // Most records have no former ids, and share one empty list.
      const formerIds = ids.length === 0 ? none : ids;
      records[kind].push({ source, sourceId, id, sortKey, formerIds, text });
    }
  }
  let alike: string[][];
  let blocked: ReadonlySet<Place> = new Set();
  do {
    const dropped = ledger.settle(blocked, rejections);
    if (dropped.size > 0)
      for (const kind of recordKinds)
        records[kind] = records[kind].filter(({ sourceId }) => !dropped.has(keyOf(kind, sourceId)));
    alike = alikeNames(records.gp, texts);
    const merge = { removals: ledger.removals, texts, rejections, absent };
    if (former !== null) blocked = mergeInto(records, former, merge);
  } while (blocked.size > 0);
  const accepted = read - rejections.count;
  return { collected: { read, accepted, rejections, absent, alike }, records, isClaiming };
}

/** A drafted record, or the faults of a rejected one. The kind and id of a rejected record are unchecked JSON. */
type Drafted =
  | DraftedRecord
  | { faults: readonly RecordFault[]; kind: RecordKind; sourceId: string };

interface DraftedEntry {
  file: string;
  line: number;
  records: readonly Drafted[];
  /** GPs that the line names but does not describe. */
  namedGps: readonly Drafted[];
  deleted: readonly RecordName[];
  /** Faults of the line itself. */
  faults: readonly RecordFault[];
}

function draftEntry(entry: SourceEntry, source: string, keep: KeepText): DraftedEntry {
  const { file, line, deleted = none, faults, isPlain } = entry;
  if (faults.length > 0)
    return { file, line, records: none, namedGps: none, deleted: none, faults };
  const draft = (record: CanonicalRecord): Drafted => {
    const found = checkRecord(record, isPlain);
    if (found.length === 0) return draftRecord(record, source, keep, entry);
    return { faults: found, kind: record?.record, sourceId: record?.id };
  };
  const namedGps = entry.namedGps.length === 0 ? none : entry.namedGps.map(draft);
  return { file, line, records: entry.records.map(draft), namedGps, deleted, faults };
}

const alikeMax = 100;

function alikeNames(gps: readonly DraftRecord[], texts: TextStore): string[][] {
  const groups = new Map<string, DraftRecord[]>();
  for (const gp of gps) {
    const stem = withoutForm(gp.sortKey);
    const group = groups.get(stem);
    if (group === undefined) groups.set(stem, [gp]);
    else if (group.every(({ sortKey }) => sortKey !== gp.sortKey)) group.push(gp);
  }
  return [...groups.values()]
    .filter((group) => group.length > 1)
    .slice(0, alikeMax)
    .map((group) => group.map(({ text }) => nameIn(ownIn(texts.read(text)))));
}

const nameIn = (own: string) => (JSON.parse(`{${own}}`) as { name: string }).name;

const keyOf = (kind: RecordKind, id: string) => `${kind}\n${id}`;

/** A link from one record to another by source id, or to a GP of any source by public id. */
interface Need {
  field: string;
  kind: RecordKind;
  id: string;
}

const needsOf = ({ gps, projects }: Pick<StoredLinks, "gps" | "projects">): Need[] => [
  ...gps.map((id): Need => ({ field: "gps", kind: "gp", id })),
  ...projects.map((id): Need => ({ field: "project_ids", kind: "project", id })),
];

interface Removal {
  place: Place;
  name: RecordName;
}

/** A line that may still be rejected, for a link to a missing record or for a blocked removal. */
interface Waiting {
  place: Place;
  records: readonly DraftedRecord[];
  needs: readonly Need[];
  /** Ids of the line's named GPs. These GPs exist only while an accepted line names them or links to them. */
  named: readonly string[];
  deleted: readonly RecordName[];
}

/** Opens a ledger of the records that exist and the lines that may still be rejected. */
function openLedger(source: string, former: DraftRecords | null, withheldIds: ReadonlySet<string>) {
  const places = eachOf(recordKinds, () => new Map<string, Place>());
  const known = eachOf(recordKinds, (kind) => idsOf(former?.[kind] ?? none));
  const removals = new Map<string, Removal>();
  /** Lines with removals, or with a link whose target was missing or itself waiting when the line was entered. */
  const waiting = new Set<Waiting>();
  const waitingKeys = new Set<string>();
  /** Source ids of named GPs that no settled line refers to. */
  const unheld = new Set<string>();

  const placeOf = (kind: RecordKind, id: string) =>
    places[kind].get(id) ??
    (removals.size === 0 ? undefined : removals.get(keyOf(kind, id))?.place);
  // A public id may belong to a GP of any source. If no GP has it, the link is dropped when the draft is written.
  const isMissing = ({ kind, id }: Need) =>
    !places[kind].has(id) &&
    !known[kind].has(id) &&
    !(kind === "gp" && publicIdShape.test(id)) &&
    !(withheldIds.size > 0 && withheldIds.has(mintId(kind, source, id)));
  const isSettled = (need: Need) =>
    !isMissing(need) &&
    (waiting.size === 0 ||
      known[need.kind].has(need.id) ||
      !waitingKeys.has(keyOf(need.kind, need.id)));
  const hold = ({ named, needs }: Waiting, from = unheld) => {
    if (from.size === 0) return;
    for (const id of named) from.delete(id);
    for (const need of needs) if (need.kind === "gp") from.delete(need.id);
  };
  const faultsOf = (drafted: Drafted): readonly RecordFault[] => {
    if ("faults" in drafted) return drafted.faults;
    return drafted.isForeign ? [foreignSource(source)] : none;
  };
  /**
   * Reserves the ids of a line's records, and collects the line's faults. Skips records that are invalid or whose id is
   * taken.
   */
  const take = ({ file, line, records, namedGps, deleted }: DraftedEntry) => {
    const place = { file, line };
    const faults: RecordFault[] = [];
    const taken: DraftedRecord[] = [];
    for (const record of records) {
      faults.push(...faultsOf(record));
      if ("faults" in record) continue;
      const before = placeOf(record.kind, record.sourceId);
      if (before !== undefined) {
        faults.push(repeatedId(record.kind, record.sourceId, before));
        continue;
      }
      places[record.kind].set(record.sourceId, place);
      taken.push(record);
    }
    for (const gp of namedGps) faults.push(...faultsOf(gp));
    for (const { record, id } of deleted) {
      const before = placeOf(record, id);
      if (former === null) faults.push(onlyForMerge);
      else if (before !== undefined) faults.push(repeatedId(record, id, before));
    }
    return { place, faults, taken };
  };
  return {
    removals: removals as ReadonlyMap<string, Removal>,
    /** Enters a line. @returns its faults, if any. Otherwise its records, and those of named GPs that are new. */
    enter(entry: DraftedEntry): { faults: readonly RecordFault[]; records: DraftedRecord[] } {
      const { namedGps, deleted } = entry;
      if (entry.faults.length > 0) return { faults: entry.faults, records: [] };
      const { place, faults, taken } = take(entry);
      if (faults.length > 0) {
        for (const { kind, sourceId } of taken) places[kind].delete(sourceId);
        return { faults, records: [] };
      }
      for (const name of deleted) removals.set(keyOf(name.record, name.id), { place, name });
      const records = [...taken];
      // Because the line has no faults, each of these drafts is a record.
      for (const gp of namedGps as readonly DraftedRecord[]) {
        if (places.gp.has(gp.sourceId)) continue;
        places.gp.set(gp.sourceId, place);
        unheld.add(gp.sourceId);
        if (!known.gp.has(gp.sourceId)) records.push(gp);
      }
      const named = namedGps.map(({ sourceId }) => sourceId);
      const one = { place, records: taken, needs: taken.flatMap(needsOf), named, deleted };
      // Most files list GPs first, so hardly any line has to wait.
      if (deleted.length === 0 && one.needs.every(isSettled)) hold(one);
      else {
        waiting.add(one);
        for (const { kind, sourceId } of taken) waitingKeys.add(keyOf(kind, sourceId));
      }
      return { faults, records };
    },
    /**
     * Drops the lines at `blocked`, and rejects lines that link to missing records until none is left. Then drops named
     * GPs that no line refers to. May be called again for further blocked lines. @returns keys of what was dropped.
     */
    settle(blocked: ReadonlySet<Place>, rejections: Rejections): ReadonlySet<string> {
      const dropped = new Set<string>();
      for (let before = Infinity; waiting.size < before;) {
        before = waiting.size;
        for (const one of waiting) {
          const missing = blocked.has(one.place) ? null : one.needs.find(isMissing);
          if (missing === undefined) continue;
          waiting.delete(one);
          const { file, line } = one.place;
          if (missing !== null) rejections.add(file, line, [missingTarget(missing)]);
          for (const { kind, sourceId } of one.records) {
            places[kind].delete(sourceId);
            dropped.add(keyOf(kind, sourceId));
          }
          for (const { record, id } of one.deleted) removals.delete(keyOf(record, id));
        }
      }
      const idle = new Set(unheld);
      for (const one of waiting) hold(one, idle);
      for (const id of idle) dropped.add(keyOf("gp", id));
      return dropped;
    },
  };
}

const idsOf = (records: readonly DraftRecord[]) => new Set(records.map(({ sourceId }) => sourceId));

/** Returns the fault of a line that repeats the id of an earlier record. Even an identical line is at fault. */
const repeatedId = (kind: RecordKind, id: string, { file, line }: Place): RecordFault => ({
  field: "id",
  reason: `'${id}' is also the id of the ${kind} at ${file}:${line}`,
});

const foreignSource = (source: string): RecordFault => ({
  field: "provenance.source",
  reason: `must be left out or be '${source}', the source of this import`,
});

const onlyForMerge: RecordFault = {
  field: "deleted",
  reason: "is allowed only with --merge; a delivery of the whole source must leave it out",
};

const missingTarget = ({ field, kind, id }: Need): RecordFault => ({
  field,
  reason: `names ${kind} '${id}', which this source does not have, or which was rejected`,
});

interface Merge extends Pick<CollectRequest, "texts">, Pick<Collected, "rejections" | "absent"> {
  removals: ReadonlyMap<string, Removal>;
}

/**
 * Adds the former records that the delivery neither replaces nor removes. Omits named GPs that lose their last link.
 * @param records accepted records of the delivery.
 * @returns the lines with a blocked removal, of a record that others name. If there are any, adds only their rejections.
 */
function mergeInto(
  records: DraftRecords,
  former: DraftRecords,
  { removals, texts, rejections, absent }: Merge,
): ReadonlySet<Place> {
  const left = eachOf(recordKinds, (kind) => {
    const delivered = idsOf(records[kind]);
    return former[kind].filter(({ sourceId }) => !delivered.has(sourceId));
  });
  const leftKeys = new Set(
    recordKinds.flatMap((kind) => left[kind].map(({ sourceId }) => keyOf(kind, sourceId))),
  );
  const asked = [...removals].filter(([key]) => leftKeys.has(key));
  const named = [...leftKeys].filter((key) => key.startsWith(keyOf("gp", namedGpPrefix)));
  const wanted = new Set([...asked.map(([key]) => key), ...named]);
  const linkers = linkersOf([left, records], wanted, texts);
  const gone = new Set<string>();
  const staying = (key: string) =>
    (linkers.get(key) ?? none).filter(({ record, id }) => !gone.has(keyOf(record, id)));
  // A removal may depend on a later one: a signal may name a project, and both may name a GP.
  for (let goneBefore = -1; gone.size > goneBefore;) {
    goneBefore = gone.size;
    for (const [key] of asked) if (staying(key).length === 0) gone.add(key);
  }
  const blocked = Map.groupBy(
    asked.filter(([key]) => !gone.has(key)),
    ([, { place }]) => place,
  );
  for (const [{ file, line }, some] of blocked) {
    const reasons = some.map(([key, { name }]) => blockedWords(name, staying(key)));
    const faults = reasons.map((reason) => ({ field: "deleted", reason }));
    rejections.add(file, line, faults);
  }
  if (blocked.size > 0) return new Set(blocked.keys());
  // A GP that rows only name is removed with the last link to it, as when a source is replaced.
  const linkedBefore = linkersOf([former], new Set(named), texts);
  for (const key of named) if (linkedBefore.has(key) && staying(key).length === 0) gone.add(key);
  for (const kind of recordKinds)
    for (const one of left[kind]) if (!gone.has(keyOf(kind, one.sourceId))) records[kind].push(one);
  for (const [key, { place, name }] of removals)
    if (!leftKeys.has(key)) absent.add(place.file, place.line, [absentFault(name)]);
  return new Set();
}

const absentFault = ({ record, id }: RecordName): RecordFault => ({
  field: "id",
  reason: `'${id}' names no ${record} of this source, so there is nothing to remove`,
});

function blockedWords({ record, id }: RecordName, linkers: readonly RecordName[]): string {
  const [first] = linkers;
  const others = linkers.length > 1 ? ` and ${linkers.length - 1} more` : "";
  return `${record} '${id}' cannot be removed while other records name it: ${first!.record} '${first!.id}'${others}; remove or change these records too`;
}

/** Maps the key of each wanted record to the records that link to it. Omits records to which nothing links. */
function linkersOf(
  among: readonly DraftRecords[],
  wanted: ReadonlySet<string>,
  texts: TextStore,
): ReadonlyMap<string, readonly RecordName[]> {
  const linkers = new Map<string, RecordName[]>();
  if (wanted.size === 0) return linkers;
  for (const records of among)
    for (const record of recordKinds)
      for (const { sourceId: id, text } of records[record])
        for (const need of needsOf(readLinks(linksIn(texts.read(text))))) {
          const key = keyOf(need.kind, need.id);
          if (wanted.has(key)) linkers.getOrInsertComputed(key, () => []).push({ record, id });
        }
  return linkers;
}

/** The place of a record in the files of a delivery. */
interface Place {
  file: string;
  line: number;
}

interface Rejection extends Place {
  field: string;
  reason: string;
  /** Number of occurrences, above 1 only for the fault of a cell. `file` and `line` are those of the first. */
  count: number;
  /** Up to 4 further lines with the same fault, in any file. */
  also?: number[];
  /** Cell that is not a known word, with a suggested value for the mapping's `values`. */
  word?: UnknownWord;
}

/** Maximum number of listed faults. Equal faults of cells count once. Lines with further faults are only counted. */
const listedMax = 1000;

/** Maximum number of further lines that are named for one fault. */
const alsoMax = 4;

export type Rejections = ReturnType<typeof countRejections>;

/** Creates a counter of rejected lines. It also lists their first 1,000 faults. */
function countRejections() {
  const listed: Rejection[] = [];
  const cellFaults = new Map<string, Rejection>();
  let count = 0;
  return {
    get count() {
      return count;
    },
    listed: listed as readonly Rejection[],
    add(file: string, line: number, faults: readonly RecordFault[]): void {
      count++;
      for (const { field, reason, isOfCell, word } of faults) {
        const same = isOfCell && cellFaults.get(`${field} ${reason}`);
        if (same) {
          same.count++;
          if ((same.also ??= []).length < alsoMax) same.also.push(line);
        } else if (listed.length < listedMax) {
          const rejection = { file, line, field, reason, count: 1, ...(word && { word }) };
          listed.push(rejection);
          if (isOfCell) cellFaults.set(`${field} ${reason}`, rejection);
        }
      }
    },
  };
}
