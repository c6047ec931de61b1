/** The folder imports are tried in: a dataset that must stay as it is, and the files of the moment. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openFilings } from "#cli/import-filings.ts";
import { type Catalogue, openCatalogue } from "#datasets/catalogue.ts";
import type { Collected } from "#datasets/collect.ts";
import { readCsv } from "#importers/csv.ts";
import { readNdjson } from "#importers/json.ts";
import { readMapping } from "#importers/read-mapping.ts";
import { recordKinds } from "#records/kinds.ts";
import type { SourceEntry } from "#records/canonical.ts";
import { temporaryFolder } from "../../bench/clean-up.ts";
import { cast } from "../../test/support/cast.ts";
import { importRecords } from "../../test/support/dataset.ts";
import type { FuzzFolder } from "./any-folder.ts";
import type { FuzzImport } from "./any-import.ts";

export interface Taken {
  collected: Collected;
  /** JSON of every record of the dataset that was published; empty where none was. */
  documents: readonly string[];
}

export interface Workshop {
  /** Paths as a report names them. */
  tablePath: string;
  mappingPath: string;
  filingsPath: string;
  /** @param watch sees every entry before it is checked. */
  take(one: FuzzImport, watch: (entry: SourceEntry) => void): Promise<Taken>;
  /** Reads a folder of filings. @param watch sees every entry before it is checked. */
  takeFolder(one: FuzzFolder, watch: (entry: SourceEntry) => void): Promise<Taken>;
  /** Files of the folder of datasets that are new, lost or changed. */
  litter(): string[];
}

const source = "fuzz";

export async function openWorkshop(): Promise<Workshop> {
  const folder = temporaryFolder("fuzz", quickFolder());
  const tablePath = join(folder, "table.txt");
  const mappingPath = join(folder, "mapping.json");
  const filingsPath = join(folder, "filings");
  const catalogue = openCatalogue(join(folder, "datasets"));
  await importRecords(catalogue, cast, { source: "own" });
  const before = tracesOf(catalogue);
  const importAll = async (entries: AsyncIterable<SourceEntry>, isWhole: boolean) => {
    const { collected, published } = await importRecords(catalogue, [], {
      source,
      entries,
      rejectedMax: { percent: 100 },
      isDryRun: !isWhole,
      nowMilliseconds: Date.now(),
    });
    const documents = published === null ? [] : documentsIn(catalogue.pathOf(published.version));
    if (published !== null) forget(catalogue, published.version, before);
    return { collected, documents };
  };
  return {
    tablePath,
    mappingPath,
    filingsPath,
    take(one, watch) {
      writeFileSync(tablePath, one.table);
      if (one.mapping !== null) writeFileSync(mappingPath, one.mapping);
      const entries = entriesIn(tablePath, one.mapping === null ? null : mappingPath);
      return importAll(watched(entries, watch), one.isWhole);
    },
    async takeFolder(one, watch) {
      rmSync(filingsPath, { recursive: true, force: true });
      for (const [path, bytes] of one.files) {
        mkdirSync(dirname(join(filingsPath, path)), { recursive: true });
        writeFileSync(join(filingsPath, path), bytes);
      }
      const order = { folder: catalogue.folder, source, minConfidence: 0.5 };
      const { entries, close } = await openFilings([filingsPath], {
        ...order,
        namedPercentMin: undefined,
      });
      try {
        return await importAll(watched(entries, watch), one.isWhole);
      } finally {
        close();
      }
    },
    litter: () => differences(before, tracesOf(catalogue)),
  };
}

/** In memory, where the system has such a folder: ten thousand files are too many for a disk that is busy otherwise. */
const quickFolder = () => (existsSync("/dev/shm") ? "/dev/shm" : tmpdir());

async function* entriesIn(tablePath: string, mappingPath: string | null) {
  if (mappingPath === null) yield* readNdjson([tablePath]);
  else yield* readCsv([tablePath], await readMapping(mappingPath));
}

async function* watched(
  entries: AsyncIterable<SourceEntry> | Iterable<SourceEntry>,
  watch: (entry: SourceEntry) => void,
): AsyncGenerator<SourceEntry> {
  for await (const entry of entries) {
    watch(entry);
    yield entry;
  }
}

/** Byte for byte what would be served of each record; the tables are those of docs/dataset-format.md. */
function documentsIn(path: string): string[] {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    return recordKinds.flatMap((kind) =>
      db
        .prepare(`select document from ${kind}`)
        .all()
        .map(({ document }) => document as string),
    );
  } finally {
    db.close();
  }
}

type Traces = ReadonlyMap<string, string>;

/** A dataset is never written to again, so its size and time say enough; what is replaced is compared whole. */
function tracesOf({ folder }: Catalogue): Traces {
  const traceOf = (path: string) => {
    if (!path.endsWith(".sqlite")) return readFileSync(path, "utf8");
    const { ino, size, mtimeMs } = statSync(path);
    return `${ino} ${size} ${mtimeMs}`;
  };
  return new Map(readdirSync(folder).map((name) => [name, traceOf(join(folder, name))]));
}

function differences(before: Traces, after: Traces): string[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter((name) => before.get(name) !== after.get(name));
}

/** Puts the folder back as it was before this dataset was published. */
function forget({ folder }: Catalogue, version: string, before: Traces): void {
  for (const name of readdirSync(folder))
    if (name.startsWith(version)) rmSync(join(folder, name));
    else if (!name.endsWith(".sqlite")) writeFileSync(join(folder, name), before.get(name) ?? "");
}
