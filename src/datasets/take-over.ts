/** Takes all datasets of one installation over to another, each whole, with what is known of it, and the steps between them; a folder or a database either way. */
import { copyFileSync, existsSync, rmSync } from "node:fs";
import type { Publication } from "#records/publication.ts";
import { syncPath } from "#store/whole-file.ts";
import { openCatalogue } from "./catalogue.ts";
import { type DatasetCache, openCache } from "./dataset-cache.ts";
import { DatasetFault, refuseOtherThanFile } from "./dataset-fault.ts";
import { hashFile } from "./file-hash.ts";
import type { Generation } from "./generation.ts";
import type { Warn } from "./keep-steps.ts";
import { formatOf } from "./open-generation.ts";
import { openPublications, type Publications } from "./publications.ts";
import type { DatasetRemote } from "./remote.ts";

interface DatasetPlace {
  /** The folder of datasets; with a database its cache, which a target in a database does not need. */
  folder: string | null;
  /** `DATABASE_URL`. */
  databaseUrl: string | null;
}

interface TakeOver {
  /**
   * Takes over those that the other side does not have yet, and reads each back; then the steps. While the source is served, some may come and go
   * meanwhile.
   * @param onTaken told of each.
   */
  takeNew(onTaken: (generation: Generation) => void): Promise<void>;
  /**
   * Makes the datasets and publications of both sides the same ones, the current one included; the source must not change. A step
   * that cannot be read is told of, and left out.
   * @returns the current one, and how many there are.
   */
  finish(): Promise<{
    current: string | null;
    datasets: number;
    bytes: number;
    publications: number;
  }>;
  close(): void;
}

/** @throws DatasetFault for a target that has datasets of its own; StoreFault where a database cannot be reached. */
export async function openTakeOver(
  source: DatasetPlace,
  target: DatasetPlace,
  warn: Warn,
): Promise<TakeOver> {
  const to = await openTarget(target);
  // Fetched straight into the folder that they are for.
  const from = await openSource(source, to.cache);

  /** Taken, or read back, by this process: large files need not be read again while nobody is served. */
  const known = new Set<string>();

  async function takeNew(onTaken: (generation: Generation) => void): Promise<void> {
    const { generations } = await from.read();
    for (const generation of generations) {
      if (known.has(generation.version)) continue;
      known.add(generation.version);
      if (await to.has(generation)) continue;
      try {
        await to.take(await from.fetch(generation), generation);
      } catch (error) {
        const { generations: left } = await from.read();
        // Removed meanwhile, as old ones are after each publication.
        if (left.every(({ version }) => version !== generation.version)) continue;
        throw error;
      }
      onTaken(generation);
    }
  }

  const stepsTaken = new Set<string>();

  /** A list that is damaged is no reason to stay. */
  async function listSteps(onFault: Warn): Promise<readonly Publication[]> {
    try {
      return await from.steps.list();
    } catch (error) {
      if (!(error instanceof DatasetFault)) throw error;
      onFault(`/changes begins anew after the move: ${error.message.replace(/\.$/, "")}`);
      return [];
    }
  }

  /** @param onFault told of each step that could not be. @returns the publications, without the steps that were not. */
  async function takeSteps(onFault: Warn): Promise<Publication[]> {
    const publications: Publication[] = [];
    const untaken = new Set<string>();
    for (const one of await listSteps(onFault)) {
      const name = `${one.from}..${one.version}`;
      if (one.step !== null && !stepsTaken.has(name) && !untaken.has(name))
        try {
          await takeStep(from.steps, to.steps, one);
          stepsTaken.add(name);
        } catch (error) {
          const isGone = (error as NodeJS.ErrnoException).code === "ENOENT";
          if (!isGone && !(error instanceof DatasetFault)) throw error;
          untaken.add(name);
          const reason = (error as Error).message.replace(/\.$/, "");
          onFault(
            `what changed in ${name} was not copied, so whoever follows /changes has to read all records again: ${reason}`,
          );
        }
      const isTaken = one.step === null || stepsTaken.has(name);
      publications.push(isTaken ? one : { ...one, step: null });
    }
    return publications;
  }

  return {
    async takeNew(onTaken) {
      await takeNew(onTaken);
      // One that was removed meanwhile is none any more at the end.
      await takeSteps(() => {});
    },
    async finish() {
      await takeNew(() => {});
      const { generations, current } = await from.read();
      await to.agree(generations, current);
      const publications = await takeSteps(warn);
      await to.steps.note(publications);
      const bytes = generations.reduce((sum, one) => sum + one.bytes, 0);
      return {
        current,
        datasets: generations.length,
        bytes,
        publications: publications.length,
      };
    },
    close() {
      from.close();
      to.close();
    },
  };
}

interface Source {
  /** Oldest first. */
  read(): Promise<{ generations: readonly Generation[]; current: string | null }>;
  /** @returns the path of its file on this machine. */
  fetch(generation: Generation): Promise<string>;
  steps: StepSource;
  close(): void;
}

interface StepSource {
  /** Oldest first. */
  list(): Promise<readonly Publication[]>;
  /** @throws DatasetFault where there is none, or it is damaged. */
  fetch(publication: Publication): Promise<FetchedStep>;
}

interface FetchedStep {
  /** Of its file on this machine. */
  path: string;
  /** Fetched into the folder of the target, if that is one, to be moved or removed. */
  isTemporary: boolean;
}

interface StepTarget {
  take(publication: Publication, fetched: FetchedStep): Promise<void>;
  /** Replaces the list, whose steps were taken. */
  note(publications: readonly Publication[]): Promise<void>;
}

interface Target {
  /** The folder that the target keeps them in; null for a database. */
  cache: DatasetCache | null;
  /** Whether it has the dataset whole. */
  has(generation: Generation): Promise<boolean>;
  take(path: string, generation: Generation): Promise<void>;
  agree(generations: readonly Generation[], current: string | null): Promise<void>;
  steps: StepTarget;
  close(): void;
}

async function takeStep(from: StepSource, to: StepTarget, publication: Publication): Promise<void> {
  const fetched = await from.fetch(publication);
  try {
    await to.take(publication, fetched);
  } finally {
    if (fetched.isTemporary) rmSync(fetched.path, { force: true });
  }
}

const stepsOfFolder = (
  { list, stepPath, openStep }: Publications,
  current: () => string | null,
): StepSource => ({
  list: async () => list(current()),
  async fetch({ from, version, step }) {
    const path = stepPath(from!, version);
    if (openStep(from!, version)?.changes !== step!.changes)
      throw new DatasetFault(`${path} is not there, or not whole.`);
    return { path, isTemporary: false };
  },
});

/** @param aside where a step may be fetched to. */
const stepsOfDatabase = ({ publications }: DatasetRemote, aside: Publications): StepSource => ({
  list: publications.list,
  async fetch({ from, version }) {
    const path = aside.temporaryPath();
    try {
      await publications.pullStep(path, from!, version);
    } catch (error) {
      rmSync(path, { force: true });
      throw error;
    }
    return { path, isTemporary: true };
  },
});

const stepsIntoFolder = (publications: Publications): StepTarget => ({
  async take({ from, version, step }, { path, isTemporary }) {
    const aside = isTemporary ? path : publications.temporaryPath();
    if (!isTemporary) {
      copyFileSync(path, aside);
      if (hashFile(aside).sha256 !== hashFile(path).sha256)
        throw new DatasetFault(`${path} changed while it was read.`);
    }
    syncPath(aside);
    publications.adoptStep(aside, from!, version);
    if (publications.openStep(from!, version)?.changes !== step!.changes)
      throw new DatasetFault(
        `The step ${from}..${version} does not have as many changes as it says.`,
      );
  },
  async note(noted) {
    if (noted.length > 0) publications.write(noted);
    publications.clear(noted);
  },
});

async function openSource(
  { folder, databaseUrl }: DatasetPlace,
  target: DatasetCache | null,
): Promise<Source> {
  if (databaseUrl === null) {
    const catalogue = openCatalogue(folder!);
    return {
      async read() {
        return { generations: catalogue.list(), current: catalogue.currentVersion() };
      },
      fetch: async ({ version }) => catalogue.pathOf(version),
      steps: stepsOfFolder(openPublications(folder!), catalogue.currentVersion),
      close() {},
    };
  }
  const cache = target ?? openCache(folder!);
  const remote = await openRemote(databaseUrl, cache);
  return {
    async read() {
      const { generations, current } = await remote.read();
      return {
        generations: generations.filter(({ status }) => status !== "added"),
        current: current?.version ?? null,
      };
    },
    async fetch(generation) {
      if (!cache.isWhole(generation)) await remote.pull(generation);
      return cache.catalogue.pathOf(generation.version);
    },
    steps: stepsOfDatabase(remote, openPublications(cache.catalogue.folder)),
    close: remote.close,
  };
}

async function openTarget({ folder, databaseUrl }: DatasetPlace): Promise<Target> {
  if (databaseUrl !== null) {
    const remote = await openRemote(databaseUrl, null);
    return {
      cache: null,
      async has({ version, sha256 }) {
        const { generations } = await remote.read();
        return generations.some((one) => one.version === version && one.sha256 === sha256);
      },
      take: (path, generation) => remote.take(path, generation, formatOf(path)),
      agree: remote.agree,
      steps: {
        take: ({ from: before, version }, { path }) =>
          remote.publications.pushStep(path, before!, version),
        note: remote.publications.replace,
      },
      close: remote.close,
    };
  }
  const cache = openCache(folder!);
  const { catalogue } = cache;
  return {
    cache,
    has: async (generation) =>
      existsSync(catalogue.pathOf(generation.version)) && cache.isWhole(generation),
    async take(path, generation) {
      if (path === catalogue.pathOf(generation.version)) return;
      const aside = cache.temporaryPath();
      refuseOtherThanFile(path);
      copyFileSync(path, aside);
      if (hashFile(aside).sha256 !== generation.sha256)
        throw new DatasetFault(
          `${path} is not the file that was published: its SHA-256 differs. \`gp-records datasets verify\` says what mends it.`,
        );
      cache.adopt(aside, generation);
    },
    async agree(generations, current) {
      const versions = generations.map(({ version }) => version);
      for (const other of catalogue.versions().filter((one) => !versions.includes(one)))
        cache.drop(other);
      for (const generation of generations) {
        cache.noteFacts(generation);
        if (generation.version === current) cache.point(generation);
      }
    },
    steps: stepsIntoFolder(openPublications(folder!)),
    close() {},
  };
}

async function openRemote(url: string, cache: DatasetCache | null): Promise<DatasetRemote> {
  const { openPostgresRemote } = await import("./postgres-remote.ts");
  return openPostgresRemote(url, cache);
}
