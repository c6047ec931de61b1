/** Compares two generations record by record, in the order of a step: by kind, then by id. */
import { createHash, hash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { eachOf, recordKinds, type RecordKind } from "#records/kinds.ts";
import type { ChangeKind } from "#records/publication.ts";
import { openGeneration } from "./open-generation.ts";
import { arraysOf } from "./rows.ts";

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

export type Comparison = ReturnType<typeof compareGenerations>;

/**
 * Opens a comparison of two generations. The caller has checked that both files are the ones that were built.
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
    /**
     * Returns the newer generation's hash, as docs/changes.md defines it. Call it once, after reading all differences.
     */
    hash: () => total.digest("hex"),
    [Symbol.dispose]: () => opened.dispose(),
  };
}

/** Returns the hash of a generation's records. @throws DatasetFault if its file cannot be read. */
export function hashOfRecords(path: string): string {
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

/** Number of records in a slice of work, which takes about a millisecond. */
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
