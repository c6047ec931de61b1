/** Imports the records of a source: build, verify, and publish or stage. */
import { rmSync } from "node:fs";
import type { SourceEntry } from "#records/source-entry.ts";
import { buildGeneration, type BuildResult } from "./build.ts";
import type { DatasetList } from "./catalogue.ts";
import { draftEntries, type DraftedBlock, takeBlocks } from "./draft-entry.ts";
import type { Generation } from "./generation.ts";
import { abandonDraft, neededBytes, refuseTooLittleSpace, sizeOf } from "./disk-space.ts";
import { hashFile } from "./file-hash.ts";
import { builtAtOf, timeOf } from "./format.ts";
import { clearLeftovers } from "./leftovers.ts";
import { openPublished } from "./open-generation.ts";
import type { Guards } from "./refusal.ts";
import { verifyGeneration } from "./verify.ts";

/** Invented records; the first real import removes them. */
export const demoSource = "demo";

export interface ImportRequest extends Guards {
  source: string;
  /** What was delivered, or what other threads made of it. */
  entries: AsyncIterable<SourceEntry> | Iterable<SourceEntry> | { blocks: DraftedBlocks };
  /** Adds to what the source has instead of replacing it. */
  isMerge?: boolean;
  /** Reports what would change and changes nothing. */
  isDryRun: boolean;
  /** Stages the dataset, to be published later. */
  isStaged?: boolean;
  /** Size of the files, so that a disk that is certainly too small is noticed before anything is read. */
  knownBytes?: number;
  nowMilliseconds: number;
  /** Progress: lines read, then records written, then records read back. */
  onRead?: (lines: number) => void;
  onWritten?: (records: number) => void;
  onChecked?: (records: number) => void;
}

export interface ImportResult extends BuildResult {
  /** Records of each kind in the resulting dataset; null where the import was refused. */
  records: Generation["records"] | null;
  /** The dataset that was published, where one was. */
  published: Generation | null;
  /** The dataset that waits to be published, where one does. */
  staged: Generation | null;
}

/** Where an import finds the generation it builds on, and leaves the one it built. */
export interface ImportTarget extends DatasetList {
  /** Takes the file of the draft away. */
  stage(draftPath: string, generation: Generation): void | Promise<void>;
  publishDraft(
    draftPath: string,
    generation: Generation,
    time: string,
  ): Generation | Promise<Generation>;
}

type DraftedBlocks = AsyncIterable<DraftedBlock>;

const sourceShape = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** Why a text cannot name a source, as the end of a sentence. */
export const sourceFault = (source: string) =>
  sourceShape.test(source)
    ? undefined
    : "must be 1 to 64 of a-z, 0-9, - and _, beginning with a letter or digit";

/**
 * Replaces what the current dataset has of one source, or merges into it, and makes the result the current one.
 * Whatever fails, the current dataset stays as it is. One import at a time: the caller holds the lock.
 * @throws DatasetFault where the disk is too full, or the current dataset is damaged.
 */
export async function importSource(
  catalogue: ImportTarget,
  request: ImportRequest,
): Promise<ImportResult> {
  const { folder } = catalogue;
  clearLeftovers(folder);
  const dropped = request.source === demoSource ? [] : [demoSource];
  const isMerge = request.isMerge === true;
  const base = measureBase(catalogue, isMerge ? dropped : [...dropped, request.source]);
  const needed = neededBytes(base.carriedBytes, request.knownBytes ?? 0);
  refuseTooLittleSpace(folder, needed);
  const built = await buildGeneration({
    folder,
    source: request.source,
    read: (texts) =>
      "blocks" in request.entries
        ? takeBlocks(request.entries.blocks, texts)
        : draftEntries(request.entries, request.source, texts),
    previousPath: base.path,
    dropped,
    isMerge,
    guards: request,
    neededBytes: needed,
    builtAt: buildTime(catalogue, request.nowMilliseconds),
    onRead: request.onRead ?? (() => {}),
    onWritten: request.onWritten ?? (() => {}),
  });
  const records = built.outcome === "unchanged" ? base.records : (built.draft?.counts ?? null);
  const result = { ...built, records, published: null, staged: null };
  if (built.draft === null) return result;
  const { path } = built.draft;
  const draftBytes = sizeOf(path);
  try {
    if (request.isDryRun) return result;
    verifyGeneration(path, request.onChecked);
    const generation = generationOf(built.draft, base.version);
    if (request.isStaged === true) {
      await catalogue.stage(path, generation);
      return { ...result, staged: generation };
    }
    const time = timeOf(request.nowMilliseconds);
    return { ...result, published: await catalogue.publishDraft(path, generation, time) };
  } catch (error) {
    throw abandonDraft(error, { path, folder, needed: Math.max(needed, draftBytes) });
  } finally {
    rmSync(path, { force: true });
  }
}

function generationOf(
  { path, meta, counts }: NonNullable<BuildResult["draft"]>,
  built_from: string | null,
): Generation {
  const { version, hash, built_at } = meta;
  return {
    version,
    hash,
    ...hashFile(path),
    records: counts,
    built_at,
    built_from,
    published_at: null,
    published_after: null,
    pinned_at: null,
  };
}

/** Later than every existing generation, even if two builds share a second or the clock was set back. */
function buildTime(catalogue: DatasetList, nowMilliseconds: number): string {
  // Taken from the file names: facts may be damaged.
  const newest = catalogue.versions().findLast(catalogue.has);
  const earliest = newest === undefined ? 0 : Date.parse(builtAtOf(newest)) + 1000;
  return timeOf(Math.max(nowMilliseconds, earliest));
}

/** The generation an import builds on: the current one, whose other sources are carried over. */
interface Base {
  version: string | null;
  path: string | null;
  records: Generation["records"];
  /** About how much of its file is carried over. */
  carriedBytes: number;
}

/**
 * @param notCarried sources of which nothing is carried over.
 * @throws DatasetFault where the current generation is damaged, as the damage would be carried over.
 */
function measureBase(catalogue: DatasetList, notCarried: readonly string[]): Base {
  const current = catalogue.current();
  if (current === null) return nothing;
  const { version, records, bytes } = current;
  const path = catalogue.pathOf(version);
  const { db } = openPublished(path, current);
  const places = notCarried.map(() => "?").join(", ");
  const { share } = db
    .prepare(`select coalesce(avg(source not in (${places})), 0) as share from canonical`)
    .get(...notCarried)!;
  db.close();
  return { version, path, records, carriedBytes: bytes * Number(share) };
}

const nothing: Base = {
  version: null,
  path: null,
  records: { gp: 0, principal: 0, signal: 0, project: 0 },
  carriedBytes: 0,
};
