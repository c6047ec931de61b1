/**
 * Datasets: imports the records of a source as a new generation, which is built, verified, and published or staged.
 *
 * The module keeps immutable generations in a folder (`catalogue.ts`). Each is an SQLite file and a file of facts. The
 * pointer `current` names the one to serve. Several machines can share generations in PostgreSQL (`postgres.ts`); each
 * machine's folder is then a cache. Commands use either through a `DatasetStore` (`store.ts`).
 *
 * An import takes these steps:
 * 1. Its caller takes the lock, which clears what a killed command left.
 * 2. `collect.ts` checks the records, accepts each id once and rejects lines with broken links within the source.
 * 3. The import is refused if too many lines were rejected, the source shrank too much, or it is empty and must not be.
 * 4. The records of the current generation's other sources, except `demo`, are added. `withhold.ts` takes suppressed
 *    people out. `write-draft.ts` writes documents in display order, and the index.
 * 5. `verify.ts` reads the draft back: documents, hash, checksums, links and index.
 * 6. The draft gets its name and facts. The pointer moves last, unless the draft is only staged. The next holder of the
 *    lock finishes or undoes an interrupted publication.
 * 7. A server notices the pointer within a second (`follow-current.ts`). A worker loads the generation, and the HTTP
 *    thread takes it over between two requests.
 *
 * One command at a time changes datasets: it holds the import lock of the folder or of PostgreSQL. Any number of
 * servers read meanwhile, without waiting.
 *
 * Failures:
 * - If an import fails or is killed, the current generation stays as it is.
 * - If a file cannot be loaded, the server keeps the previous generation and retries every minute.
 * - If PostgreSQL is unreachable, servers go on with the files in their folders. Commands fail within 2 s, or
 *   within 30 s while they transfer a file.
 */
import { closeSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { SourceEntry } from "#records/canonical.ts";
import { demoSource } from "#records/common.ts";
import { type RecordKind, recordKinds } from "#records/kinds.ts";
import { syncMeanwhile } from "#store/whole-file.ts";
import { type DatasetList, draftName, draftTextsName } from "./catalogue.ts";
import { publishNext, refuseUnreadable } from "./choose.ts";
import { type Collected, collectSource } from "./collect.ts";
import { hashFile } from "./dataset-hash.ts";
import { abandonDraft } from "./disk-space.ts";
import { countsOf } from "./draft-record.ts";
import { openKnownGps } from "./known-gps.ts";
import { settleIds } from "./former-ids.ts";
import { builtAtOf, type Generation, type Meta, timeOf } from "./generation.ts";
import { openPublished } from "./open-generation.ts";
import { openPrevious, type Previous } from "./previous.ts";
import type { DatasetStore, Draft } from "./store.ts";
import type { CoveredGps, Suppression } from "./suppressions.ts";
import { openTextStore, type TextStore } from "./text-store.ts";
import { verifyGeneration } from "./verify.ts";
import { masked, withhold } from "./withhold.ts";
import { type Changes, writeDraft } from "./write-draft.ts";

export interface ImportRequest extends Guards {
  source: string;
  /** Entries in the order of the source. */
  entries: AsyncIterable<SourceEntry> | Iterable<SourceEntry>;
  /** True to merge into the source's records instead of replacing them. */
  isMerge?: boolean;
  /** True to report changes without making them. */
  isDryRun: boolean;
  /** True to stage the dataset, to be published later. */
  isStaged?: boolean;
  /** People to keep out of the dataset. */
  suppressions: readonly Suppression[];
  /** Remembers GPs that a suppression's limit newly covers. Called if there are any, except in a dry run. */
  rememberGps: (covered: CoveredGps) => Promise<unknown>;
  nowMilliseconds: number;
  /** Returns figures to keep with the dataset. Called after all entries have been read. */
  report?: () => object;
  /** Called after every 1,000 lines read or records written, with their number so far. */
  onProgress?: (count: number, done: "read" | "written") => void;
}

export interface ImportResult {
  collected: Collected;
  /** `unchanged` if no record differs from the previous generation, `refused` for the reason in `refusal`. */
  outcome: "built" | "unchanged" | "refused";
  refusal: Refusal | null;
  sourceSize: SourceSize;
  changes: Changes;
  /** Number of named GPs that became links to GPs of another source; null if no entry gives a source in `known`. */
  linkedNames: number | null;
  /** Number of records of the dropped demo source; 0 unless the outcome is `built`. */
  droppedCount: number;
  /** Number of records that suppressions left out or withheld text from; 0 if the import was refused. */
  withheldCount: number;
  /** Number of records of each kind in the resulting dataset; null if the import was refused. */
  records: Generation["records"] | null;
  published: Generation | null;
  staged: Generation | null;
}

const sourceShape = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** Returns why a string cannot name a source, as the end of a sentence. Returns undefined if it can. */
export const sourceFault = (source: string) =>
  sourceShape.test(source)
    ? undefined
    : "must be 1 to 64 characters from a-z, 0-9, - and _, beginning with a letter or digit";

/**
 * Replaces the records of one source in the current dataset, or merges into them, and publishes or stages the result.
 * The current dataset stays as it is if anything fails. The caller holds the import lock.
 * @throws DatasetFault if the disk is too full, the current dataset is damaged, ids contradict each other, or a running
 *   server cannot read the new dataset.
 */
export async function importSource(
  store: DatasetStore,
  request: ImportRequest,
): Promise<ImportResult> {
  const { source, isDryRun, isStaged = false } = request;
  if (!isDryRun && !isStaged)
    await refuseUnreadable(
      store,
      "Update that server first; or import with --stage, and publish the dataset once the server is updated.",
    );
  const dropped = source === demoSource ? [] : [demoSource];
  const {
    meta: _,
    reports: _reports,
    ...result
  } = await makeNext(store, request, (place) => build({ ...place, request, dropped }));
  return result;
}

type NextOrder = Pick<ImportRequest, "isDryRun" | "isStaged" | "nowMilliseconds">;

/** Inputs of a draft, and the path to write it to. */
interface Workplace {
  /** Path of the draft to write. The file exists and is empty. */
  path: string;
  /** Time in RFC 3339, whole seconds, later than that of every earlier generation. */
  builtAt: string;
  current: Generation | null;
  /** The current generation, opened; empty if there is none. */
  previous: Previous;
  texts: TextStore;
}

interface Written extends Pick<Generation, "reports"> {
  /** Content of the draft's table `meta`; null if there is nothing to publish. */
  meta: Meta | null;
  records: Generation["records"] | null;
}

/**
 * Writes a draft, verifies it, and publishes or stages it. Stops after writing in a dry run, or if `meta` is null.
 * @throws DatasetFault as `importSource` does. The current dataset then stays as it is.
 */
export async function makeNext<W extends Written>(
  store: DatasetStore,
  { isDryRun, isStaged = false, nowMilliseconds }: NextOrder,
  write: (place: Workplace) => Promise<W>,
): Promise<W & Pick<ImportResult, "published" | "staged">> {
  const { folder } = store;
  const list = await store.read();
  const current = list.current();
  // The whole file is checked, because damage would be carried over.
  const previous = openPrevious(
    current && openPublished(await store.open(current.version), current).db,
  );
  // All drafts have one name, so that the next import overwrites what a killed one left behind.
  const path = join(folder, draftName);
  const texts = openTextStore(join(folder, draftTextsName));
  const remove = () => {
    rmSync(path, { force: true });
    texts.clear();
  };
  try {
    // The draft is created first: if that fails, no long file has been read in vain.
    closeSync(openSync(path, "w", 0o600));
    const builtAt = buildTime(list, nowMilliseconds);
    const written = { ...(await write({ path, builtAt, current, previous, texts })), staged: null };
    const { meta, records, reports } = written;
    if (meta === null || isDryRun) return { ...written, published: null };
    const synced = syncMeanwhile(path);
    try {
      verifyGeneration(path, " Nothing was published. Import again, and check the disk.");
    } finally {
      await synced;
    }
    const generation: Generation = {
      version: meta.version,
      hash: meta.hash,
      ...hashFile(path),
      records: records!,
      reports,
      built_at: meta.built_at,
      built_from: current?.version ?? null,
      published_at: null,
      published_after: null,
      pinned_at: null,
    };
    const draft = { path, generation, isStaged };
    if (!isStaged) return { ...written, published: await addAndPublish(store, draft) };
    await store.add(draft);
    return { ...written, published: null, staged: generation };
  } catch (error) {
    throw abandonDraft(error, folder, remove);
  } finally {
    remove();
    previous.close();
  }
}

async function addAndPublish(store: DatasetStore, draft: Draft): Promise<Generation> {
  const { generation } = draft;
  const path = await store.add(draft);
  try {
    return await publishNext(store, { generation, path, isBaseChecked: true });
  } catch (error) {
    // If this fails too, the next command that takes the lock removes the dataset. A dataset that became current after
    // all is not removed.
    await store.remove(generation.version).catch(() => {});
    throw error;
  }
}

/** Returns a build time later than every generation's, even if two builds share a second or the clock was set back. */
function buildTime(list: DatasetList, nowMilliseconds: number): string {
  // The newest time comes from a version, because facts may be damaged.
  const newest = list.versions().findLast(list.has);
  const earliest = newest === undefined ? 0 : Date.parse(builtAtOf(newest)) + 1000;
  return timeOf(Math.max(nowMilliseconds, earliest));
}

interface BuildOrder extends Workplace {
  request: ImportRequest;
  /** Sources of the previous generation that the draft leaves out. */
  dropped: readonly string[];
}

/**
 * Builds a draft from the records of the source and the previous generation.
 * @returns the result. Its `meta` is null if there is nothing to publish; the file is then incomplete.
 * @throws DatasetFault if ids contradict each other.
 */
async function build({
  path,
  request,
  dropped,
  builtAt,
  current,
  previous,
  texts,
}: BuildOrder): Promise<Written & Omit<ImportResult, "published" | "staged">> {
  const { source, entries, suppressions, onProgress = () => {} } = request;
  const former = request.isMerge === true ? previous.records([source], texts) : null;
  const onRead = (lines: number) => onProgress(lines, "read");
  const others = [...previous.sources].filter(
    ([name]) => name !== source && !dropped.includes(name),
  );
  const otherNames = others.map(([name]) => name);
  const { link, replaced, countLinked } = openKnownGps(previous, otherNames);
  const withheldIds = suppressions.length === 0 ? [] : previous.withheldIds();
  const linkable = former === null ? [] : withheldIds;
  const order = { source, entries, texts, former, withheldIds: linkable, link, onRead };
  const { collected, records, isClaiming } = await collectSource(order);
  const sourceSize = { before: previous.countOf([source]), now: sum(countsOf(records)) };
  const refusal = reasonToRefuse(collected, sourceSize, request);
  const { [source]: _, ...kept } = current?.reports ?? {};
  const reports = request.report ? { ...kept, [source]: request.report() } : kept;
  const unpublished = { droppedCount: 0, withheldCount: 0 };
  const result = {
    collected,
    linkedNames: countLinked(),
    refusal,
    sourceSize,
    reports: masked(reports, suppressions),
    ...unpublished,
  };
  if (refusal !== null) {
    const changes = { added: 0, updated: 0, removed: 0, unlinked: [] };
    return { ...result, outcome: "refused", changes, records: null, meta: null };
  }
  const carried = previous.records(otherNames, texts);
  for (const kind of recordKinds) for (const one of carried[kind]) records[kind].push(one);
  const settled = settleIds({ records, source, replaced, isClaiming, builtAt, previous });
  const { formerIds } = settled;
  const withheld = withhold(records, { texts, suppressions, formerIds, withheldIds });
  if (withheld.newGps.size > 0 && !request.isDryRun) await request.rememberGps(withheld.newGps);
  const counts = countsOf(records);
  const { meta, changes } = writeDraft({
    path,
    records,
    texts,
    sources: [...others, [source, builtAt]],
    ...settled,
    withheldIds: withheld.absent,
    builtAt,
    previous,
    onWritten: (written) => onProgress(written, "written"),
  });
  const { count: withheldCount } = withheld;
  const whole = { ...result, changes, withheldCount, records: counts, meta };
  if (meta === null) return { ...whole, outcome: "unchanged" };
  return { ...whole, outcome: "built", droppedCount: previous.countOf(dropped) };
}

const sum = (counts: Record<RecordKind, number>) =>
  Object.values(counts).reduce((a, b) => a + b, 0);

/**
 * Reason for a refusal:
 * - `rejections`: more lines were rejected than allowed
 * - `empty`: no record of the source would be left, and that is not allowed or lines were rejected
 * - `shrunk`: the source would lose more of its records than allowed
 */
type Refusal = "rejections" | "empty" | "shrunk";

/** Limit on the lines that an import may reject: a number of lines, or a percentage of the lines read. */
export type RejectedMax = { lines: number } | { percent: number };

interface Guards {
  rejectedMax: RejectedMax;
  /** Maximum percentage of former records that the source may lose; 100 by default. */
  shrinkPercentMax?: number;
  /** True if the source may end up without records, provided that no line was rejected. */
  allowsEmpty?: boolean;
}

/** Counts of the source's records before and after an import. */
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
  const isTooMuch =
    "lines" in rejectedMax
      ? rejections.count > rejectedMax.lines
      : rejections.count * 100 > rejectedMax.percent * read;
  if (isTooMuch) return "rejections";
  // An empty delivery is more likely a mistake than a wish to remove the source.
  if (now === 0) return allowsEmpty && rejections.count === 0 ? null : "empty";
  return now * 100 < before * (100 - shrinkPercentMax) ? "shrunk" : null;
}
