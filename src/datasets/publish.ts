/**
 * Datasets: imports the records of a source as a new generation, which is built, verified, and published or staged.
 *
 * The module holds immutable generations in a folder (`catalogue.ts`): for each an SQLite file and its facts, and the
 * pointer `current` to the one to serve. Several machines can share them in PostgreSQL (`postgres.ts`); the folder of each
 * machine is then a cache. Commands use either through a `DatasetStore` (`store.ts`).
 *
 * An import takes these steps:
 * 1. Its caller takes the lock, which clears what a killed command left. A disk that is certainly too small is refused.
 * 2. `collect.ts` checks the records, takes each id once, and resolves every link.
 * 3. Too many rejected lines, an empty source, or one that shrank too much are refused.
 * 4. The other sources of the current generation are added. `write-draft.ts` writes documents in display order, and the
 *    index.
 * 5. `verify.ts` reads the draft back: documents, hash, checksums, links and index.
 * 6. The draft gets its name and facts, and the pointer moves last. Whoever takes the lock next finishes or undoes an
 *    interruption.
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
import { closeSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type RecordKind, recordKinds } from "#records/kinds.ts";
import type { SourceEntry } from "#records/source-entry.ts";
import { syncPath } from "#store/whole-file.ts";
import { type DatasetList, draftName, draftTextsName } from "./catalogue.ts";
import { publishNext, refuseUnreadable } from "./choose.ts";
import { type Collected, collectSource } from "./collect.ts";
import { hashFile } from "./dataset-hash.ts";
import { abandonDraft, neededBytes, refuseTooLittleSpace, sizeOf } from "./disk-space.ts";
import type { Changes } from "./document-writer.ts";
import { type DraftedBlock, draftEntries, takeBlocks } from "./draft-entry.ts";
import { countsOf, type DraftRecords, noRecords, readLinks } from "./draft-record.ts";
import { builtAtOf, type Meta, timeOf } from "./format.ts";
import { settleIds } from "./former-ids.ts";
import type { Generation } from "./generation.ts";
import { keyOf, needsOf } from "./links.ts";
import { type LinkedRecord, openMerge } from "./merge.ts";
import { openPublished } from "./open-generation.ts";
import { openPrevious, type Previous } from "./previous.ts";
import { isTooMuch, type RejectedMax } from "./rejections.ts";
import type { DatasetStore, Draft } from "./store.ts";
import { linksIn, openTextStore, type TextStore } from "./text-store.ts";
import { verifyGeneration } from "./verify.ts";
import { type DraftContent, writeDraft } from "./write-draft.ts";

/** Name of the source of invented records, which the first real import removes. */
export const demoSource = "demo";

export interface ImportRequest extends Guards {
  source: string;
  /** Delivered entries, or blocks that other threads made of them. */
  entries:
    | AsyncIterable<SourceEntry>
    | Iterable<SourceEntry>
    | { blocks: AsyncIterable<DraftedBlock> };
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
  store: DatasetStore,
  request: ImportRequest,
): Promise<ImportResult> {
  const { folder } = store;
  const isStaged = request.isStaged === true;
  if (!request.isDryRun && !isStaged)
    await refuseUnreadable(
      store,
      "Update that server first; or import with --stage, and publish the dataset once it is updated.",
    );
  const list = await store.read();
  const dropped = request.source === demoSource ? [] : [demoSource];
  const isMerge = request.isMerge === true;
  const base = await measureBase(store, list, isMerge ? dropped : [...dropped, request.source]);
  const needed = neededBytes(base.carriedBytes, request.knownBytes ?? 0);
  refuseTooLittleSpace(folder, needed);
  const built = await buildGeneration({
    request,
    folder,
    previousPath: base.path,
    dropped,
    neededBytes: needed,
    builtAt: buildTime(list, request.nowMilliseconds),
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
    const draft = { path, generation, isStaged };
    if (!isStaged) return { ...result, published: await addAndPublish(store, draft) };
    await store.add(draft);
    return { ...result, staged: generation };
  } catch (error) {
    throw abandonDraft(error, { path, folder, needed: Math.max(needed, draftBytes) });
  } finally {
    rmSync(path, { force: true });
  }
}

async function addAndPublish(store: DatasetStore, draft: Draft): Promise<Generation> {
  const { generation } = draft;
  const path = await store.add(draft);
  try {
    return await publishNext(store, { generation, path, isBaseChecked: true });
  } catch (error) {
    // The next import removes it if this fails, too. Nothing removes it if it became current after all.
    await store.remove(generation.version).catch(() => {});
    throw error;
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
function buildTime(list: DatasetList, nowMilliseconds: number): string {
  // From the names of files, because facts may be damaged.
  const newest = list.versions().findLast(list.has);
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
async function measureBase(
  store: DatasetStore,
  list: DatasetList,
  notCarried: readonly string[],
): Promise<Base> {
  const current = list.current();
  if (current === null) return nothing;
  const { version, records, bytes } = current;
  const path = await store.open(version);
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

interface BuildOrder {
  request: ImportRequest;
  /** Folder for the file. */
  folder: string;
  /** Generation whose other sources are carried over; null for the first one. */
  previousPath: string | null;
  /** Sources of the previous generation to drop. */
  dropped: readonly string[];
  /** Minimum size of the draft. */
  neededBytes: number;
  /** Time in RFC 3339, whole seconds, later than that of every earlier generation. */
  builtAt: string;
}

/** The outcome for the records, and the draft if there is something to publish. */
interface BuildResult {
  collected: Collected;
  /** `refused`: see `refusal`; `unchanged`: equal to the previous generation. */
  outcome: "built" | "unchanged" | "refused";
  refusal: Refusal | null;
  sourceSize: SourceSize;
  changes: Changes;
  /** Number of records of dropped sources that the draft leaves out; 0 without a draft. */
  droppedCount: number;
  draft: { path: string; meta: Meta; counts: Record<RecordKind, number> } | null;
}

/**
 * Builds a draft from the records of the source and the previous generation.
 * @throws DatasetFault if ids contradict each other; the draft is then removed.
 */
async function buildGeneration(order: BuildOrder): Promise<BuildResult> {
  const { folder, previousPath, neededBytes: needed } = order;
  // All drafts have one name, so that the next import overwrites what a killed one left behind.
  const path = join(folder, draftName);
  const texts = openTextStore(join(folder, draftTextsName));
  const previous = openPrevious(previousPath);
  try {
    // Created first, so that a long file is not read in vain if that fails.
    closeSync(openSync(path, "w", 0o600));
    const result = await fillDraft(path, order, previous, texts);
    if (result.outcome !== "built") rmSync(path, { force: true });
    return result;
  } catch (error) {
    throw abandonDraft(error, { path, folder, needed });
  } finally {
    texts.clear();
    previous.close();
  }
}

async function fillDraft(
  path: string,
  order: BuildOrder,
  previous: Previous,
  texts: TextStore,
): Promise<BuildResult> {
  const { source, isMerge = false, onRead = () => {}, onWritten = () => {} } = order.request;
  const former = isMerge ? previous.records([source], texts) : noRecords();
  const merge = isMerge ? openMerge(linkedRecords(former, texts)) : null;
  const entries = entriesOf(order.request, texts);
  const { records, gone, ...collected } = await collectSource({ source, entries, merge, onRead });
  takeOver(records, former, gone);
  const sourceSize = { before: previous.countOf(source), now: sum(countsOf(records)) };
  const refusal = reasonToRefuse(collected, sourceSize, order.request);
  const result = { collected, refusal, sourceSize, droppedCount: 0, draft: null };
  const noChanges = { added: 0, updated: 0, removed: 0 };
  if (refusal !== null) return { ...result, outcome: "refused", changes: noChanges };
  const draft = draftOf(order, previous, records, texts);
  const counts = countsOf(records);
  const { meta, changes } = writeDraft(path, draft, previous, onWritten);
  if (meta === null) return { ...result, outcome: "unchanged", changes };
  syncPath(path);
  const droppedCount = order.dropped
    .filter((name) => previous.sources.has(name))
    .reduce((count, name) => count + previous.countOf(name), 0);
  return { ...result, outcome: "built", changes, droppedCount, draft: { path, meta, counts } };
}

/** Yields entries in the order of the source, some at a time. @param texts stores the texts of records. */
const entriesOf = ({ entries, source }: ImportRequest, texts: TextStore) =>
  "blocks" in entries ? takeBlocks(entries.blocks, texts) : draftEntries(entries, source, texts);

/** Returns the draft. @param records records of the source; those of other sources are added. */
function draftOf(
  { request: { source }, dropped, builtAt }: BuildOrder,
  previous: Previous,
  records: DraftRecords,
  texts: TextStore,
): DraftContent {
  const others = [...previous.sources].filter(
    ([name]) => name !== source && !dropped.includes(name),
  );
  const carried = previous.records(
    others.map(([name]) => name),
    texts,
  );
  for (const kind of recordKinds) for (const one of carried[kind]) records[kind].push(one);
  return {
    records,
    texts,
    sources: [...others, [source, builtAt]],
    formerIds: settleIds(records.gp, source, previous),
    builtAt,
  };
}

const sum = (counts: Record<RecordKind, number>) =>
  Object.values(counts).reduce((a, b) => a + b, 0);

/** Returns the source's records in the previous generation, as a merge needs them. */
const linkedRecords = (former: DraftRecords, texts: TextStore): LinkedRecord[] =>
  recordKinds.flatMap((record) =>
    former[record].map(({ sourceId, text }) => ({
      record,
      id: sourceId,
      needs: needsOf(readLinks(linksIn(texts.read(text)))),
    })),
  );

/**
 * Adds the records that the delivery leaves alone.
 * @param gone keys of records that are not taken over.
 */
function takeOver(records: DraftRecords, former: DraftRecords, gone: ReadonlySet<string>): void {
  for (const kind of recordKinds) {
    const brought = new Set(records[kind].map(({ sourceId }) => sourceId));
    for (const one of former[kind])
      if (!brought.has(one.sourceId) && !gone.has(keyOf(kind, one.sourceId)))
        records[kind].push(one);
  }
}

/**
 * Reason of a refusal:
 * - `rejections`: more lines were rejected than allowed
 * - `empty`: no record of the source is left
 * - `shrunk`: the source has lost more of its records than allowed
 */
type Refusal = "rejections" | "empty" | "shrunk";

interface Guards {
  rejectedMax: RejectedMax;
  /** Percentage of its former records that the source may lose; 100 if left out. */
  shrinkPercentMax?: number;
  /** May the source end up without any record? */
  allowsEmpty?: boolean;
}

/** Number of the source's records before and now. */
interface SourceSize {
  before: number;
  now: number;
}

/** Returns why the collected records of a source may not replace its former ones. Returns null if they may. */
function reasonToRefuse(
  { read, rejections }: Collected,
  { before, now }: SourceSize,
  { rejectedMax, shrinkPercentMax = 100, allowsEmpty = false }: Guards,
): Refusal | null {
  if (isTooMuch(rejections.count, read, rejectedMax)) return "rejections";
  // An empty delivery is a mistake, not a wish to remove the source.
  if (now === 0) return allowsEmpty && rejections.count === 0 ? null : "empty";
  return now * 100 < before * (100 - shrinkPercentMax) ? "shrunk" : null;
}
