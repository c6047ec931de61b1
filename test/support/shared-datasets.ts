/** Machines that share datasets in one real PostgreSQL, and datasets to share. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { after, type TestContext } from "node:test";
import { Client } from "pg";
import type { Catalogue } from "#datasets/catalogue.ts";
import { openCache } from "#datasets/dataset-cache.ts";
import type { Generation } from "#datasets/generation.ts";
import { openPostgresRemote } from "#datasets/postgres-remote.ts";
import { migratePostgres } from "#store/postgres-schema.ts";
import { type Cluster, makeCluster, NoPostgres, type Postgres } from "../../bench/postgres.ts";
import { importRecords, temporaryCatalogue } from "./dataset.ts";
import { temporaryFolder } from "./temporary-folder.ts";

export interface TestDatabase {
  /** As `DATABASE_URL`. */
  url: string;
  query(sql: string, values?: readonly unknown[]): Promise<any[]>;
  /** Ends the server, at once: no client gets another answer. */
  stop(): Promise<void>;
  /** Starts it again. */
  start(): Promise<void>;
}

let cluster: Promise<Cluster> | null = null;
let server: Postgres | null = null;
let databases = 0;

after(() => server?.stop());

/**
 * A database of the test's own on a server for all tests of the file. Null where PostgreSQL is not installed, and the test is
 * marked as skipped.
 * @throws Error in CI: there a skipped test would look like one that passed.
 */
export async function sharedDatabase(t: TestContext): Promise<TestDatabase | null> {
  const found = await (cluster ??= makeCluster("/dev/null", "")).catch((error: unknown) => {
    if (!(error instanceof NoPostgres) || process.env["CI"]) throw error;
    t.skip("skipped: no PostgreSQL (apt-get install postgresql)");
    return null;
  });
  if (found === null) return null;
  server ??= await found.start();
  const name = `test_${++databases}`;
  const run = async (url: string, sql: string, values: readonly unknown[] = []) => {
    const client = new Client({ connectionString: url });
    client.on("error", () => {});
    await client.connect();
    try {
      return (await client.query(sql, [...values])).rows as any[];
    } finally {
      await client.end();
    }
  };
  await run(server.url, `create database ${name}`);
  const url = server.url.replace(/\/postgres$/, `/${name}`);
  await migratePostgres({ url });
  return {
    url,
    query: (sql, values) => run(url, sql, values),
    async stop() {
      await server!.stop();
      server = null;
    },
    async start() {
      server ??= await found.start();
    },
  };
}

/** A machine with an empty cache. */
export function machine(t: TestContext, { url }: Pick<TestDatabase, "url">) {
  const dataDir = temporaryFolder(t);
  const cache = openCache(join(dataDir, "datasets"));
  const remote = openPostgresRemote(url, cache);
  t.after(() => remote.close());
  return { dataDir, cache, remote };
}

export interface Built {
  path: string;
  generation: Generation;
}

/** Datasets that nobody shares yet, one for each list of records, in files of their own. */
export async function buildDatasets(
  t: TestContext,
  ...deliveries: (readonly unknown[])[]
): Promise<Built[]> {
  const catalogue: Catalogue = temporaryCatalogue(t);
  const built: Built[] = [];
  for (const [i, records] of deliveries.entries()) {
    const nowMilliseconds = Date.UTC(2026, 10, i + 1, 3);
    const { published } = await importRecords(catalogue, records, { nowMilliseconds });
    const generation = { ...published!, published_at: null, published_after: null };
    built.push({ path: catalogue.pathOf(generation.version), generation });
  }
  return built;
}

/** GPs whose descriptions hardly shrink when compressed: some 1.3 KB each, so that a thousand take more than a part. */
export const bulkyGps = (count: number, seed = ""): object[] =>
  Array.from({ length: count }, (_, i) => ({
    record: "gp",
    id: `gp${i}`,
    name: `Bulky ${i}`,
    description: Array.from({ length: 20 }, (__, j) =>
      createHash("sha256").update(`${seed} ${i} ${j}`).digest("hex"),
    ).join(" "),
  }));
