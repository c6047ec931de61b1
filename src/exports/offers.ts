/** The files that a server offers of whole datasets: which there are, and that each is made once, when it is first asked for. */
import { mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { openCatalogue } from "#datasets/catalogue.ts";
import { DatasetFault } from "#datasets/dataset-fault.ts";
import { isNoRoom } from "#datasets/disk-space.ts";
import { idPrefixes } from "#datasets/format.ts";
import type { Generation } from "#datasets/generation.ts";
import { isOwnFormat } from "#datasets/open-generation.ts";
import type { RecordKind } from "#records/kinds.ts";
import { readPlainFile } from "#store/plain-file.ts";
import { replaceFile } from "#store/whole-file.ts";
import { type FileFormat, fileFormats, runExport } from "./run-export.ts";

export interface OfferedFile {
  /** Such as `gp.parquet`. */
  name: string;
  kind: RecordKind;
  format: FileFormat;
  records: number;
  /** Null until somebody asks for it. */
  made: MadeFile | null;
}

export interface MadeFile {
  path: string;
  bytes: number;
  sha256: string;
}

interface OfferedDataset {
  generation: Generation;
  files: OfferedFile[];
}

export interface ExportOffers {
  /** The dataset that is served, then those that were published, are pinned and can be read by this program, newest first. */
  list(): OfferedDataset[];
  /** Undefined where the dataset is not offered, or has no such file. */
  find(version: string, name: string): OfferedFile | undefined;
  /**
   * Makes a file, one at a time; whoever asks meanwhile gets the same one. Rejects where it cannot be made, with a
   * DatasetFault `full` where the disk has no room.
   */
  make(version: string, file: OfferedFile): Promise<MadeFile>;
  /**
   * Removes the files of datasets that are no longer offered.
   * @param served the version that is served from now on.
   */
  tidy(served: string): void;
  /** Ends what is being made. */
  close(): void;
}

interface OffersOrder {
  /** Of the datasets. */
  folder: string;
  /** The version that is served; null while there is none. */
  served(): string | null;
  /** Version of the program: another one may write other bytes. */
  program: string;
  onMade(version: string, name: string, milliseconds: number): void;
}

/** What stands beside a file. */
interface Facts {
  bytes: number;
  sha256: string;
  program: string;
}

const kindsAndFormats = (Object.keys(idPrefixes) as RecordKind[]).flatMap((kind) =>
  fileFormats.map((format) => [kind, format] as const),
);

export function openExportOffers({ folder, served, program, onMade }: OffersOrder): ExportOffers {
  const catalogue = openCatalogue(folder);
  const making = new Map<string, Promise<MadeFile>>();
  let last: Promise<unknown> = Promise.resolve();
  const closing = new AbortController();

  const offered = (current = served()): Generation[] => {
    // Who pins a staged dataset to keep it has not published it yet.
    const isOffered = (one: Generation) =>
      one.version === current ||
      (one.published_at !== null && one.pinned_at !== null && isReadable(one));
    const newestFirst = catalogue
      .versions()
      .toReversed()
      .flatMap((version) => catalogue.findReadable(version) ?? [])
      .filter(isOffered);
    const isCurrent = ({ version }: Generation) => version === current;
    return [...newestFirst.filter(isCurrent), ...newestFirst.filter((one) => !isCurrent(one))];
  };
  /** A dataset pinned before an update may be in a format of the past, and its file cut short by a full disk. */
  const isReadable = ({ version, bytes }: Generation) => {
    const path = catalogue.pathOf(version);
    return statSync(path, { throwIfNoEntry: false })?.size === bytes && isOwnFormat(path);
  };
  const folderOf = (version: string) => join(catalogue.exportsFolder, version);
  const fileOf = ({ version, records }: Generation, name: string): OfferedFile | undefined => {
    const [kind, format] = kindsAndFormats.find((one) => one.join(".") === name) ?? [];
    if (kind === undefined || format === undefined) return undefined;
    const made = readMade(join(folderOf(version), name), program);
    return { name, kind, format, records: records[kind], made };
  };

  async function makeNow(version: string, { name, kind, format }: OfferedFile): Promise<MadeFile> {
    const begunAt = performance.now();
    const folder = folderOf(version);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const order = {
      path: catalogue.pathOf(version),
      generation: catalogue.find(version),
      kinds: [kind],
      format,
      folder,
      licence: null,
    };
    const [file] = await runExport(order, closing.signal);
    const { file: path, bytes, sha256 } = file!;
    replaceFile(factsPath(path), JSON.stringify({ bytes, sha256, program } satisfies Facts));
    onMade(version, name, performance.now() - begunAt);
    return { path, bytes, sha256 };
  }

  return {
    list: () =>
      offered().map((generation) => ({
        generation,
        files: kindsAndFormats.flatMap((one) => fileOf(generation, one.join(".")) ?? []),
      })),
    find: (version, name) => {
      const generation = offered().find((one) => one.version === version);
      return generation && fileOf(generation, name);
    },
    make(version, file) {
      if (file.made !== null) return Promise.resolve(file.made);
      const key = `${version}/${file.name}`;
      const begun = making.get(key);
      if (begun !== undefined) return begun;
      const begin = last.then(() => makeNow(version, file)).catch(wordRoom);
      making.set(key, begin);
      last = begin.catch(() => {}).then(() => making.delete(key));
      return begin;
    },
    tidy(current) {
      const kept = new Set(offered(current).map(({ version }) => version));
      for (const version of foldersIn(catalogue.exportsFolder))
        if (!kept.has(version)) remove(folderOf(version));
    },
    close: () => closing.abort(),
  };
}

/** @throws always: what it was given, or a DatasetFault where the disk was full. */
function wordRoom(error: unknown): never {
  if (!isNoRoom(error)) throw error;
  const words = `an export cannot be written: ${(error as Error).message}; free some space in DATA_DIR`;
  throw new DatasetFault(words, "full", { cause: error });
}

function remove(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // The next time it is tried again.
  }
}

const factsPath = (path: string) => `${path}.json`;

/** Null where it was not made, not by this version of the program, or not completely. */
function readMade(path: string, program: string): MadeFile | null {
  try {
    const facts = JSON.parse(readPlainFile(factsPath(path)).toString()) as Facts;
    const { bytes, sha256 } = facts;
    return facts.program === program && statSync(path).size === bytes
      ? { path, bytes, sha256 }
      : null;
  } catch {
    // Whatever is wrong with it, it is made anew.
    return null;
  }
}

function foldersIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
