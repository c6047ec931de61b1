/** The publications and their steps as one file of a backup: the steps one after the other, and the list as its last line. */
import {
  closeSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { DatasetFault } from "#datasets/dataset-fault.ts";
import { versionShape } from "#datasets/generation.ts";
import { openPublications, type Publications } from "#datasets/publications.ts";
import { recordKinds } from "#records/kinds.ts";
import { changeKinds, type Publication } from "#records/publication.ts";
import { Type } from "#records/schema.ts";

/** As a backup names it, beside the datasets. */
export const packedStepsPath = "datasets/changes.ndjson";

/**
 * Writes a new file. A step that is not there, or cut off, is left out, and its publication then has none: whoever follows reads
 * all records again.
 * @param folder of the datasets.
 * @returns how many publications it has; 0, and no file, where none is noted of the version.
 */
export function packSteps(folder: string, current: string, path: string): number {
  const publications = openPublications(folder);
  const noted = listOf(publications, current);
  if (noted.at(-1)?.version !== current) return 0;
  const packed = new Map<string, boolean>();
  const file = openSync(path, "ax", 0o600);
  try {
    const listed = noted.map((one): Publication => {
      if (one.step === null) return one;
      const name = `${one.from}..${one.version}`;
      if (!packed.has(name)) packed.set(name, appendStep(file, publications, one));
      return packed.get(name)! ? one : { ...one, step: null };
    });
    writeAll(file, Buffer.from(`${JSON.stringify(listed)}\n`));
  } finally {
    closeSync(file);
  }
  return noted.length;
}

/** A list that is damaged is no reason to have no backup; each publication warns of it. */
function listOf(publications: Publications, current: string): readonly Publication[] {
  try {
    return publications.list(current);
  } catch (error) {
    if (error instanceof DatasetFault) return [];
    throw error;
  }
}

/**
 * @param file opened for appending.
 * @returns false where the step is not whole; the file then ends as before.
 */
function appendStep(
  file: number,
  { openStep, stepPath }: Publications,
  { from, version, step }: Publication,
): boolean {
  const start = fstatSync(file).size;
  try {
    const stored = openStep(from!, version);
    if (stored === null || stored.changes !== step!.changes) return false;
    const { end } = stored.placeOf(0, stored.changes);
    const source = openSync(stepPath(from!, version), "r");
    try {
      for (const { bytes } of pieces(source, 0, end)) writeAll(file, bytes);
    } finally {
      closeSync(source);
    }
    if (fstatSync(file).size === start + end) return true;
  } catch (error) {
    // Removed meanwhile, as after each publication those are that are too old.
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  ftruncateSync(file, start);
  return false;
}

/**
 * Puts the steps and the list of a packed file in their places, and removes it.
 * @param path below the folder of the datasets. @param current the version whose publication is the last.
 * @param count how many publications there are to be.
 * @returns what is wrong with it, as the end of a sentence; undefined where nothing is.
 */
export async function unpackSteps(
  path: string,
  current: string,
  count: number,
): Promise<string | undefined> {
  const publications = openPublications(dirname(path));
  const file = openSync(path, "r");
  let list: Buffer;
  const changesOf = new Map<string, number>();
  try {
    const { size } = fstatSync(file);
    const ends = lineEnds(file, size);
    const nextEnd = () => ends.next().value ?? size;
    let start = 0;
    let end = nextEnd();
    for (; end < size; end = nextEnd()) {
      const head = readHead(file, start, end);
      if (head === undefined) return "has a step that does not begin as one";
      for (let change = 0; change < head.changes && end < size; change++) end = nextEnd();
      if (end === size) return "has a step that is cut off";
      const aside = publications.temporaryPath();
      copyRange(file, start, end, aside);
      publications.adoptStep(aside, head.from, head.to);
      changesOf.set(`${head.from}..${head.to}`, head.changes);
      start = end;
    }
    if (size - start > listBytesMax) return "has a list that is too long";
    list = Buffer.concat([...pieces(file, start, size)].map(({ bytes }) => Buffer.from(bytes)));
  } finally {
    closeSync(file);
  }
  const noted = await readList(list);
  if (noted?.length !== count || noted.at(-1)!.version !== current)
    return "does not end with the list of the publications that lead to the dataset";
  const unused = new Set(changesOf.keys());
  for (const { from, version, step } of noted) {
    if (step === null) continue;
    const name = `${from}..${version}`;
    if (changesOf.get(name) !== step.changes) return `lacks the step ${name}`;
    unused.delete(name);
  }
  if (unused.size > 0) return `has steps that its list does not name (${[...unused][0]})`;
  publications.write(noted);
  rmSync(path);
  return undefined;
}

const pieceBytes = 1024 * 1024;
const headBytesMax = 4096;
/** As much as a publication every minute of 400 days takes. */
const listBytesMax = 256 * 1024 * 1024;
const newline = 10;

/** Bytes are valid until the next piece. */
function* pieces(file: number, start: number, end: number) {
  const piece = Buffer.allocUnsafe(pieceBytes);
  for (let at = start; at < end;) {
    const read = readSync(file, piece, 0, Math.min(pieceBytes, end - at), at);
    if (read === 0) return;
    yield { at, bytes: piece.subarray(0, read) };
    at += read;
  }
}

/** Where each line ends, its line break included. */
function* lineEnds(file: number, size: number): Generator<number, undefined> {
  for (const { at, bytes } of pieces(file, 0, size))
    for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, end + 1))
      yield at + end + 1;
}

function readHead(file: number, start: number, end: number) {
  if (end - start > headBytesMax) return undefined;
  const bytes = Buffer.alloc(end - start);
  readSync(file, bytes, 0, bytes.length, start);
  const head = parse(String(bytes)) as { from?: unknown; to?: unknown; changes?: unknown } | null;
  const { from, to, changes } = head ?? {};
  const isVersion = (value: unknown) => typeof value === "string" && versionShape.test(value);
  if (!isVersion(from) || !isVersion(to) || !Number.isSafeInteger(changes)) return undefined;
  return (changes as number) < 0
    ? undefined
    : (head as { from: string; to: string; changes: number });
}

function copyRange(file: number, start: number, end: number, path: string): void {
  const copy = openSync(path, "wx", 0o600);
  try {
    for (const { bytes } of pieces(file, start, end)) writeAll(copy, bytes);
  } finally {
    closeSync(copy);
  }
}

/** `writeSync` may write a part only, as on a disk that is nearly full. */
function writeAll(file: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done);
}

/** TypeBox takes long to load, so only a restore loads it. */
async function readList(bytes: Buffer): Promise<Publication[] | undefined> {
  const { Compile } = await import("typebox/compile");
  const number = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
  const each = (names: readonly string[], of: object) =>
    Type.Object(Object.fromEntries(names.map((name) => [name, of])) as never);
  const version = Type.String({ pattern: versionShape.source });
  const orNull = (of: object) => Type.Unsafe<unknown>({ anyOf: [of, { type: "null" }] });
  const publication = Type.Object({
    version,
    published_at: Type.String({
      pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)?Z$",
    }),
    from: orNull(version),
    hash: orNull(Type.String({ pattern: "^[0-9a-f]{64}$" })),
    step: orNull(
      Type.Object({ changes: number, counts: each(recordKinds, each(changeKinds, number)) }),
    ),
  });
  const list = parse(String(bytes));
  if (!Compile(Type.Array(publication)).Check(list)) return undefined;
  const noted = list as Publication[];
  return noted.every(({ published_at }) => !Number.isNaN(Date.parse(published_at)))
    ? noted
    : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
