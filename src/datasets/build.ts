/** Builds a generation from a source's records and the previous generation, in one file that never changes again. */
import { closeSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type RecordKind, recordKinds } from "#records/kinds.ts";
import { syncPath } from "#store/whole-file.ts";
import { type Collected, collectSource } from "./collect.ts";
import { abandonDraft } from "./disk-space.ts";
import type { Changes } from "./document-writer.ts";
import type { DraftedEntry } from "./draft-entry.ts";
import { countsOf, type DraftRecords, noRecords, readLinks } from "./draft-record.ts";
import type { Meta } from "./format.ts";
import { settleIds } from "./former-ids.ts";
import { draftName, draftTextsName } from "./leftovers.ts";
import { keyOf, needsOf } from "./links.ts";
import { type LinkedRecord, openMerge } from "./merge.ts";
import { openPrevious, type Previous } from "./previous.ts";
import { type Guards, type Refusal, refusalOf, type SourceSize } from "./refusal.ts";
import { linksIn, openTextStore, type TextStore } from "./text-store.ts";
import { type Draft, writeDraft } from "./write-draft.ts";

interface BuildRequest {
  /** Folder for the file, see catalogue.ts. */
  folder: string;
  source: string;
  /** Yields entries in the order of the source, some at a time. @param texts stores the texts of records. */
  read: (texts: TextStore) => AsyncIterable<readonly DraftedEntry[]>;
  /** Generation whose other sources are carried over; null for the first one. */
  previousPath: string | null;
  /** Sources of the previous generation to drop. */
  dropped: readonly string[];
  /** Do records of the source stay that are not among the entries? */
  isMerge: boolean;
  guards: Guards;
  /** Minimum size of the draft. */
  neededBytes: number;
  /** Time in RFC 3339, whole seconds, later than that of every earlier generation. */
  builtAt: string;
  onRead: (lines: number) => void;
  onWritten: (records: number) => void;
}

/** The outcome for the records, and the draft if there is something to publish. */
export interface BuildResult {
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

/** Builds a draft. @throws DatasetFault if ids contradict each other; the draft is then removed. */
export async function buildGeneration(request: BuildRequest): Promise<BuildResult> {
  // All drafts have one name, so that the next import overwrites what a killed one left behind.
  const path = join(request.folder, draftName);
  const texts = openTextStore(join(request.folder, draftTextsName));
  const previous = openPrevious(request.previousPath);
  try {
    // Created first, so that a long file is not read in vain if that fails.
    closeSync(openSync(path, "w", 0o600));
    const result = await fillDraft(path, request, previous, texts);
    if (result.outcome !== "built") rmSync(path, { force: true });
    return result;
  } catch (error) {
    throw abandonDraft(error, { path, folder: request.folder, needed: request.neededBytes });
  } finally {
    texts.clear();
    previous.close();
  }
}

async function fillDraft(
  path: string,
  request: BuildRequest,
  previous: Previous,
  texts: TextStore,
): Promise<BuildResult> {
  const { source, onRead } = request;
  const entries = request.read(texts);
  const former = request.isMerge ? previous.records([source], texts) : noRecords();
  const merge = request.isMerge ? openMerge(linkedRecords(former, texts)) : null;
  const { records, gone, ...collected } = await collectSource({ source, entries, merge, onRead });
  takeOver(records, former, gone);
  const sourceSize = { before: previous.countOf(source), now: sum(countsOf(records)) };
  const refusal = refusalOf(collected, sourceSize, request.guards);
  const result = { collected, refusal, sourceSize, droppedCount: 0, draft: null };
  const noChanges = { added: 0, updated: 0, removed: 0 };
  if (refusal !== null) return { ...result, outcome: "refused", changes: noChanges };
  const draft = draftOf(request, previous, records, texts);
  const counts = countsOf(records);
  const { meta, changes } = writeDraft(path, draft, previous, request.onWritten);
  if (meta === null) return { ...result, outcome: "unchanged", changes };
  syncPath(path);
  const droppedCount = request.dropped
    .filter((name) => previous.sources.has(name))
    .reduce((count, name) => count + previous.countOf(name), 0);
  return { ...result, outcome: "built", changes, droppedCount, draft: { path, meta, counts } };
}

/** Returns the draft. @param records records of the source; those of other sources are added. */
function draftOf(
  { source, dropped, builtAt }: BuildRequest,
  previous: Previous,
  records: DraftRecords,
  texts: TextStore,
): Draft {
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
