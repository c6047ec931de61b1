/** Joins the steps of several publications into the changes from one dataset to a later one, with each record once. */
import { readSync } from "node:fs";
import { open } from "node:fs/promises";
import type { DatabaseSync } from "node:sqlite";
import { LRUCache } from "lru-cache";
import {
  type EachKind,
  eachOf,
  linkedKinds,
  type RecordKind,
  recordKinds,
} from "#records/kinds.ts";
import type { Publication } from "#records/publication.ts";
import {
  type DatasetIndex,
  type Documents,
  placeDocuments,
  readDocuments,
} from "#search/dataset-parts.ts";
import { openReadModel, type ReadModel, runInTurns } from "#search/read-model.ts";
import { openForBlock } from "#store/whole-file.ts";
import { type Catalogue, openCatalogue } from "./catalogue.ts";
import { DatasetFault } from "./dataset-fault.ts";
import { type Body, openIndexer } from "./index-records.ts";
import { openGeneration } from "./open-generation.ts";
import { openPublications } from "./publications.ts";
import {
  compareGenerations,
  type Difference,
  differingNames,
  lineOf,
  type Members,
} from "./steps.ts";
import { readArrays, treeOf } from "./stored-arrays.ts";

/** Changes that a publication made. */
interface ReadStep {
  changes: readonly Difference[];
  /** Returns the changes with the given numbers as lines of JSON, in the same order. */
  lines(numbers: readonly number[]): string[];
  /** Opens the records that the step removed or merged. Returns null if the dataset with them is gone or unreadable. */
  departed(): ReadModel | null;
}

/** Place of a change: its number in the step of a publication. */
interface Place {
  publication: Publication;
  step: ReadStep;
  number: number;
}

/** Change to a record over several steps. */
export interface JoinedChange extends Difference {
  /** Places of the record's changes, oldest first. */
  places: readonly Place[];
  /** Step that removed or merged the record; null if the last dataset has it. */
  gone: ReadStep | null;
}

interface JoinedSteps {
  /** Changes, those of the newest publication first. */
  changes: readonly JoinedChange[];
  /** Publications with unknown changes: the step is missing, and one of its two datasets is gone or unreadable. */
  gaps: readonly Publication[];
}

/** Differing members of a record, with their values before and after. A new record has all members in `after`. */
interface ChangedMembers {
  /** Former values; null if the record is new, or if it was added again and its former members are unknown. */
  before: Members | null;
  after: Members;
}

export type ChangesReader = ReturnType<typeof openChangesReader>;

/** Maximum number of changes kept in memory. Each takes about 100 bytes. */
const keptMax = 500_000;

/** Opens a reader of the changes between a folder's datasets, for use in one thread. */
export function openChangesReader(folder: string) {
  const publications = openPublications(folder);
  let catalogue: Catalogue | undefined;
  const kept = new LRUCache<string, ReadStep, Publication>({
    maxSize: keptMax,
    sizeCalculation: ({ changes }) => Math.min(keptMax, changes.length + 1),
    fetchMethod: async (_name, _stale, { context }) => (await readStep(context)) ?? undefined,
  });

  /** Returns the path of a dataset; null if it is not kept here. */
  const pathOf = (version: string | null): string | null => {
    catalogue ??= openCatalogue(folder);
    return version !== null && catalogue.has(version) ? catalogue.pathOf(version) : null;
  };

  async function readStep(publication: Publication): Promise<ReadStep | null> {
    const { from, version, step } = publication;
    const before = pathOf(from);
    const found =
      (step && (await readStored(from!, version))) ??
      (await compareDatasets(before, pathOf(version)).catch(nullIfUnread));
    if (found === null) return null;
    let departed: ReadModel | null | undefined;
    return {
      ...found,
      departed() {
        if (departed !== undefined) return departed;
        try {
          departed = before === null ? null : openDeparted(before, found.changes);
        } catch (error) {
          departed = nullIfUnread(error);
        }
        return departed;
      },
    };
  }

  async function readStored(from: string, to: string) {
    const stored = publications.openStep(from, to);
    if (stored === null) return null;
    const path = publications.stepPath(from, to);
    const changes: Difference[] = [];
    for await (const line of (await open(path)).readLines()) {
      const [, change, kind, id, into = null] = headShape.exec(line) ?? [];
      if (id !== undefined) changes.push({ change, kind, id, into } as Difference);
    }
    const lines = (numbers: readonly number[]) => {
      using file = openForBlock(path, "r");
      return numbers.map((number) => {
        const { start, end } = stored.placeOf(number, 1);
        const bytes = Buffer.alloc(end - start);
        readSync(file.fd, bytes, 0, bytes.length, start);
        // The first change comes with the file's head.
        return bytes.toString().trimEnd().split("\n").at(-1)!;
      });
    };
    return { changes, lines };
  }

  /**
   * Gathers the changes that publications made to each record, even if they cancel out.
   * @param partOf returns the id of the GP that a former GP is now part of; null if there is none.
   */
  async function gather(
    all: readonly Publication[],
    partOf: (gp: string) => string | null,
  ): Promise<JoinedSteps> {
    const placesOf = new Map<string, Place[]>();
    const gaps: Publication[] = [];
    for (const publication of all) {
      const { from, version, published_at, step: stored } = publication;
      // The key includes whether the step or its datasets still exist, because a suppression may remove them.
      const isLost = stored === null && (pathOf(from) === null || pathOf(version) === null);
      const name = `${from}..${version} ${published_at} ${stored !== null} ${isLost}`;
      const step = await kept.fetch(name, { context: publication });
      if (step === undefined) gaps.push(publication);
      step?.changes.forEach(({ id }, number) => {
        const places = placesOf.get(id) ?? [];
        places.push({ publication, step, number });
        // Records stay in the order of their last change.
        placesOf.delete(id);
        placesOf.set(id, places);
      });
    }
    const changes = Array.from(placesOf.values(), (places) => joinPlaces(places, partOf));
    const byStep = Map.groupBy(changes, ({ places }) => places.at(-1)!.step);
    return { changes: [...byStep.values()].toReversed().flat(), gaps };
  }

  return {
    /** Lists publications, oldest first. @param served version that is served. */
    list: (served: string): readonly Publication[] => publications.list(served),
    gather,
    /** Gathers changes as `gather` does. Omits records whose changes cancel out: added and removed, or changed back. */
    async join(...order: Parameters<typeof gather>): Promise<JoinedSteps> {
      const { changes, gaps } = await gather(...order);
      return { changes: withoutReturned(changes), gaps };
    },
    members: membersOf,
  };
}

/** Returns null for the fault of an unreadable dataset, such as one of an earlier format. Throws any other error. */
function nullIfUnread(error: unknown): null {
  if (error instanceof DatasetFault) return null;
  throw error;
}

const headShape = /^\{"change":"(\w+)","kind":"(\w+)","id":"([^"]+)"(?:,"into":"([^"]+)")?/;

/**
 * Compares two datasets, and lets other work run in between. Returns null unless both are kept.
 * @throws DatasetFault if one cannot be read.
 */
async function compareDatasets(before: string | null, after: string | null) {
  if (before === null || after === null) return null;
  using comparison = compareGenerations(before, after);
  const changes: Difference[] = [];
  await runInTurns(
    comparison.inTurns().map((one) => {
      if (one !== null) changes.push(one);
    }),
  );
  const lines = (numbers: readonly number[]) => {
    using again = compareGenerations(before, after);
    return numbers.map((number) => lineOf(changes[number]!, again));
  };
  return { changes, lines };
}

const changeAt = ({ step, number }: Place): Difference => step.changes[number]!;

function joinPlaces(places: readonly Place[], partOf: (gp: string) => string | null): JoinedChange {
  const last = places.at(-1)!;
  const { kind, id, change } = changeAt(last);
  if (change === "added" || change === "changed") {
    const wasThere = changeAt(places[0]!).change !== "added";
    return { change: wasThere ? "changed" : "added", kind, id, into: null, places, gone: null };
  }
  const into = kind === "gp" ? partOf(id) : null;
  return { change: into === null ? "removed" : "merged", kind, id, into, places, gone: last.step };
}

function withoutReturned(changes: readonly JoinedChange[]): JoinedChange[] {
  const repeated = changes.filter(
    ({ change, places }) => change === "changed" && places.length > 1,
  );
  const members = membersOf(repeated);
  const isAsBefore = ({ before }: ChangedMembers) =>
    before !== null && Object.keys(before).length === 0;
  const returned = new Set(repeated.filter((_, i) => isAsBefore(members[i]!)));
  const isBrief = ({ gone, places }: JoinedChange) =>
    gone !== null && changeAt(places[0]!).change === "added";
  return changes.filter((one) => !returned.has(one) && !isBrief(one));
}

/** Returns a joined change as one change for each step. Turns a merge into a removal if `one` has no `into`. */
export const changesOfSteps = (one: JoinedChange): JoinedChange[] =>
  one.places.map((place) => {
    const { change } = changeAt(place);
    const isLost = change === "merged" && one.into === null;
    return { ...one, change: isLost ? "removed" : change, places: [place] };
  });

/** Line of a step: a whole record, or its differing members before and after. */
interface Line {
  record?: Members;
  before?: Members;
  after?: Members;
}

/** Returns the differing members of changed records, in the order of the changes. Opens each step once. */
function membersOf(changes: readonly JoinedChange[]): ChangedMembers[] {
  const all = changes.flatMap(({ places }) => places);
  const lines = new Map<Place, Line>();
  for (const [step, places] of Map.groupBy(all, (place) => place.step)) {
    const texts = step.lines(places.map(({ number }) => number));
    places.forEach((place, i) => lines.set(place, JSON.parse(texts[i]!) as Line));
  }
  return changes.map(({ places }) => joinMembers(places, lines));
}

function joinMembers(places: readonly Place[], lines: ReadonlyMap<Place, Line>): ChangedMembers {
  let before: Members | null = changeAt(places[0]!).change === "added" ? null : {};
  let after: Members = {};
  for (const place of places) {
    const line = lines.get(place)!;
    if (changeAt(place).change === "added") after = line.record!;
    else {
      // The last state of a removed record matters only if a later step adds the record again.
      const was = line.before ?? (place === places.at(-1) ? {} : lastRecord(place));
      before = before && was && { ...was, ...before };
      after = { ...after, ...line.after };
    }
  }
  if (before === null) return { before, after };
  const names = differingNames(before, after);
  const only = (members: Members) => Object.fromEntries(names.map((name) => [name, members[name]]));
  return { before: only(before), after: only(after) };
}

/** Returns a record as it was before a step removed or merged it. Returns null if that is not known. */
function lastRecord(place: Place): Members | null {
  const { kind, id } = changeAt(place);
  const model = place.step.departed();
  if (model === null) return null;
  const { positions } = model.select(kind, { id: [id] }, { limit: 1, offset: 0 });
  return readDocuments<Members>(model.parts.documents[kind], positions)[0]!;
}

interface Row {
  id: string;
  position: number;
  own_length: number;
  document: string;
}

/**
 * Opens a small dataset of the records that a step removed or merged, plus GPs and signals needed to query them.
 * @param path file of the dataset before the step. @throws DatasetFault if it cannot be read.
 */
function openDeparted(path: string, changes: readonly Difference[]): ReadModel {
  const opened = openGeneration(path);
  using db = opened.db;
  const gone = changes.filter(({ change }) => change === "removed" || change === "merged");
  const rows = rowsOf(db, gone);
  const indexer = openIndexer();
  const positionOf = new Map<string, number>();
  for (const { id, document } of rows.gp) {
    const gp = JSON.parse(document) as Body & { former_ids: string[] };
    positionOf.set(id, positionOf.size);
    indexer.addGp(id, gp.former_ids, gp);
  }
  for (const kind of linkedKinds)
    rows[kind].forEach(({ document }, record) => {
      for (const gp of gpsIn(document)) {
        const position = positionOf.get(gp);
        if (position !== undefined) indexer.addLink(kind, record, position);
      }
    });
  const documents = eachOf(recordKinds, (kind): Documents => {
    const texts = rows[kind].map(({ document }) => Buffer.from(document));
    const lengths = Uint32Array.from(texts, ({ length }) => length);
    const ownLengths = Uint32Array.from(rows[kind], ({ own_length }) => own_length);
    return { bytes: Buffer.concat(texts), lengths, ...placeDocuments(lengths, ownLengths) };
  });
  const { version, built_at: updatedAt } = opened.meta;
  return openReadModel({
    ...indexer.index(documents),
    documents,
    version,
    updatedAt,
    sources: [],
  });
}

/** Reads records in display order, with the GPs and signals that queries for them depend on. */
function rowsOf(db: DatabaseSync, records: readonly Difference[]): EachKind<Row[]> {
  const found = eachOf(recordKinds, () => new Map<string, Row>());
  const select = "select id, position, own_length, document from";
  const byId = eachOf(recordKinds, (kind) => db.prepare(`${select} ${kind} where id = ?`));
  const signalAt = db.prepare(`${select} signal where position = ?`);
  const add = (kind: RecordKind, row: unknown) => {
    if (row !== undefined) found[kind].set((row as Row).id, row as Row);
  };
  for (const { kind, id } of records) add(kind, byId[kind].get(id));
  if (found.gp.size > 0) {
    const { recordsOfGp } = treeOf([...readArrays(db)]) as DatasetIndex;
    const { starts, items } = recordsOfGp.signal;
    for (const { position } of found.gp.values())
      for (const at of items.subarray(starts[position], starts[position + 1]))
        add("signal", signalAt.get(at));
  }
  for (const kind of linkedKinds)
    for (const { document } of found[kind].values())
      for (const gp of gpsIn(document)) add("gp", byId.gp.get(gp));
  return eachOf(recordKinds, (kind) =>
    [...found[kind].values()].toSorted((one, other) => one.position - other.position),
  );
}

const gpsIn = (document: string): string[] =>
  (JSON.parse(document) as { gps: { id: string }[] }).gps.map(({ id }) => id);

/** Returns publications since a time (ms since 1970) or after a version. Returns null if none has the version. */
export function publicationsSince(
  publications: readonly Publication[],
  since: number | string,
): readonly Publication[] | null {
  const at =
    typeof since === "string"
      ? publications.findLastIndex(({ version }) => version === since)
      : publications.findLastIndex(({ published_at }) => Date.parse(published_at) < since);
  if (at === -1 && typeof since === "string") return null;
  // Nothing preceded the first publication, so it is the base that the others are compared with.
  return publications.slice(at === -1 && publications[0]?.from === null ? 1 : at + 1);
}
