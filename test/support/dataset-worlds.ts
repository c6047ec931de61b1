/** Runs tests of datasets on both engines: a folder, and a PostgreSQL database with the folder of a machine as its cache. */
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { type Catalogue, openCatalogue } from "#datasets/catalogue.ts";
import { openCache } from "#datasets/dataset-cache.ts";
import { openPostgresStore } from "#datasets/postgres.ts";
import { openFolderStore, type OpenStore } from "#datasets/store.ts";
import { freshDatabase, onPostgres, runSql } from "./postgres.ts";
import { temporaryFolder } from "./temporary-folder.ts";

export interface DatasetWorld {
  /** What commands do on one machine. */
  store: OpenStore;
  /** The folder of that machine. */
  catalogue: Catalogue;
  /** What another command does meanwhile: on the same folder, or on another machine. */
  another(changesDays?: number): Promise<OpenStore>;
  /** What commands warned of. */
  warnings: readonly string[];
  /** Sets the clock by which publications and pins are noted. */
  setTime(milliseconds: number): Promise<void>;
}

type Run = (world: DatasetWorld, t: TestContext) => Promise<void>;

/** Takes the place of `test` of node:test for what is about the files of a folder. */
export const onFolder = (name: string, run: Run): void =>
  void test(name, async (t) => run(await folderWorld(t), t));

/** Takes the place of `test` of node:test. The clock of a world stands still. */
export function forEachWorld(name: string, run: Run): void {
  onFolder(name, run);
  onPostgres(`${name} · on PostgreSQL`, async (t) => {
    await run(await databaseWorld(t), t);
  });
}

async function folderWorld(t: TestContext): Promise<DatasetWorld> {
  const folder = join(temporaryFolder(t), "datasets");
  let time = 0;
  const warnings: string[] = [];
  const warn = (sentence: string) => void warnings.push(sentence);
  const open = async (changesDays = 400) =>
    openFolderStore({ folder, changesDays, warn, now: () => time });
  return {
    store: await open(),
    catalogue: openCatalogue(folder),
    another: open,
    warnings,
    async setTime(milliseconds) {
      time = milliseconds;
    },
  };
}

/** Puts a clock of the test's own before that of the server. */
const ownClock = `
  create schema clock;
  create table clock.moment as select to_timestamp(0) as at;
  create function clock.now() returns timestamptz language sql stable as 'select at from clock.moment';
  do $$ begin execute format('alter database %I set search_path = clock, public, pg_catalog', current_database()); end $$`;

export async function databaseWorld(t: TestContext): Promise<DatasetWorld & { url: string }> {
  const opened: OpenStore[] = [];
  // Before the folders' own, in which a store still tidies up.
  t.after(() => opened.forEach((store) => store.close()));
  const url = await freshDatabase(t);
  await runSql(url, ownClock);
  const warnings: string[] = [];
  const warn = (sentence: string) => void warnings.push(sentence);
  const open = async (changesDays = 400) => {
    const folder = join(temporaryFolder(t), "datasets");
    const store = openPostgresStore({ folder, changesDays, warn }, url);
    opened.push(store);
    return store;
  };
  const store = await open();
  return {
    url,
    store,
    catalogue: openCache(store.folder).catalogue,
    another: open,
    warnings,
    setTime: async (milliseconds) =>
      void (await runSql(url, "update clock.moment set at = to_timestamp($1::float8 / 1000)", [
        milliseconds,
      ])),
  };
}
