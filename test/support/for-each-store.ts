/** Runs tests of what is stored on both engines: files of a data folder, and a PostgreSQL database of the test's own. */
import { test, type TestContext } from "node:test";
import { freshDatabase, whyNoPostgres } from "./postgres.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const onPostgres = new WeakSet<TestContext>();
let missing: string | null | undefined;

/** Why no test of this file runs on PostgreSQL; said by a skipped test, once. */
function whyMissing(): string | null {
  if (missing !== undefined) return missing;
  missing = whyNoPostgres();
  if (missing !== null) void test("on PostgreSQL", { skip: missing }, () => {});
  return missing;
}

/** Takes the place of `test` of node:test; what the test opens with `storePlace` is on one engine or the other. */
export function forEachStore(name: string, run: (t: TestContext) => void | Promise<void>): void {
  void test(name, run);
  if (whyMissing() !== null) return;
  void test(`${name} · on PostgreSQL`, (t) => {
    onPostgres.add(t);
    return run(t);
  });
}

/** Where the stores of a test are: the arguments of `openControl` and `openUsage`. */
export interface StorePlace {
  dataDir: string;
  databaseUrl: string | null;
}

/** A fresh one for each call. On the file unless `forEachStore` runs the test. */
export const storePlace = async (t: TestContext): Promise<StorePlace> => ({
  dataDir: temporaryFolder(t),
  databaseUrl: onPostgres.has(t) ? await freshDatabase(t) : null,
});
