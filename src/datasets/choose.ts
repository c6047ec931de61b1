/** Makes another generation current: a new, a named or the previous one. */
import { currentOrNull, type DatasetList, findBefore } from "./catalogue.ts";
import { DatasetFault } from "./dataset-fault.ts";
import { type Generation, isOutdated, isStaged } from "./generation.ts";
import { openPublished } from "./open-generation.ts";
import { type Next, stepTo } from "./steps.ts";
import { type DatasetStore, ownFormat } from "./store.ts";

export interface Choice {
  version: string;
  /** True to publish a staged dataset even if another became current after it was built. The newer changes are lost. */
  discardsNewer: boolean;
  /** True to publish even if a running server cannot read the dataset. */
  isForced: boolean;
}

/**
 * Publishes a version. The caller holds the import lock.
 * @throws DatasetFault if there is no such dataset, or its file is not the one that was built. Also throws it
 *   if the dataset is outdated or a running server cannot read it, unless the choice allows that.
 */
export async function publishVersion(store: DatasetStore, choice: Choice): Promise<Generation> {
  const { version, discardsNewer, isForced } = choice;
  const list = await store.read();
  const generation = list.find(version);
  if (!discardsNewer && isStaged(generation)) refuseOutdated(list, generation);
  if (!isForced)
    await refuseUnreadable(
      store,
      "Update that server first, or add --force; the server then keeps the dataset that it serves.",
    );
  return makeCurrent(store, generation);
}

function refuseOutdated(list: DatasetList, generation: Generation): void {
  const current = list.currentVersion();
  if (!isOutdated(generation, current)) return;
  const base = generation.built_from ?? "no dataset";
  throw new DatasetFault(
    `The dataset ${generation.version} was not published: it was built when ${base} was current, but ${current ?? "no dataset"} is current now, so publishing it would lose what changed in between. Import again, or add --discard-newer to publish it anyway and lose those changes.`,
  );
}

/**
 * Makes the previous generation current again. The caller holds the import lock.
 * @throws DatasetFault if there is none, its file is not the one that was built, or a running server cannot read it.
 */
export async function rollBack(store: DatasetStore): Promise<Generation> {
  const before = chosenBefore(await store.read());
  await refuseUnreadable(
    store,
    `Update that server first, or run 'gp-records datasets publish ${before.version} --force'; the server then keeps the dataset that it serves.`,
  );
  return makeCurrent(store, before);
}

/** Returns the previous generation. @throws DatasetFault if there is none. */
export function chosenBefore(list: DatasetList): Generation {
  const before = findBefore(list);
  if (before !== undefined) return before;
  throw new DatasetFault(
    "No published dataset comes before the current one; 'gp-records datasets list' shows all datasets.",
  );
}

/** Throws DatasetFault if a running server cannot read datasets of this program's format. */
export async function refuseUnreadable(store: DatasetStore, advice: string): Promise<void> {
  const servers = await store.servers();
  const unable = servers.find(({ live, formats }) => live && !formats.includes(ownFormat));
  if (unable === undefined) return;
  const { host, pid, program, formats } = unable;
  throw new DatasetFault(
    `The server on ${host}, process ${pid}, runs gp-records ${program}, which reads datasets of format ${formats.join(", ")} but not of format ${ownFormat}. Nothing was published. ${advice}`,
  );
}

/** Makes a generation current. Verifies its file first, so that no server loads a damaged one. */
async function makeCurrent(store: DatasetStore, generation: Generation): Promise<Generation> {
  const path = await store.open(generation.version);
  openPublished(path, generation).db.close();
  return publishNext(store, { generation, path, isBaseChecked: false });
}

/** Publishes a generation. Adds the step from the current one to it if that step can be made. */
export async function publishNext(store: DatasetStore, next: Next): Promise<Generation> {
  const list = await store.read();
  const expected = currentOrNull(list);
  const from = expected === null ? null : list.findReadable(expected);
  const step = from === null ? null : await stepTo(store, from, next);
  return store.publish(next.generation.version, expected, step);
}
