/** Takes all datasets of one installation over to another, each whole, with what is known of it; a folder or a database either way. */
import { copyFileSync, existsSync } from "node:fs";
import { openCatalogue } from "./catalogue.ts";
import { type DatasetCache, openCache } from "./dataset-cache.ts";
import { DatasetFault, refuseOtherThanFile } from "./dataset-fault.ts";
import { hashFile } from "./file-hash.ts";
import type { Generation } from "./generation.ts";
import { formatOf } from "./open-generation.ts";
import type { DatasetRemote } from "./remote.ts";

interface DatasetPlace {
  /** The folder of datasets; with a database its cache, which a target in a database does not need. */
  folder: string | null;
  /** `DATABASE_URL`. */
  databaseUrl: string | null;
}

interface TakeOver {
  /**
   * Takes over those that the other side does not have yet, and reads each back. While the source is served, some may come and go
   * meanwhile.
   * @param onTaken told of each.
   */
  takeNew(onTaken: (generation: Generation) => void): Promise<void>;
  /**
   * Makes the datasets of both sides the same ones, the current one included; the source must not change.
   * @returns the current one, and how many there are.
   */
  finish(): Promise<{ current: string | null; datasets: number; bytes: number }>;
  close(): void;
}

/** @throws DatasetFault for a target that has datasets of its own; StoreFault where a database cannot be reached. */
export async function openTakeOver(source: DatasetPlace, target: DatasetPlace): Promise<TakeOver> {
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

  return {
    takeNew,
    async finish() {
      await takeNew(() => {});
      const { generations, current } = await from.read();
      await to.agree(generations, current);
      const bytes = generations.reduce((sum, one) => sum + one.bytes, 0);
      return { current, datasets: generations.length, bytes };
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
  close(): void;
}

interface Target {
  /** The folder that the target keeps them in; null for a database. */
  cache: DatasetCache | null;
  /** Whether it has the dataset whole. */
  has(generation: Generation): Promise<boolean>;
  take(path: string, generation: Generation): Promise<void>;
  agree(generations: readonly Generation[], current: string | null): Promise<void>;
  close(): void;
}

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
    close() {},
  };
}

async function openRemote(url: string, cache: DatasetCache | null): Promise<DatasetRemote> {
  const { openPostgresRemote } = await import("./postgres-remote.ts");
  return openPostgresRemote(url, cache);
}
