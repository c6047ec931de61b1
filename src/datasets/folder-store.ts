/** Keeps datasets in a folder, for one machine's commands. A server reads the folder directly (`follow-current.ts`). */
import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { takeLock } from "#store/lock.ts";
import { clearLeftovers, currentOrNull, openCatalogue } from "./catalogue.ts";
import { isCurrentDataset, overtaken } from "./dataset-fault.ts";
import { timeOf } from "./format.ts";
import { openPublications } from "./publications.ts";
import { withPublication, youngerThan } from "./steps.ts";
import type { Draft, MadeStep, OpenStore, StoreOrder } from "./store.ts";

export function openFolderStore({ folder, changesDays, warn, now }: StoreOrder): OpenStore {
  const catalogue = openCatalogue(folder);
  const publications = openPublications(folder);
  /** Drafts to be published without staging. Their files are not moved until then. */
  const added = new Map<string, Draft>();
  const list = () => publications.list(catalogue.currentVersion());

  /** Notes a publication before the pointer moves. Only warns on failure: clients then read all records again. */
  function note(version: string, published_at: string, step: MadeStep | null): void {
    try {
      const to = { version, published_at };
      publications.write(withPublication(list(), catalogue.current(), to, step));
    } catch (error) {
      const reason = (error as Error).message.replace(/\.$/, "");
      warn(
        `${version} is being published, but could not be added to the list for /changes, so clients that follow /changes must read all records again: ${reason}`,
      );
    }
  }

  return {
    folder,
    changesDays,
    warn,
    read: async () => catalogue,
    publications: async () => list(),
    async open(version) {
      catalogue.find(version);
      return catalogue.pathOf(version);
    },
    async add(draft) {
      const { path, generation, isStaged } = draft;
      const { version } = generation;
      if (!isStaged) {
        added.set(version, draft);
        return path;
      }
      catalogue.stage(path, generation);
      return catalogue.pathOf(version);
    },
    async publish(version, expected, step) {
      const draft = added.get(version);
      if (draft === undefined) catalogue.find(version);
      const current = currentOrNull(catalogue);
      if (current !== expected) throw overtaken(version, current, expected);
      const time = timeOf(now());
      if (changesDays > 0) note(version, time, step);
      if (draft === undefined) return catalogue.publish(version, time);
      const published = catalogue.publishDraft(draft.path, draft.generation, time);
      added.delete(version);
      return published;
    },
    async pin(version, isPinned) {
      const found = catalogue.find(version);
      if ((found.pinned_at === null) !== isPinned) return found;
      return catalogue.pin(version, isPinned ? timeOf(now()) : null);
    },
    async remove(version) {
      const draft = added.get(version);
      // The file may be elsewhere or gone: a failed publication may have named or removed it.
      if (draft !== undefined) return rmSync(draft.path, { force: true });
      if (currentOrNull(catalogue) === version) throw isCurrentDataset(version);
      catalogue.remove(version);
    },
    async forgetSteps() {
      const noted = list();
      const kept = youngerThan(noted, changesDays, now());
      if (kept.length < noted.length) publications.write(kept);
      publications.clear(kept);
    },
    async check(version) {
      const { checkGeneration } = await import("./check-generations.ts");
      return checkGeneration(catalogue, version, true);
    },
    servers: async () => [],
    async take() {
      const dataDir = dirname(folder);
      const lock = takeLock(
        join(dataDir, "import.lock"),
        `Another command is changing the datasets in ${dataDir}. Try again when it has finished.`,
      );
      try {
        clearLeftovers(folder);
      } catch (error) {
        lock.release();
        throw error;
      }
      return async () => lock.release();
    },
    close() {},
  };
}
