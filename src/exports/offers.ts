/** Offers whole datasets as files. Lists the files, and makes each one when it is first requested. */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { openCatalogue } from "#datasets/catalogue.ts";
import { DatasetFault, noDataset } from "#datasets/dataset-fault.ts";
import { isNoRoom } from "#datasets/disk-space.ts";
import type { Generation } from "#datasets/generation.ts";
import { isOwnFormat } from "#datasets/open-generation.ts";
import { recordKinds } from "#records/kinds.ts";
import { replaceFile } from "#store/whole-file.ts";
import { fileFormats, runExport } from "./run-export.ts";

export interface OfferedFile extends DatasetFile {
  records: number;
  /** Finished file; null if this version of the program has not made it yet. */
  made: MadeFile | null;
}

export interface MadeFile {
  path: string;
  bytes: number;
  sha256: string;
}

export type ExportOffers = ReturnType<typeof openExportOffers>;

interface OffersOrder {
  /** Folder of the datasets. */
  folder: string;
  /** Returns the served version; null while there is none. */
  served(): string | null;
  /** Version of the program. Another version may write different bytes. */
  program: string;
  onMade(version: string, name: string, milliseconds: number): void;
}

/** Facts about a file, stored beside it. */
type Facts = Omit<MadeFile, "path"> & Pick<OffersOrder, "program">;

type DatasetFile = (typeof filesOfDataset)[number];

const filesOfDataset = recordKinds.flatMap((kind) =>
  fileFormats.map((format) => ({ name: `${kind}.${format}`, kind, format })),
);

export function openExportOffers({ folder, served, program, onMade }: OffersOrder) {
  const catalogue = openCatalogue(folder);
  const making = new Map<string, Promise<MadeFile>>();
  let last: Promise<unknown> = Promise.resolve();
  const closing = new AbortController();

  // A staged dataset may be pinned too, but is not offered before it is published.
  const isOffered = (one: Generation | null, current = served()): one is Generation =>
    one?.version === current ||
    (one !== null && one.published_at !== null && one.pinned_at !== null && isReadable(one));
  /** Reports whether a pinned dataset can be read: its file is there, with the known size and this program's format. */
  const isReadable = ({ version, bytes }: Generation) => {
    const path = catalogue.pathOf(version);
    return statSync(path, { throwIfNoEntry: false })?.size === bytes && isOwnFormat(path);
  };
  const folderOf = (version: string) => join(catalogue.exportsFolder, version);
  const offer = ({ version, records }: Generation, file: DatasetFile): OfferedFile => ({
    ...file,
    records: records[file.kind],
    made: readMade(join(folderOf(version), file.name), program),
  });

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
    if (!catalogue.has(version)) {
      // The dataset was removed meanwhile, for instance because of a suppression.
      remove(folder);
      throw noDataset(version);
    }
    const { file: path, bytes, sha256 } = file!;
    replaceFile(factsPath(path), JSON.stringify({ bytes, sha256, program } satisfies Facts));
    onMade(version, name, performance.now() - begunAt);
    return { path, bytes, sha256 };
  }

  return {
    /** Lists the served dataset, then the other published and pinned ones that this program can read, newest first. */
    list: () =>
      catalogue
        .list()
        .toReversed()
        .filter((one) => isOffered(one))
        .sort((a, b) => Number(b.version === served()) - Number(a.version === served()))
        .map((generation) => ({
          generation,
          files: filesOfDataset.map((file) => offer(generation, file)),
        })),
    find(version: string, name: string): OfferedFile | undefined {
      const generation = catalogue.findReadable(version);
      const file = filesOfDataset.find((one) => one.name === name);
      return file && isOffered(generation) ? offer(generation, file) : undefined;
    },
    /**
     * Makes a missing file. Files are made one at a time, and calls for a file in progress share its result. Rejects if
     * the file cannot be made. The error is a DatasetFault `full` if the disk has no room.
     */
    make(version: string, file: OfferedFile): Promise<MadeFile> {
      return making.getOrInsertComputed(`${version}/${file.name}`, (key) => {
        const begun = last.then(() => makeNow(version, file)).catch(wordRoom);
        last = begun.catch(() => {}).then(() => making.delete(key));
        return begun;
      });
    },
    /** Removes the files of datasets that are no longer offered. @param current version that is served from now on. */
    tidy(current: string): void {
      try {
        for (const version of readdirSync(catalogue.exportsFolder))
          if (!isOffered(catalogue.findReadable(version), current)) remove(folderOf(version));
      } catch {
        // There is no folder before the first file is made. The next call tries again if facts cannot be read.
      }
    },
    /** Stops making files. Calls that wait for a file reject, and so do later ones. */
    close: () => closing.abort(),
  };
}

/** Throws a DatasetFault `full` if the disk had no room, otherwise the given error. */
function wordRoom(error: unknown): never {
  if (!isNoRoom(error)) throw error;
  const words = `an export cannot be written: ${(error as Error).message}; free some space on the disk of DATA_DIR, or lift the limit on the size of files (ulimit -f)`;
  throw new DatasetFault(words, "full", { cause: error });
}

function remove(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // The next call tries again.
  }
}

const factsPath = (path: string) => `${path}.json`;

/** Returns a finished file. Returns null if it is missing, incomplete, or from another version of the program. */
function readMade(path: string, program: string): MadeFile | null {
  try {
    const facts = JSON.parse(readFileSync(factsPath(path), "utf8")) as Facts;
    const { bytes, sha256 } = facts;
    return facts.program === program && statSync(path).size === bytes
      ? { path, bytes, sha256 }
      : null;
  } catch {
    // A file that is missing, or has no readable facts, is made again.
    return null;
  }
}
