/**
 * Withdraws suppressed people from published data: publishes the current dataset again without them, and then removes
 * every step and every other dataset that contains one of them or is unreadable. Running an interrupted withdrawal
 * again finishes it.
 */
import { join } from "node:path";
import { recordKinds } from "#records/kinds.ts";
import { operator, writeAudit } from "#store/audit.ts";
import type { ControlStore } from "#store/stores.ts";
import { draftTextsName } from "./catalogue.ts";
import { refuseUnreadable } from "./choose.ts";
import { DatasetFault } from "./dataset-fault.ts";
import { countsOf } from "./draft-record.ts";
import type { Generation } from "./generation.ts";
import { openPublished } from "./open-generation.ts";
import { openPrevious, type Previous } from "./previous.ts";
import { makeNext } from "./publish.ts";
import type { DatasetStore } from "./store.ts";
import { listSuppressions, rememberGps, type Suppression, withGps } from "./suppressions.ts";
import { openTextStore, type TextStore } from "./text-store.ts";
import { isStepOf, masked, withhold } from "./withhold.ts";
import { writeDraft } from "./write-draft.ts";

export type Withdrawn = NonNullable<Awaited<ReturnType<typeof withdraw>>>;

/**
 * Withdraws the people with unapplied suppressions from all datasets. The caller must hold the import lock.
 * @param control store of the suppressions, which are marked as applied at the end. Receives audit entries of removals.
 * @param trial suppression to try in a dry run, which changes nothing; null to withdraw for real.
 * @returns null if every suppression was already applied. `published` is the dataset without the people, or null in a
 *   dry run or if no current dataset contains them. `withheldCount` is the number of its records that were left out or
 *   lost text. `removed` lists the versions of removed datasets.
 * @throws DatasetFault if the current dataset is damaged, the disk is too full, or a running server cannot read the new
 *   dataset.
 */
export async function withdraw(
  store: DatasetStore,
  control: ControlStore,
  nowMilliseconds: number,
  trial: Suppression | null = null,
) {
  let suppressions = await listSuppressions(control.database);
  if (trial !== null) suppressions.push(trial);
  const pending = suppressions.filter(({ applied_at }) => applied_at === null);
  if (pending.length === 0) return null;
  const numbers = pending.map(({ number }) => number);
  await refuseUnreadable(store, "Update that server first, then run this command again.");
  const ids = new Set<string>();
  /** Withholds people from all records of a generation. `isFree` is true if it contains none of them. */
  const withheldIn = ({ reports }: Generation, previous: Previous, texts: TextStore) => {
    const records = previous.records([...previous.sources.keys()], texts);
    const [formerIds, withheldIds] = [previous.formerIds(), previous.withheldIds()];
    const withheld = withhold(records, { texts, suppressions, formerIds, withheldIds });
    // An older dataset may have the record under another name.
    const isKnown = recordKinds.some((kind) => records[kind].some(({ id }) => ids.has(id)));
    for (const id of withheld.ids) ids.add(id);
    const told = masked(reports, suppressions);
    const isFree = withheld.met.size === 0 && told === reports && !isKnown;
    return { ...withheld, records, told, isFree };
  };

  // A step to the new dataset would still contain the people.
  const stepless = { ...store, changesDays: 0 };
  const order = { isDryRun: trial !== null, nowMilliseconds };
  const { published, withheldCount } = await makeNext(stepless, order, async (place) => {
    const { path, builtAt, current, previous, texts } = place;
    const nothing = { meta: null, records: null, reports: {}, withheldCount: 0 };
    if (current === null) return nothing;
    const found = withheldIn(current, previous, texts);
    suppressions =
      trial === null
        ? await control.write((transaction) => rememberGps(transaction, found.newGps))
        : withGps(suppressions, found.newGps);
    if (found.isFree) return nothing;
    const { records, told: reports, count } = found;
    const counts = countsOf(records);
    const { meta } = writeDraft({
      path,
      records,
      texts,
      sources: previous.sources,
      formerIds: previous.formerIds(),
      publishedIds: previous.publishedIds([]),
      withheldIds: found.absent,
      builtAt,
      previous,
      isForced: true,
      onWritten() {},
    });
    return { meta, records: counts, reports, withheldCount: count };
  });

  const list = await store.read();
  /** Returns the number of a suppression that requires a dataset's removal; null if it contains none of the people. */
  const numberIn = async (version: string): Promise<number | null> => {
    // A dataset that cannot be read may contain anybody.
    const last = numbers.at(-1)!;
    const texts = openTextStore(join(store.folder, draftTextsName));
    try {
      const generation = list.find(version);
      using db = openPublished(await store.open(version), generation).db;
      const found = withheldIn(generation, openPrevious(db), texts);
      return found.isFree ? null : ([...found.met][0] ?? last);
    } catch (error) {
      if (error instanceof DatasetFault) return last;
      throw error;
    } finally {
      texts.clear();
    }
  };
  const next = trial === null ? list.currentVersion() : null;
  const others = list.versions().filter((version) => version !== next);
  const removed = new Map<string, number>();
  // The newest dataset is read first and removed last, because it shows which ids the people have.
  for (const version of others.toReversed()) {
    const number = await numberIn(version);
    if (number !== null) removed.set(version, number);
  }
  const withdrawn = { published, withheldCount, removed: [...removed.keys()].toReversed() };
  if (trial !== null) return withdrawn;
  await store.removeSteps((path) => isStepOf(path, pending, ids));
  for (const [version, suppression] of [...removed].toReversed()) {
    const entry = {
      actor: operator,
      subject: version,
      detail: { suppression },
      now: nowMilliseconds,
    };
    await control.write((transaction) => writeAudit(transaction, "dataset.pruned", entry));
    await store.remove(version);
  }
  await control.write((transaction) =>
    transaction
      .updateTable("suppression")
      .set({ applied_at: new Date(nowMilliseconds).toISOString() })
      .where("number", "in", numbers)
      .execute(),
  );
  return withdrawn;
}
