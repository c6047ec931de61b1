/**
 * Datasets: imports the records of a source as a new generation, which is built, verified, and published or staged.
 *
 * The module holds immutable generations in a folder (`catalogue.ts`): for each an SQLite file and its facts, and the
 * pointer `current` to the one to serve. Several machines can share them in PostgreSQL (`shared-datasets.ts`); the folder
 * of each machine is then a cache.
 *
 * An import takes these steps:
 * 1. It clears what a killed command left, and refuses a disk that is certainly too small.
 * 2. `collect.ts` checks the records, takes each id once, and resolves every link.
 * 3. `refusal.ts` refuses too many rejected lines, an empty source, or one that shrank too much.
 * 4. `build.ts` adds the other sources of the current generation. `write-draft.ts` writes documents in display order, and
 *    the index.
 * 5. `verify.ts` reads the draft back: documents, hash, checksums, links and index.
 * 6. The draft gets its name and facts, and the pointer moves last. `leftovers.ts` finishes or undoes an interruption.
 * 7. A server notices the pointer within a second (`follow-current.ts`). A worker loads the generation, and the HTTP
 *    thread takes it over between two requests.
 *
 * One command at a time changes datasets: its caller holds the import lock, of the folder or of PostgreSQL. Any number of
 * servers read meanwhile, and none waits.
 *
 * When something is away:
 * - The import, failed or killed: the current generation stays as it is.
 * - A file that cannot be loaded: the server goes on with the generation before, and tries again every minute.
 * - PostgreSQL: servers go on with the files in their folder. Commands fail within two seconds.
 */
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

/** Name of the source of invented records, which the first real import removes. */
export const demoSource = "demo";

export interface ImportRequest extends Guards {
  source: string;
  /** Delivered entries, or blocks that other threads made of them. */
  entries: AsyncIterable<SourceEntry> | Iterable<SourceEntry> | { blocks: DraftedBlocks };
  /** Merge into the records of the source instead of replacing them? */
  isMerge?: boolean;
  /** Only report what would change? */
  isDryRun: boolean;
  /** Stage the dataset, to be published later? */
  isStaged?: boolean;
  /** Size of the files. It tells before anything is read that a disk is certainly too small. */
  knownBytes?: number;
  nowMilliseconds: number;
  /** Called with progress: lines read, then records written, then records read back. */
  onRead?: (lines: number) => void;
  onWritten?: (records: number) => void;
  onChecked?: (records: number) => void;
}

export interface ImportResult extends BuildResult {
  /** Records of each kind in the resulting dataset; null if the import was refused. */
  records: Generation["records"] | null;
  /** Published dataset, if there is one. */
  published: Generation | null;
  /** Dataset that waits to be published, if there is one. */
  staged: Generation | null;
}

/** The place where an import finds the generation that it builds on, and leaves its own. */
export interface ImportTarget extends DatasetList {
  /** Stages a draft, and takes its file away. */
  stage(draftPath: string, generation: Generation): void | Promise<void>;
  publishDraft(
    draftPath: string,
    generation: Generation,
    time: string,
  ): Generation | Promise<Generation>;
}

type DraftedBlocks = AsyncIterable<DraftedBlock>;

const sourceShape = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** Returns why a text cannot name a source, as the end of a sentence. Returns undefined if it can. */
export const sourceFault = (source: string) =>
  sourceShape.test(source)
    ? undefined
    : "must be 1 to 64 of a-z, 0-9, - and _, beginning with a letter or digit";

/**
 * Replaces the records of one source in the current dataset, or merges into them, and makes the result the current one.
 * If anything fails, the current dataset stays as it is. The caller holds the lock.
 * @throws DatasetFault if the disk is too full, or the current dataset is damaged.
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
    verifyGeneration(path, { onChecked: request.onChecked, isJustWritten: true });
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

/** Returns a time later than every existing generation, even if two builds share a second or the clock was set back. */
function buildTime(catalogue: DatasetList, nowMilliseconds: number): string {
  // From the names of files, because facts may be damaged.
  const newest = catalogue.versions().findLast(catalogue.has);
  const earliest = newest === undefined ? 0 : Date.parse(builtAtOf(newest)) + 1000;
  return timeOf(Math.max(nowMilliseconds, earliest));
}

/** The generation that an import builds on: the current one, whose other sources are carried over. */
interface Base {
  version: string | null;
  path: string | null;
  records: Generation["records"];
  /** About the bytes of its file that are carried over. */
  carriedBytes: number;
}

/**
 * Measures the base of an import.
 * @param notCarried sources of which nothing is carried over.
 * @throws DatasetFault if the current generation is damaged: the damage would be carried over.
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
