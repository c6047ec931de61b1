/** Runs tests of the control store on both engines: a file of a data folder, and a PostgreSQL database of the test's own. */
import { test, type TestContext } from "node:test";
import { freshDatabase, whyNoPostgres } from "./postgres.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const onPostgres = new WeakSet<TestContext>();
const missing = whyNoPostgres();
if (missing !== null) test("on PostgreSQL", { skip: missing }, () => {});

/** Takes the place of `test` of node:test; what the test opens with `storePlace` is on one engine or the other. */
export function forEachStore(name: string, run: (t: TestContext) => void | Promise<void>): void {
  void test(name, run);
  if (missing !== null) return;
  void test(`${name} · on PostgreSQL`, (t) => {
    onPostgres.add(t);
    return run(t);
  });
}

/** Where the control store of a test is: the arguments of `openControl`. */
export interface StorePlace {
  dataDir: string;
  databaseUrl: string | null;
}

/** A fresh one for each call. On the file unless `forEachStore` runs the test. */
export const storePlace = async (t: TestContext): Promise<StorePlace> => ({
  dataDir: temporaryFolder(t),
  databaseUrl: onPostgres.has(t) ? await freshDatabase(t) : null,
});
