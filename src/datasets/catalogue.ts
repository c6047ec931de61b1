/** The folder of generations: `<version>.sqlite`, what is known of it in `<version>.json`, and the pointer `current`. */
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import type { RecordKind } from "#records/canonical.ts";
import { DatasetFault } from "./dataset-fault.ts";

/** What is known of a generation without opening it. */
export interface Generation {
  version: string;
  /** SHA-256 over its content, times excluded. */
  hash: string;
  /** SHA-256 of the file. */
  sha256: string;
  bytes: number;
  records: Record<RecordKind, number>;
  built_at: string;
  /** Time it last became the current one; null where it never did. */
  published_at: string | null;
}

export const versionShape = /^\d{8}T\d{6}Z-[0-9a-f]{8}$/;

export interface Catalogue {
  folder: string;
  pathOf(version: string): string;
  /** Oldest first. */
  list(): Generation[];
  /** @throws DatasetFault where there is no such version. */
  find(version: string): Generation;
  /** @throws DatasetFault where the pointer is there and names no version: nobody may take that for an empty folder. */
  currentVersion(): string | null;
  /** @throws DatasetFault as `find` and `currentVersion` do. */
  current(): Generation | null;
  /** Takes a verified draft in; it is not current yet. */
  add(draftPath: string, generation: Generation): void;
  /** Makes a version the current one; a server notices within a second. */
  publish(version: string, time: string): Generation;
}

/** @param folder made if it is not there. */
export function openCatalogue(folder: string): Catalogue {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const pathOf = (version: string) => join(folder, `${version}.sqlite`);
  const factsOf = (version: string) => join(folder, `${version}.json`);
  const has = (version: string) =>
    versionShape.test(version) && existsSync(factsOf(version)) && existsSync(pathOf(version));
  const find = (version: string): Generation => {
    if (!has(version))
      throw new DatasetFault(
        `There is no dataset '${version}'; 'gp-records datasets list' shows those there are.`,
      );
    return readFacts(factsOf(version));
  };
  const list = () =>
    readdirSync(folder)
      .filter((name) => name.endsWith(".json") && has(name.slice(0, -5)))
      .toSorted()
      .map((name) => find(name.slice(0, -5)));
  const currentVersion = () => {
    const pointer = join(folder, "current");
    const version = readIfThere(pointer)?.trim() ?? null;
    if (version === null || versionShape.test(version)) return version;
    const newest = list().at(-1)?.version ?? "VERSION";
    throw new DatasetFault(
      `${pointer} does not name a dataset; 'gp-records datasets publish ${newest}' writes it anew.`,
    );
  };
  return {
    folder,
    pathOf,
    find,
    currentVersion,
    list,
    current() {
      const version = currentVersion();
      return version === null ? null : find(version);
    },
    add(draftPath, generation) {
      renameSync(draftPath, pathOf(generation.version));
      replaceFile(factsOf(generation.version), `${JSON.stringify(generation, null, 2)}\n`);
    },
    publish(version, time) {
      const published = { ...find(version), published_at: time };
      replaceFile(factsOf(version), `${JSON.stringify(published, null, 2)}\n`);
      replaceFile(join(folder, "current"), `${version}\n`);
      return published;
    },
  };
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

function readFacts(path: string): Generation {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Generation;
  } catch (error) {
    throw new DatasetFault(
      `${path} cannot be read: ${(error as Error).message}. Remove it, or put it back as it was.`,
    );
  }
}

/** Whole or not at all, also when the power fails: written aside, synced, renamed, the folder synced. */
function replaceFile(path: string, text: string): void {
  const aside = `${path}.${process.pid}.tmp`;
  try {
    const file = openSync(aside, "w", 0o600);
    try {
      writeSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(aside, path);
  } catch (error) {
    rmSync(aside, { force: true });
    throw error;
  }
  syncFolder(join(path, ".."));
}

function syncFolder(path: string): void {
  const folder = openSync(path, "r");
  fsyncSync(folder);
  closeSync(folder);
}
