/** Compares generations by kind and then by id, and writes the steps between publications in this order. */
import { createHash, hash } from "node:crypto";
import { fsyncSync, writeFileSync, writeSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { eachOf, recordKinds, type RecordKind } from "#records/kinds.ts";
import { allCounts, type ChangeKind, type Publication } from "#records/publication.ts";
import { openForBlock } from "#store/whole-file.ts";
import type { Generation } from "./generation.ts";
import { arraysOf, openGeneration, openPublished, remedy } from "./open-generation.ts";
import { hashIn, type MadeStep, openPublications } from "./publications.ts";
import type { DatasetStore } from "./store.ts";

/** A record that differs between two generations. */
export interface Difference {
  change: ChangeKind;
  kind: RecordKind;
  id: string;
  /** Id of the GP that a merged GP became part of; null for other changes. */
  into: string | null;
}

export type Members = Readonly<Record<string, unknown>>;

/** Returns the names of the members that differ, or that only one side has. */
export const differingNames = (from: Members, to: Members): string[] =>
  [...new Set([...Object.keys(from), ...Object.keys(to)])].filter(
    (name) => JSON.stringify(from[name]) !== JSON.stringify(to[name]),
  );

type Comparison = ReturnType<typeof compareGenerations>;

/**
 * Opens a comparison of two generations. Does not verify that the files are the ones that were built.
 * @throws DatasetFault if a file cannot be read.
 */
export function compareGenerations(fromPath: string, toPath: string) {
  using opening = new DisposableStack();
  const from = opening.use(openSorted(fromPath));
  const to = opening.use(openSorted(toPath));
  const total = createHash("sha256");
  const mergedInto = to.prepare(
    "select g.id from former_id f join gp g on g.id = f.gp_id where f.former_id = ?",
  );
  const goneOf = (kind: RecordKind, id: string): Difference => {
    const gp = kind === "gp" ? mergedInto.get(id) : undefined;
    return gp === undefined
      ? { change: "removed", kind, id, into: null }
      : { change: "merged", kind, id, into: gp["id"] as string };
  };
  /** Yields each differing record once, and null between slices of work. */
  function* inTurns(): Generator<Difference | null, void> {
    for (const kind of recordKinds) {
      const old = sortedStates(from, kind)[Symbol.iterator]();
      let one = old.next();
      for (const row of digestedStates(to, kind)) {
        if (row === null) {
          yield null;
          continue;
        }
        const [id, state, sha256] = row;
        total.update(sha256);
        for (; one.done !== true && one.value[0] < id; one = old.next())
          yield goneOf(kind, one.value[0]);
        if (one.done === true || one.value[0] !== id) {
          yield { change: "added", kind, id, into: null };
          continue;
        }
        if (one.value[1] !== state) yield { change: "changed", kind, id, into: null };
        one = old.next();
      }
      for (; one.done !== true; one = old.next()) yield goneOf(kind, one.value[0]);
    }
  }
  const opened = opening.move();
  return {
    inTurns,
    /** Yields each differing record once. Keeps only the ids, states and hashes of one kind in memory. */
    differences: () => inTurns().filter((one) => one !== null),
    /** Returns a differing record's document in the older generation. Call it only for a record that exists there. */
    before: openDocuments(from),
    after: openDocuments(to),
    /** Returns the newer generation's hash (docs/changes.md). Call it once, after reading all differences. */
    hash: () => total.digest("hex"),
    [Symbol.dispose]: () => opened.dispose(),
  };
}

/** Returns the hash of a generation's records. @throws DatasetFault if its file cannot be read. */
function hashOfRecords(path: string): string {
  using db = openSorted(path);
  const total = createHash("sha256");
  for (const kind of recordKinds)
    for (const row of digestedStates(db, kind)) if (row !== null) total.update(row[2]);
  return total.digest("hex");
}

function openSorted(path: string): DatabaseSync {
  const { db } = openGeneration(path);
  // Sorting stays in memory, because a temporary file would need a writable folder.
  db.exec("pragma temp_store = memory");
  return db;
}

/** SQL expression for the state of a record. Equal states mean equal documents. */
const state = "hex(content_hash) || updated_at";

/**
 * Yields states sorted by id. The unary plus avoids the index, with which SQLite would look up every row separately.
 */
const sortedStates = (db: DatabaseSync, kind: RecordKind): Iterable<[id: string, state: string]> =>
  arraysOf(db, `select id, ${state} from ${kind} order by +id`);

const digestBytes = 32;

/** Number of records in a slice of work. A slice takes about a millisecond. */
const sliceSize = 500;

/**
 * Yields states sorted by id, with each document's SHA-256, and null between slices of work. The documents themselves
 * are too long to sort.
 */
function* digestedStates(
  db: DatabaseSync,
  kind: RecordKind,
): Generator<[id: string, state: string, sha256: Uint8Array] | null, void> {
  const { n } = db.prepare(`select count(*) as n from ${kind}`).get()!;
  const ids: string[] = [];
  const states: string[] = [];
  const digests = Buffer.alloc(digestBytes * Number(n));
  const rows = arraysOf<[string, string, string]>(db, `select id, ${state}, document from ${kind}`);
  for (const [id, stateOf, document] of rows) {
    digests.write(hash("sha256", document, "binary"), digestBytes * ids.length, "latin1");
    ids.push(id);
    states.push(stateOf);
    if (ids.length % sliceSize === 0) yield null;
  }
  const order = Uint32Array.from(ids.keys()).sort((a, b) => (ids[a]! < ids[b]! ? -1 : 1));
  for (const [number, i] of order.entries()) {
    if (number % sliceSize === 0) yield null;
    yield [ids[i]!, states[i]!, digests.subarray(digestBytes * i, digestBytes * (i + 1))];
  }
}

function openDocuments(db: DatabaseSync): (difference: Difference) => string {
  const find = eachOf(recordKinds, (kind) =>
    db.prepare(`select document from ${kind} where id = ?`),
  );
  return ({ kind, id }) => find[kind].get(id)!["document"] as string;
}

/** A generation to be published. */
export interface Next {
  generation: Generation;
  /** Path of its verified file. */
  path: string;
  /** True if the current generation's file is verified too. */
  isBaseChecked: boolean;
}

/**
 * Writes the step from the current generation to another, unless it exists. Returns null if no step is needed or the
 * step cannot be written. The publication goes ahead without a step: clients that follow changes then read all records
 * again.
 */
export async function stepTo(
  store: DatasetStore,
  from: Generation,
  to: Next,
): Promise<MadeStep | null> {
  const [before, after] = [from.version, to.generation.version];
  if (store.changesDays === 0 || before === after) return null;
  const publications = openPublications(store.folder);
  // Publishing meets the same fault and reports it.
  const noted = await store.publications().catch(() => null);
  if (noted === null) return null;
  try {
    const basePath = await store.open(before);
    if (!to.isBaseChecked) openPublished(basePath, from).db.close();
    const fromHash = hashIn(noted, before);
    const former = noted.find((one) => one.from === before && one.version === after);
    if (former?.step != null && fromHash !== null && publications.openStep(before, after) !== null)
      return { hash: former.hash, step: former.step, from_hash: fromHash };
    const base = { version: before, path: basePath, hash: fromHash };
    const { from_hash, to_hash, changes, counts } = await publications.addStep(
      before,
      after,
      (path) => writeStep(path, base, { version: after, path: to.path }),
    );
    return { hash: to_hash, step: { changes, counts }, from_hash };
  } catch (error) {
    store.warn(noStep(before, after, error as Error));
    return null;
  }
}

/** Returns the warning about a step that was not written, without a full stop. */
export const noStep = (from: string, to: string, { message }: Error) =>
  `the changes from ${from} to ${to} were not written for /changes, so clients that follow /changes must read all records again: ${message.replace(` ${remedy}`, "").replace(/\.$/, "")}`;

/** Facts in the head of a step besides its format and its two versions. */
interface StepFacts extends NonNullable<Publication["step"]> {
  from_hash: string;
  to_hash: string;
}

interface Side {
  version: string;
  path: string;
}

/** Version of the step format. Raise it if an older program could misread a new step, or a newer one an old step. */
const stepFormat = 1;
/** Number of bytes reserved for the head, which is written last because it contains the counts. */
const headBytes = 1024;
const pieceUnits = 256 * 1024;

/**
 * Writes a step to a new file and syncs it. The memory used grows with the number of records, not of changes.
 * @param from generation that the step starts from; its hash is null if unknown.
 * @throws DatasetFault if a generation cannot be read, or a system error if the file cannot be written.
 */
function writeStep(path: string, from: Side & { hash: string | null }, to: Side): StepFacts {
  using comparison = compareGenerations(from.path, to.path);
  using file = openForBlock(path, "w", 0o600);
  const counts = allCounts({});
  let changes = 0;
  writeFileSync(file.fd, " ".repeat(headBytes));
  let waiting = "";
  // Unlike `writeSync`, `writeFileSync` continues after a partial write, as on a nearly full disk.
  const flush = () => {
    writeFileSync(file.fd, waiting);
    waiting = "";
  };
  for (const difference of comparison.differences()) {
    counts[difference.kind][difference.change]++;
    changes++;
    waiting += `${lineOf(difference, comparison)}\n`;
    if (waiting.length >= pieceUnits) flush();
  }
  flush();
  const from_hash = from.hash ?? hashOfRecords(from.path);
  const facts = { from_hash, to_hash: comparison.hash(), changes, counts };
  const head = { format: stepFormat, from: from.version, to: to.version, ...facts };
  writeSync(file.fd, `${JSON.stringify(head).padEnd(headBytes - 1)}\n`, 0);
  fsyncSync(file.fd);
  return facts;
}

/**
 * Returns a difference as a line of NDJSON, without the line end.
 * @param options `isWhole`: true to add the whole record, or its last state if it is gone; false for a step.
 */
export function lineOf(one: Difference, comparison: Comparison, { isWhole = false } = {}): string {
  const { change, kind, id, into } = one;
  const what = `{"change":"${change}","kind":"${kind}","id":"${id}"`;
  const gone = () => (isWhole ? `,"record":${comparison.before(one)}` : "");
  switch (change) {
    case "removed":
      return `${what}${gone()}}`;
    case "merged":
      return `${what},"into":"${into}"${gone()}}`;
    case "added":
      return `${what},"record":${comparison.after(one)}}`;
    case "changed":
      return `${what},${changedMembers(comparison.before(one), comparison.after(one), isWhole)}}`;
  }
}

/**
 * Returns the JSON of the differing members, without braces. Adds the whole record if `isWhole` is true, or if the
 * names or the order of the members differ.
 */
function changedMembers(beforeText: string, afterText: string, isWhole: boolean): string {
  const before = JSON.parse(beforeText) as Members;
  const after = JSON.parse(afterText) as Members;
  const names = differingNames(before, after);
  const only = (members: Members) =>
    JSON.stringify(Object.fromEntries(names.map((name) => [name, members[name]])));
  const isAlike = Object.keys(after).join() === Object.keys(before).join();
  const whole = isAlike && !isWhole ? "" : `,"record":${afterText}`;
  return `"before":${only(before)},"after":${only(after)}${whole}`;
}
