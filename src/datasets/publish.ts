/** From records to the current dataset: build, verify, publish; and back to an older one. */
import { rmSync } from "node:fs";
import type { SourceEntry } from "#records/source-entry.ts";
import { buildGeneration, type BuildResult } from "./build.ts";
import type { Catalogue, Generation } from "./catalogue.ts";
import { DatasetFault } from "./dataset-fault.ts";
import { hashFile } from "./file-hash.ts";
import { timeOf } from "./format.ts";
import { openPublished } from "./open-generation.ts";
import type { RejectedMax } from "./rejections.ts";
import { verifyGeneration } from "./verify.ts";

/** Invented records; the first real import removes them. */
export const demoSource = "demo";

export interface ImportRequest {
  source: string;
  entries: AsyncIterable<SourceEntry> | Iterable<SourceEntry>;
  rejectedMax: RejectedMax;
  /** Tells what would change and changes nothing. */
  isDryRun: boolean;
  nowMilliseconds: number;
  onRead?: (lines: number) => void;
}

export interface ImportResult extends BuildResult {
  /** The dataset that was published, where one was. */
  published: Generation | null;
}

const sourceShape = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** Why a text cannot name a source, as the end of a sentence. */
export const sourceFault = (source: string) =>
  sourceShape.test(source)
    ? undefined
    : "must be 1 to 64 of a-z, 0-9, - and _, beginning with a letter or digit";

/**
 * Replaces what the current dataset has of one source, and makes the result the current one.
 * Whatever fails, the current dataset stays as it is. One import at a time: the caller holds the lock.
 */
export async function importSource(
  catalogue: Catalogue,
  request: ImportRequest,
): Promise<ImportResult> {
  const result = await buildGeneration({
    folder: catalogue.folder,
    source: request.source,
    entries: request.entries,
    previousPath: soundCurrent(catalogue),
    dropped: request.source === demoSource ? [] : [demoSource],
    rejectedMax: request.rejectedMax,
    builtAt: buildTime(catalogue, request.nowMilliseconds),
    onRead: request.onRead ?? (() => {}),
  });
  if (result.draft === null) return { ...result, published: null };
  const { path, meta, counts } = result.draft;
  try {
    if (request.isDryRun) return { ...result, published: null };
    verifyGeneration(path);
    catalogue.add(path, {
      version: meta.version,
      hash: meta.hash,
      ...hashFile(path),
      records: counts,
      built_at: meta.built_at,
      published_at: null,
    });
    return {
      ...result,
      published: catalogue.publish(meta.version, timeOf(request.nowMilliseconds)),
    };
  } finally {
    rmSync(path, { force: true });
  }
}

/** Path of the current generation: other sources are carried over from it, so damage would be carried over too. */
function soundCurrent(catalogue: Catalogue): string | null {
  const current = catalogue.current();
  if (current === null) return null;
  const path = catalogue.pathOf(current.version);
  openPublished(path, current).db.close();
  return path;
}

/** Later than every generation there is, also where two builds share a second or the clock was set back. */
function buildTime(catalogue: Catalogue, nowMilliseconds: number): string {
  const newest = catalogue.list().at(-1);
  const earliest = newest === undefined ? 0 : Date.parse(newest.built_at) + 1000;
  return timeOf(Math.max(nowMilliseconds, earliest));
}

/** Makes the generation before the current one current again; one that never was current is passed over. */
export function rollBack(catalogue: Catalogue, nowMilliseconds: number): Generation {
  const current = catalogue.currentVersion();
  const before = catalogue
    .list()
    .findLast((one) => one.published_at !== null && current !== null && one.version < current);
  if (before === undefined)
    throw new DatasetFault(
      "There is no older dataset to go back to; 'gp-records datasets list' shows those there are.",
    );
  return catalogue.publish(before.version, timeOf(nowMilliseconds));
}
