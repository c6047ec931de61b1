/** The folder imports are tried in: a dataset that must stay as it is, and the files of the moment. */
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
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
  /** @param watch sees every entry before it is checked. */
  take(one: FuzzImport, watch: (entry: SourceEntry) => void): Promise<Taken>;
  /** Files of the folder of datasets that are new, lost or changed. */
  litter(): string[];
}

const source = "fuzz";

export async function openWorkshop(): Promise<Workshop> {
  const folder = temporaryFolder("fuzz", quickFolder());
  const tablePath = join(folder, "table.txt");
  const mappingPath = join(folder, "mapping.json");
  const catalogue = openCatalogue(join(folder, "datasets"));
  await importRecords(catalogue, cast, { source: "own" });
  const before = tracesOf(catalogue);
  return {
    tablePath,
    mappingPath,
    async take(one, watch) {
      writeFileSync(tablePath, one.table);
      if (one.mapping !== null) writeFileSync(mappingPath, one.mapping);
      const { collected, published } = await importRecords(catalogue, [], {
        source,
        entries: watched(tablePath, one.mapping === null ? null : mappingPath, watch),
        rejectedMax: { percent: 100 },
        isDryRun: !one.isWhole,
        nowMilliseconds: Date.now(),
      });
      const documents = published === null ? [] : documentsIn(catalogue.pathOf(published.version));
      if (published !== null) forget(catalogue, published.version, before);
      return { collected, documents };
    },
    litter: () => differences(before, tracesOf(catalogue)),
  };
}

/** In memory, where the system has such a folder: ten thousand files are too many for a disk that is busy otherwise. */
const quickFolder = () => (existsSync("/dev/shm") ? "/dev/shm" : tmpdir());

async function* watched(
  tablePath: string,
  mappingPath: string | null,
  watch: (entry: SourceEntry) => void,
): AsyncGenerator<SourceEntry> {
  const entries =
    mappingPath === null
      ? readNdjson([tablePath])
      : readCsv([tablePath], await readMapping(mappingPath));
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
