/**
 * Withdraws suppressed people from what was published before: the current dataset is published again without them, and
 * then every step and every other dataset that has one is removed. If this is interrupted, running it again finishes it.
 */
import { join } from "node:path";
import { recordKinds } from "#records/kinds.ts";
import { draftTextsName } from "./catalogue.ts";
import { refuseUnreadable } from "./choose.ts";
import { DatasetFault } from "./dataset-fault.ts";
import { countsOf } from "./draft-record.ts";
import type { Generation } from "./generation.ts";
import { openPublished } from "./open-generation.ts";
import { openPrevious, type Previous } from "./previous.ts";
import { makeNext } from "./publish.ts";
import type { DatasetStore } from "./store.ts";
import type { Suppression } from "./suppressions.ts";
import { openTextStore, type TextStore } from "./text-store.ts";
import { isStepOf, masked, withhold } from "./withhold.ts";
import { writeDraft } from "./write-draft.ts";

interface WithdrawOrder {
  /** All suppressions. Steps are searched for those that are yet to be applied. */
  suppressions: readonly Suppression[];
  nowMilliseconds: number;
  /** Called before a dataset is removed. @param number number of a suppression for which it is removed. */
  onRemove(version: string, number: number): Promise<void>;
}

export interface Withdrawn {
  /** Dataset that was published without the people; null if the current one has none of them. */
  published: Generation | null;
  /** Number of its records that were left out, or in which a text was withheld. */
  withheldCount: number;
  /** Versions that were removed. */
  removed: string[];
}

/**
 * Withdraws people from all datasets. The caller holds the import lock.
 * @throws DatasetFault if the current dataset is damaged, the disk is too full, or a running server cannot read the new
 *   dataset.
 */
export async function withdraw(
  store: DatasetStore,
  { suppressions, nowMilliseconds, onRemove }: WithdrawOrder,
): Promise<Withdrawn> {
  await refuseUnreadable(store, "Update that server first, then run this command again.");
  const pending = suppressions.filter(({ applied_at }) => applied_at === null);
  const ids = new Set<string>();
  /** Withholds people from all records of a generation. @returns null if it has none of them. */
  const withheldIn = ({ reports }: Generation, previous: Previous, texts: TextStore) => {
    const records = previous.records([...previous.sources.keys()], texts);
    const formerIds = previous.formerIds();
    const withheld = withhold(records, { texts, suppressions, formerIds });
    // A record may have had another name before.
    const isKnown = recordKinds.some((kind) => records[kind].some(({ id }) => ids.has(id)));
    for (const id of withheld.ids) ids.add(id);
    const told = masked(reports, suppressions);
    const isFree = withheld.met.size === 0 && told === reports && !isKnown;
    return isFree ? null : { ...withheld, records, told };
  };
  const isRefused = (path: string) => isStepOf(path, pending, ids);

  const order = { isDryRun: false, nowMilliseconds, isRefused };
  const { published, withheldCount } = await makeNext(store, order, async (place) => {
    const { path, builtAt, current, previous, texts } = place;
    const found = current && withheldIn(current, previous, texts);
    if (found === null) return { meta: null, records: null, reports: {}, withheldCount: 0 };
    const { records, told: reports, count } = found;
    const counts = countsOf(records);
    const { meta } = writeDraft({
      path,
      records,
      texts,
      sources: previous.sources,
      formerIds: previous.formerIds(),
      publishedIds: previous.publishedIds([]),
      builtAt,
      previous,
      isForced: true,
      onWritten() {},
    });
    return { meta, records: counts, reports, withheldCount: count };
  });

  const list = await store.read();
  /** Returns the number of a suppression that a dataset has not heeded; null if it has none of the people. */
  const numberIn = async (version: string): Promise<number | null> => {
    // What cannot be read may have anybody.
    const { number: last } = pending.at(-1) ?? suppressions.at(-1)!;
    const texts = openTextStore(join(store.folder, draftTextsName));
    try {
      const generation = list.find(version);
      using db = openPublished(await store.open(version), generation).db;
      const found = withheldIn(generation, openPrevious(db), texts);
      return found && ([...found.met][0] ?? last);
    } catch (error) {
      if (error instanceof DatasetFault) return last;
      throw error;
    } finally {
      texts.clear();
    }
  };
  const others = list.versions().filter((version) => version !== list.currentVersion());
  const removed = new Map<string, number>();
  // The newest is read first and removed last, because it tells which ids the people have.
  for (const version of others.toReversed()) {
    const number = await numberIn(version);
    if (number !== null) removed.set(version, number);
  }
  await store.removeSteps(isRefused);
  for (const [version, number] of [...removed].toReversed()) {
    await onRemove(version, number);
    await store.remove(version);
  }
  return { published, withheldCount, removed: [...removed.keys()].toReversed() };
}
