/** Writes the steps between publications: the changes that lead from one to the next. */
import { fsyncSync, writeFileSync, writeSync } from "node:fs";
import { allCounts, type Publication } from "#records/publication.ts";
import { openForBlock } from "#store/whole-file.ts";
import {
  compareGenerations,
  type Comparison,
  type Difference,
  differingNames,
  hashOfRecords,
  type Members,
} from "./compare.ts";
import type { Generation } from "./generation.ts";
import { openPublished, remedy } from "./open-generation.ts";
import { hashIn, type MadeStep, openPublications } from "./publications.ts";
import type { DatasetStore } from "./store.ts";

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
 * step cannot be written. The publication still goes on: without a step, clients that follow changes read all records
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

/** Format of a step. Raise it when a program could misread a step. */
const stepFormat = 1;
/** Number of bytes reserved for the head, which is written last because it contains the counts. */
const headBytes = 1024;
const pieceUnits = 256 * 1024;

/**
 * Writes a step to a new file and syncs it, in bounded memory for any number of changes.
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
 * Returns the line of a difference, with documents as they are stored.
 * @param options `isWhole` adds the whole record, or its last state if it is gone. A step adds only what a copy needs.
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
 * Returns the JSON of the differing members, without braces. Adds the whole record if asked to, or if names or order of
 * members differ.
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
