/** Joins the steps of several publications: what changed from one dataset to a later one, each record once. */
import { closeSync, createReadStream, openSync, readSync } from "node:fs";
import { createInterface } from "node:readline";
import { eachOf, recordKinds } from "#records/kinds.ts";
import type { ChangeKind, Publication } from "#records/publication.ts";
import { openReadModel, type ReadModel } from "#search/read-model.ts";
import { type Catalogue, openCatalogue } from "./catalogue.ts";
import { compareGenerations, type Difference } from "./compare.ts";
import { DatasetFault } from "./dataset-fault.ts";
import { readDeparted } from "./departed.ts";
import { openGeneration } from "./open-generation.ts";
import { openPublications } from "./publications.ts";
import { lineOf } from "./steps.ts";

/** A publication with what its step changed. */
interface ReadStep {
  publication: Publication;
  changes: readonly Difference[];
  /** Returns the lines of some changes, by their numbers. */
  lines(numbers: readonly number[]): string[];
  /** Records that the step removed or merged, as the dataset before it had them; null if that is not kept. */
  departed(): ReadModel | null;
}

/** Change of a record between two datasets. */
export interface JoinedChange extends Difference {
  /** Steps that changed the record, oldest first, each with the number of the change in it. */
  places: readonly { step: ReadStep; number: number }[];
  /** Document before, of a record that was removed and added again; null for others, or if it is not known. */
  base: string | null;
}

interface JoinedSteps {
  /** Changes, those of the newest publication first. */
  changes: readonly JoinedChange[];
  /** Publications whose changes are not known: there is no step, and the datasets are not kept. */
  gaps: readonly Publication[];
}

/** Publications from a moment on. */
export interface Stretch {
  /** The dataset that was current at the moment; null if the first known one is younger. */
  base: Publication | null;
  /** Publications since, oldest first. */
  publications: readonly Publication[];
}

/** Values of a record's members before and after, as far as they differ. */
interface ChangedMembers {
  /** Null if the values are not known: the record is new, or was removed and added again. */
  before: Readonly<Record<string, unknown>> | null;
  after: Readonly<Record<string, unknown>>;
}

export type ChangesReader = ReturnType<typeof openChangesReader>;

/** Maximum number of changes that are kept in memory, which take about 100 bytes each. */
const keptMax = 500_000;

/** Opens the changes between the datasets of a folder, for one thread. */
export function openChangesReader(folder: string) {
  const publications = openPublications(folder);
  let catalogue: Catalogue | undefined;
  const kept = new Map<string, Promise<ReadStep | null>>();
  let keptCount = 0;

  /** Returns the path of a kept dataset; null if it is not kept here. */
  const pathOf = (version: string): string | null => {
    catalogue ??= openCatalogue(folder);
    return catalogue.has(version) ? catalogue.pathOf(version) : null;
  };

  const departedOf = ({ from }: Publication, changes: readonly Difference[]) => {
    let made: ReadModel | null | undefined;
    return () => {
      if (made !== undefined) return made;
      const path = from === null ? null : pathOf(from);
      const gone = changes.filter(({ change }) => change === "removed" || change === "merged");
      const ids = eachOf(recordKinds, (kind) =>
        gone.flatMap((one) => (one.kind === kind ? [one.id] : [])),
      );
      return (made = path === null ? null : orNull(() => openReadModel(readDeparted(path, ids))));
    };
  };

  async function readStored(publication: Publication): Promise<ReadStep | null> {
    const { from, version } = publication;
    const stored = publications.openStep(from!, version);
    if (stored === null) return null;
    const path = publications.stepPath(from!, version);
    const changes: Difference[] = [];
    const input = createReadStream(path, { encoding: "utf8", highWaterMark: 1024 * 1024 });
    for await (const line of createInterface({ input, crlfDelay: Infinity })) {
      const [, change, kind, id, into = null] = headShape.exec(line) ?? [];
      if (id !== undefined) changes.push({ change, kind, id, into } as Difference);
    }
    const lineAt = (file: number, number: number) => {
      const { start, end } = stored.placeOf(number, 1);
      const bytes = Buffer.alloc(end - start);
      readSync(file, bytes, 0, bytes.length, start);
      // The first change comes with the file's head.
      return bytes.toString().trimEnd().split("\n").at(-1)!;
    };
    const lines = (numbers: readonly number[]) => {
      const file = openSync(path, "r");
      try {
        return numbers.map((number) => lineAt(file, number));
      } finally {
        closeSync(file);
      }
    };
    return { publication, changes, lines, departed: departedOf(publication, changes) };
  }

  /** Compares the datasets of a publication without a step. Returns null unless both are kept. */
  function compare(publication: Publication): ReadStep | null {
    const { from, version } = publication;
    const [before, after] = [from === null ? null : pathOf(from), pathOf(version)];
    if (before === null || after === null) return null;
    const compared = <R>(read: (comparison: ReturnType<typeof compareGenerations>) => R): R => {
      const comparison = compareGenerations(before, after);
      try {
        return read(comparison);
      } finally {
        comparison.close();
      }
    };
    const changes = compared((comparison) => [...comparison.differences()]);
    return {
      publication,
      changes,
      lines: (numbers) =>
        compared((comparison) => numbers.map((number) => lineOf(changes[number]!, comparison))),
      departed: departedOf(publication, changes),
    };
  }

  async function readStep(publication: Publication): Promise<ReadStep | null> {
    const stored = publication.step === null ? null : await readStored(publication);
    return stored ?? orNull(() => compare(publication));
  }

  /** Reads a step, and keeps it for the next time unless it is unknown. */
  async function keep(publication: Publication): Promise<ReadStep | null> {
    const name = `${publication.from}..${publication.version} ${publication.published_at}`;
    const known = kept.get(name);
    if (known !== undefined) return known;
    const reading = readStep(publication);
    kept.set(name, reading);
    const step = await reading.catch(() => null);
    if (step === null) kept.delete(name);
    keptCount += step?.changes.length ?? 0;
    for (const [oldest, one] of kept) {
      if (keptCount <= keptMax || oldest === name) break;
      kept.delete(oldest);
      keptCount -= (await one)?.changes.length ?? 0;
    }
    return reading;
  }

  /** Returns the documents that a dataset has of some records; null for each if it is not kept. */
  function documentsIn(version: string | undefined, of: readonly Difference[]): (string | null)[] {
    const path = version === undefined ? null : pathOf(version);
    const opened = path === null ? null : orNull(() => openGeneration(path));
    if (opened === null) return of.map(() => null);
    try {
      const find = eachOf(recordKinds, (kind) =>
        opened.db.prepare(`select document from ${kind} where id = ?`),
      );
      return of.map(({ kind, id }) => (find[kind].get(id)?.["document"] as string) ?? null);
    } finally {
      opened.db.close();
    }
  }

  /** Returns the changes without records that are again as they were. */
  function onlyChanged(changes: readonly JoinedChange[], base: Publication | null): JoinedChange[] {
    const repeated = changes.filter((one) => one.change === "changed" && one.places.length > 1);
    const returned = repeated.filter(({ places }) => places.some(isAddition));
    const documents = documentsIn(base?.version, returned);
    const baseOf = new Map(returned.map(({ id }, i) => [id, documents[i]!]));
    const known = repeated.map((one) => ({ ...one, base: baseOf.get(one.id) ?? null }));
    const members = membersOf(known);
    const isSame = ({ before }: ChangedMembers) =>
      before !== null && Object.keys(before).length === 0;
    const settled = new Map(known.map((one, i) => [one.id, isSame(members[i]!) ? null : one]));
    return changes.flatMap((one) => {
      const other = settled.get(one.id);
      return other === null ? [] : (other ?? one);
    });
  }

  return {
    /** Lists publications, oldest first. @param served version that is served. */
    list: (served: string): readonly Publication[] => publications.list(served),
    /**
     * Joins steps. Added and removed again is nothing; changed twice is changed; changed back is nothing.
     * @param partOf returns the id of the GP that a former one is part of now; null if there is none.
     */
    async join(
      { base, publications: all }: Stretch,
      partOf: (gp: string) => string | null,
    ): Promise<JoinedSteps> {
      const joined = new Map<string, JoinedChange & { wasThere: boolean }>();
      const gaps: Publication[] = [];
      for (const publication of all) {
        const step = await keep(publication);
        if (step === null) gaps.push(publication);
        step?.changes.forEach((difference, number) => {
          const { id, change } = difference;
          const known = joined.get(id);
          const wasThere = known?.wasThere ?? change !== "added";
          const places = [...(known?.places ?? []), { step, number }];
          // Records stay in the order of their last change.
          joined.delete(id);
          joined.set(id, { ...difference, places, wasThere, base: null });
        });
      }
      const changes = [...joined.values()].flatMap(({ wasThere, ...one }): JoinedChange[] => {
        const isThere = one.change === "added" || one.change === "changed";
        if (isThere) return [{ ...one, change: wasThere ? "changed" : "added" }];
        const into = one.kind === "gp" ? partOf(one.id) : null;
        return wasThere ? [{ ...one, change: into === null ? "removed" : "merged", into }] : [];
      });
      return { changes: newestFirst(onlyChanged(changes, base)), gaps };
    },
    readStep: keep,
    members: membersOf,
  };
}

/** Returns null if a dataset cannot be read, such as one of an earlier format. */
function orNull<R>(read: () => R): R | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof DatasetFault) return null;
    throw error;
  }
}

const isAddition = ({ step, number }: JoinedChange["places"][number]) =>
  step.changes[number]!.change === "added";

const headShape = /^\{"change":"(\w+)","kind":"(\w+)","id":"([^"]+)"(?:,"into":"([^"]+)")?/;

/** Sorts changes by their last step, the newest first. @param changes in the order of their last steps. */
const newestFirst = (changes: readonly JoinedChange[]): JoinedChange[] =>
  [...Map.groupBy(changes, ({ places }) => places.at(-1)!.step).values()].toReversed().flat();

/** Reads the lines of changes, by step and number. Each step is opened once. */
function readLines(changes: readonly JoinedChange[]) {
  const places = Map.groupBy(
    changes.flatMap((change) => change.places),
    ({ step }) => step,
  );
  return new Map(
    Array.from(places, ([step, of]) => {
      const numbers = of.map(({ number }) => number);
      const lines = step.lines(numbers);
      return [step, new Map(numbers.map((number, i) => [number, lines[i]!]))];
    }),
  );
}

type Members = Record<string, unknown>;

interface Line {
  change: ChangeKind;
  record?: Members;
  before?: Members;
  after?: Members;
}

/** Returns the members of changed records that differ, in the order of the changes. */
function membersOf(changes: readonly JoinedChange[]): ChangedMembers[] {
  const lines = readLines(changes);
  return changes.map(({ places, base }) =>
    joinMembers(
      places.map(({ step, number }) => lines.get(step)!.get(number)!),
      base === null ? null : (JSON.parse(base) as Members),
    ),
  );
}

/** Joins the lines of one record. @param base the record before; null if only the lines tell. */
function joinMembers(lines: readonly string[], base: Members | null): ChangedMembers {
  let before: Members | null = {};
  let after: Members = {};
  for (const text of lines) {
    const line = JSON.parse(text) as Line;
    if (line.change === "added") {
      // No step tells the values from before the record was removed.
      before = null;
      after = { ...line.record };
    } else {
      if (before !== null) before = { ...line.before, ...before };
      after = { ...after, ...line.after };
    }
  }
  before ??= base;
  if (before === null) return { before, after };
  const differing = Object.keys(before).filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
  const only = (members: Members) =>
    Object.fromEntries(differing.map((name) => [name, members[name]]));
  return { before: only(before), after: only(after) };
}

/** Returns the publications since a moment or a version. Returns null if the version was never published. */
export function stretchSince(
  publications: readonly Publication[],
  since: number | string,
): Stretch | null {
  const at =
    typeof since === "string"
      ? publications.findLastIndex(({ version }) => version === since)
      : publications.findLastIndex(({ published_at }) => Date.parse(published_at) < since);
  if (at === -1 && typeof since === "string") return null;
  const after = publications.slice(at + 1);
  if (at !== -1) return { base: publications[at]!, publications: after };
  // Nothing was published before the first one, so it is what the others are compared with.
  const [first] = after;
  return first?.from === null
    ? { base: first, publications: after.slice(1) }
    : { base: null, publications: after };
}
