/** Gathers what goes into a backup: keys, usage, the dataset that is served and those that are pinned. */
import { createHash } from "node:crypto";
import { createReadStream, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Catalogue, type Generation, openCatalogue } from "#datasets/catalogue.ts";
import { findFactsFault } from "#datasets/open-generation.ts";
import { knownSteps, type StoreName } from "#store/schema-steps.ts";
import { BackupFault } from "./backup-fault.ts";
import { backupFormat, type Manifest, type ManifestFile, manifestName } from "./manifest.ts";
import { finishRestore } from "./restore-folders.ts";
import { takeSnapshot } from "./snapshot.ts";
import type { Content } from "./tar.ts";

interface Contents {
  manifest: Manifest;
  /** The manifest first. */
  files: readonly Content[];
}

export interface BackupOrder {
  dataDir: string;
  /** Version of this program. */
  program: string;
  /** Milliseconds since 1970. */
  now: number;
}

/**
 * @param folder for copies of the databases.
 * @throws BackupFault where there is nothing to back up, or what is known of the dataset is not true, DatasetFault where `current` leads nowhere.
 */
export async function gatherContents(
  { dataDir, program, now }: BackupOrder,
  folder: string,
): Promise<Contents> {
  finishRestore(dataDir);
  const names = Object.keys(knownSteps) as StoreName[];
  const taken = await Promise.all(names.map((name) => takeSnapshot(dataDir, name, folder)));
  const snapshots = taken.filter((one) => one !== null);
  const { dataset, pinned, files: datasetFiles } = datasetContents(dataDir);
  const files = [...snapshots.map((one) => fileContent(one, one.copy)), ...datasetFiles];
  if (files.length === 0)
    throw new BackupFault(`There is nothing to back up in ${dataDir}. Is DATA_DIR right?`);
  const manifest: Manifest = {
    backup_format: backupFormat,
    made_at: new Date(now).toISOString(),
    program,
    dataset,
    pinned,
    schema: Object.fromEntries(snapshots.map(({ path, steps }) => [path, steps])),
    files: files.map(({ path, bytes, sha256 }) => ({ path, bytes, sha256 })),
  };
  const text = `${JSON.stringify(manifest, null, 2)}\n`;
  return { manifest, files: [textContent(manifestName, text), ...files] };
}

interface DatasetContents extends Pick<Manifest, "dataset"> {
  pinned: string[];
  files: Content[];
}

function datasetContents(dataDir: string): DatasetContents {
  const none = { dataset: null, pinned: [], files: [] };
  const folder = join(dataDir, "datasets");
  if (!existsSync(folder)) return none;
  const catalogue = openCatalogue(folder);
  const current = catalogue.current();
  if (current === null) return none;
  const pinned = catalogue
    .versions()
    .flatMap((version) => catalogue.findReadable(version) ?? [])
    .filter(({ version, pinned_at }) => pinned_at !== null && version !== current.version);
  return {
    dataset: current.version,
    pinned: pinned.map(({ version }) => version),
    files: [
      ...pinned.flatMap((one) => pinnedContents(catalogue, one)),
      ...generationContents(catalogue, current),
      // Last, as in an import: whoever unpacks it by hand has a whole dataset before it is named.
      textContent("datasets/current", `${current.version}\n`),
    ],
  };
}

/** It is not served, so that what helps there would not help here. */
function pinnedContents(catalogue: Catalogue, generation: Generation): Content[] {
  const { version } = generation;
  try {
    return generationContents(catalogue, generation);
  } catch (cause) {
    throw new BackupFault(
      `No backup was made: the pinned dataset ${version} is not as published. 'gp-records datasets verify ${version}' says what is wrong with it; 'gp-records datasets unpin ${version}' leaves it out.`,
      "unfit",
      { cause },
    );
  }
}

function generationContents(catalogue: Catalogue, generation: Generation): Content[] {
  refuseUntrue(catalogue, generation);
  const { version, bytes, sha256 } = generation;
  const facts = readFileSync(join(catalogue.folder, `${version}.json`), "utf8");
  return [
    fileContent({ path: `datasets/${version}.sqlite`, bytes, sha256 }, catalogue.pathOf(version)),
    textContent(`datasets/${version}.json`, facts),
  ];
}

/** That no byte of the file differs is seen while it is copied; what is known of it would be copied unseen. */
function refuseUntrue({ folder, pathOf }: Catalogue, generation: Generation): void {
  const { version } = generation;
  const fault = findFactsFault(pathOf(version), generation);
  if (fault !== undefined)
    throw new BackupFault(
      `No backup was made: ${join(folder, `${version}.json`)} is not true of its file: ${fault}. \`gp-records doctor\` says what to do.`,
    );
}

const pieceBytes = 1024 * 1024;

const fileContent = ({ path, bytes, sha256 }: ManifestFile, place: string): Content => ({
  path,
  bytes,
  sha256,
  read: () => createReadStream(place, { highWaterMark: pieceBytes }),
});

/** A file that is a text. */
function textContent(path: string, text: string): Content {
  const bytes = Buffer.from(text);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return {
    path,
    bytes: bytes.length,
    sha256,
    async *read() {
      yield bytes;
    },
  };
}
