/** Writes a step: the changes from one generation to another as NDJSON. docs/changes.md describes the form. */
import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { recordKinds } from "#records/kinds.ts";
import { changeKinds, type Publication } from "#records/publication.ts";
import { compareGenerations, type Comparison, type Difference, hashOfRecords } from "./compare.ts";

/** Facts in the head of a step besides its two versions. */
interface StepFacts extends NonNullable<Publication["step"]> {
  from_hash: string;
  to_hash: string;
}

interface StepOrder {
  from: { version: string; path: string };
  to: { version: string; path: string };
  /** Hash of the records of `from`; null if it is not known. */
  fromHash: string | null;
}

/** Format of a step. Raise it when a program could misread a step. */
const stepFormat = 1;
/** Room for the head. It is written last, because the counts are known last. */
const headBytes = 1024;
const pieceBytes = 256 * 1024;

/**
 * Writes a new file and syncs it, in bounded memory whatever the number of changes.
 * @throws DatasetFault if a generation cannot be read, or an error of the system if the file cannot be written.
 */
export function writeStep(path: string, { from, to, fromHash }: StepOrder): StepFacts {
  const comparison = compareGenerations(from.path, to.path);
  try {
    const file = openSync(path, "w", 0o600);
    try {
      const counts = countless();
      let changes = 0;
      const lines = openLines(file, headBytes);
      for (const difference of comparison.differences()) {
        counts[difference.kind][difference.change]++;
        changes++;
        lines.add(lineOf(difference, comparison));
      }
      lines.end();
      const from_hash = fromHash ?? hashOfRecords(from.path);
      const facts = { from_hash, to_hash: comparison.hash(), changes, counts };
      const head = { format: stepFormat, from: from.version, to: to.version, ...facts };
      writeAll(file, Buffer.from(`${JSON.stringify(head).padEnd(headBytes - 1)}\n`), 0);
      fsyncSync(file);
      return facts;
    } finally {
      closeSync(file);
    }
  } finally {
    comparison.close();
  }
}

const countless = () =>
  Object.fromEntries(
    recordKinds.map((kind) => [kind, Object.fromEntries(changeKinds.map((one) => [one, 0]))]),
  ) as StepFacts["counts"];

/** Returns the line of a difference, with documents as they are stored. */
function lineOf(difference: Difference, comparison: Comparison): string {
  const { change, kind, id, into } = difference;
  const what = `{"change":"${change}","kind":"${kind}","id":"${id}"`;
  switch (change) {
    case "removed":
      return `${what}}`;
    case "merged":
      return `${what},"into":"${into}"}`;
    case "added":
      return `${what},"record":${comparison.after(difference).document}}`;
    case "changed":
      return `${what},${changedMembers(comparison.before(difference).document, comparison.after(difference).document)}}`;
  }
}

type Members = Readonly<Record<string, unknown>>;

/** Returns the differing members, and the whole record, too, if it has other members or another order of them. */
function changedMembers(beforeText: string, afterText: string): string {
  const before = JSON.parse(beforeText) as Members;
  const after = JSON.parse(afterText) as Members;
  const names = Object.keys(after);
  const isAlike = names.join() === Object.keys(before).join();
  const all = isAlike ? names : [...new Set([...Object.keys(before), ...names])];
  const differing = all.filter((name) => textOf(before[name]) !== textOf(after[name]));
  const only = (members: Members) =>
    JSON.stringify(Object.fromEntries(differing.map((name) => [name, members[name]])));
  const whole = isAlike ? "" : `,"record":${afterText}`;
  return `"before":${only(before)},"after":${only(after)}${whole}`;
}

const textOf = (value: unknown) => JSON.stringify(value);

/** Returns a writer of lines from a place on, many at once. */
function openLines(file: number, start: number) {
  let at = start;
  let waiting: string[] = [];
  let waitingUnits = 0;
  const flush = () => {
    const bytes = Buffer.from(waiting.join(""));
    writeAll(file, bytes, at);
    at += bytes.length;
    waiting = [];
    waitingUnits = 0;
  };
  return {
    add(line: string) {
      waiting.push(line, "\n");
      waitingUnits += line.length + 1;
      if (waitingUnits >= pieceBytes) flush();
    },
    end: flush,
  };
}

/** Writes all bytes: `writeSync` may write only a part, as on a nearly full disk. */
function writeAll(file: number, bytes: Uint8Array, position: number): void {
  for (let done = 0; done < bytes.length;)
    done += writeSync(file, bytes, done, bytes.length - done, position + done);
}
