/** The publications of a datasets folder, and the steps between them. Both outlive the datasets. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { type Publication, type StoredStep, withAllStepCounts } from "#records/publication.ts";
import { dayMilliseconds } from "#store/durations.ts";
import { isAbandoned } from "#store/lock.ts";
import { openForBlock, replaceFile, syncPath, writeSynced } from "#store/whole-file.ts";
import { DatasetFault, readIfThere } from "./dataset-fault.ts";
import type { Generation } from "./generation.ts";

export type Publications = ReturnType<typeof openPublications>;

const listName = "publications.json";
const stepShape = /^changes-(.+)\.\.(.+)\.(?:ndjson|index)$/;

/** Opens the publications of a datasets folder. Their subfolder is created only when something is written to it. */
export function openPublications(datasetsFolder: string) {
  const folder = join(datasetsFolder, "changes");
  const listPath = join(folder, listName);
  const nameOf = (from: string, to: string) => `changes-${from}..${to}`;
  /** Returns the path of a step, which need not exist. */
  const stepPath = (from: string, to: string) => join(folder, `${nameOf(from, to)}.ndjson`);
  const indexPath = (from: string, to: string) => join(folder, `${nameOf(from, to)}.index`);
  const makeFolder = () => mkdirSync(folder, { recursive: true, mode: 0o700 });
  let made = 0;
  /** Cached list, valid while the file and the current version stay the same; null until the file is first read. */
  let known: { stamp: string; publications: readonly Publication[] } | null = null;
  /** Writes the index of a step's file, and gives the file its final name. */
  const adoptStep = (path: string, from: string, to: string) => {
    // The index is written first, so that every existing step has one.
    writeSynced(indexPath(from, to), indexOf(path));
    renameSync(path, stepPath(from, to));
    syncPath(folder);
  };
  return {
    /**
     * Lists publications, oldest first. Omits notes of interrupted publications.
     * @param current version that is current, or served; the list is empty if it is null.
     * @throws DatasetFault if the list is damaged.
     */
    list(current: string | null): readonly Publication[] {
      const stats = statSync(listPath, { throwIfNoEntry: false });
      if (stats === undefined) return [];
      const stamp = `${stats.ino} ${stats.mtimeMs} ${stats.size} ${current}`;
      if (known?.stamp === stamp) return known.publications;
      const noted = parseList(readIfThere(listPath) ?? "[]", listPath);
      const publications = confirmed(noted, current);
      known = { stamp, publications };
      return publications;
    },
    stepPath,
    openStep(from: string, to: string): StoredStep | null {
      if (!existsSync(stepPath(from, to))) return null;
      return openIndex(indexPath(from, to));
    },
    adoptStep,
    /** Stores a step, whole or not at all. @param make function that writes the step to a new file. */
    async addStep<R>(from: string, to: string, make: (path: string) => R | Promise<R>): Promise<R> {
      makeFolder();
      const path = join(folder, `.step.${process.pid}.${++made}.tmp`);
      try {
        const facts = await make(path);
        adoptStep(path, from, to);
        return facts;
      } finally {
        rmSync(path, { force: true });
      }
    },
    /** Replaces the list atomically. */
    write(publications: readonly Publication[]): void {
      makeFolder();
      replaceFile(listPath, `${JSON.stringify(publications)}\n`);
    },
    /**
     * Deletes steps that no kept publication has, and leftovers of killed processes.
     * @param former publications whose steps may be deleted; without it, any step may be.
     */
    clear(kept: readonly Publication[], former?: readonly Publication[]): void {
      if (!existsSync(folder)) return;
      const namesOf = (all: readonly Publication[]) =>
        new Set(all.flatMap(({ from, version }) => (from === null ? [] : nameOf(from, version))));
      const names = namesOf(kept.filter(({ step }) => step !== null));
      const formerNames = former && namesOf(former);
      for (const name of readdirSync(folder)) {
        const step = name.replace(/\.\w+$/, "");
        const mayGo = formerNames === undefined || formerNames.has(step);
        const isGone = stepShape.test(name) && mayGo && !names.has(step);
        if (isGone || isAbandoned(name)) rmSync(join(folder, name), { force: true });
      }
    },
  };
}

/** Parses the list. @throws DatasetFault if the text is not a list. */
function parseList(text: string, path: string): Publication[] {
  try {
    const noted: unknown = JSON.parse(text);
    if (Array.isArray(noted)) return (noted as Publication[]).map(withAllStepCounts);
  } catch {
    // The fault is thrown below.
  }
  throw new DatasetFault(
    `${path} is damaged. Remove this file: /changes then starts again with the next publication.`,
  );
}

/**
 * Returns the publications that took effect. A publication is noted before the pointer moves, so publications after the
 * last one of the current version did not take effect. All did if the current version is not listed: it was published
 * while CHANGES_DAYS was 0, or could not be noted. None did if there is no current version.
 */
function confirmed(noted: readonly Publication[], current: string | null): readonly Publication[] {
  if (current === null) return [];
  const last = noted.findLastIndex(({ version }) => version === current);
  return last === -1 ? noted : noted.slice(0, last + 1);
}

/** Hash and step to note for a publication, and the hash of the generation that the step starts from. */
export interface MadeStep extends Pick<Publication, "hash" | "step"> {
  from_hash: string;
}

/**
 * Returns the list with a publication added, and its predecessor if that is not listed. Fills in the predecessor's
 * hash from the step if the list lacks it. Adds nothing if the version is already current.
 */
export function withPublication(
  noted: readonly Publication[],
  from: Generation | null,
  to: Pick<Publication, "version" | "published_at">,
  made: MadeStep | null,
): readonly Publication[] {
  if (from?.version === to.version) return noted;
  const { version, published_at } = to;
  const hash = made?.hash ?? hashIn(noted, version);
  const publication: Publication = {
    version,
    published_at,
    from: from?.version ?? null,
    hash,
    step: made?.step ?? null,
  };
  if (from === null) return [...noted, publication];
  const unknown = { from: null, hash: null, step: null };
  const base = { version: from.version, published_at: from.published_at!, ...unknown };
  const isKnown = noted.some((one) => one.version === from.version);
  const before = (isKnown ? noted : [...noted, base]).map((one) =>
    one.hash === null && one.version === from.version
      ? { ...one, hash: made?.from_hash ?? null }
      : one,
  );
  return [...before, publication];
}

/** Returns the publications, with null for each step that `isMeant` selects or cannot read. */
export async function withoutSteps(
  noted: readonly Publication[],
  isMeant: (from: string, to: string) => Promise<boolean>,
): Promise<readonly Publication[]> {
  const kept: Publication[] = [];
  for (const one of noted) {
    const isGone = one.step !== null && (await isMeant(one.from!, one.version).catch(trueIfUnread));
    kept.push(isGone ? { ...one, step: null } : one);
  }
  return kept;
}

function trueIfUnread(error: unknown): true {
  if (error instanceof DatasetFault || error instanceof SyntaxError) return true;
  throw error;
}

/** Returns publications younger than a number of days, and the newest one. Returns none if the number is 0. */
export function youngerThan(
  noted: readonly Publication[],
  days: number,
  nowMilliseconds: number,
): readonly Publication[] {
  if (days === 0) return [];
  const since = nowMilliseconds - days * dayMilliseconds;
  return noted.filter(
    ({ published_at }, i) => i === noted.length - 1 || Date.parse(published_at) >= since,
  );
}

/** Returns the hash that the list has for a version; null if it has none. */
export const hashIn = (noted: readonly Publication[], version: string) =>
  noted.find((one) => one.version === version && one.hash !== null)?.hash ?? null;

const numberBytes = 8;
const newline = 10;

/** Returns the index of a step: the start of each change and the end of the last one, as little-endian doubles. */
function indexOf(path: string): Uint8Array {
  const piece = Buffer.allocUnsafe(1024 * 1024);
  using file = openForBlock(path, "r");
  const starts: number[] = [];
  let at = 0;
  for (let length = readSync(file.fd, piece); length > 0; length = readSync(file.fd, piece)) {
    const read = piece.subarray(0, length);
    for (let end = read.indexOf(newline); end !== -1; end = read.indexOf(newline, end + 1))
      starts.push(at + end + 1);
    at += length;
  }
  const bytes = Buffer.alloc(numberBytes * starts.length);
  starts.forEach((start, line) => bytes.writeDoubleLE(start, numberBytes * line));
  return bytes;
}

function openIndex(path: string): StoredStep {
  const changes = statSync(path).size / numberBytes - 1;
  const startOf = (change: number) => {
    using file = openForBlock(path, "r");
    const bytes = Buffer.alloc(numberBytes);
    readSync(file.fd, bytes, 0, numberBytes, numberBytes * change);
    return bytes.readDoubleLE();
  };
  return {
    changes,
    placeOf(offset, limit) {
      const start = offset === 0 ? 0 : startOf(Math.min(offset, changes));
      return { start, end: startOf(Math.min(offset + limit, changes)) };
    },
  };
}
