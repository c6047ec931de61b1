import assert from "node:assert/strict";
import { test } from "node:test";
import { database } from "#doctor/database.ts";
import { controlStore, usageStore } from "#doctor/stores.ts";
import { migratePostgres } from "#store/postgres-schema.ts";
import { postgresSteps } from "#store/postgres-steps.ts";
import { finding, look } from "../support/doctor.ts";
import { freshDatabase, whyNoPostgres } from "../support/postgres.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const skip = whyNoPostgres() ?? false;

test("without DATABASE_URL nothing is said of PostgreSQL, and with it nothing of the files of keys and usage", async (t) => {
  const dataDir = temporaryFolder(t);
  assert.deepEqual(await look(database, dataDir), []);
  await finding("ok", controlStore, dataDir);
  const settings = { DATABASE_URL: "postgres://u@127.0.0.1:1/records" };
  for (const check of [controlStore, usageStore])
    assert.deepEqual(await look(check, dataDir, { settings }), []);
});

test(
  "a database is named with its version, or with what is missing: steps, a newer program, the server itself",
  { skip },
  async (t) => {
    const dataDir = temporaryFolder(t);
    const DATABASE_URL = await freshDatabase(t, { isMigrated: false });
    const given = { settings: { DATABASE_URL } };
    const behind = await finding("fail", database, dataDir, given);
    assert.match(
      behind.found,
      /^PostgreSQL at .*\/own_\d+ lacks steps of the schema \(0001-tables\).*`gp-records migrate`/,
    );
    await migratePostgres({ url: DATABASE_URL });
    const well = await finding("ok", database, dataDir, given);
    assert.match(well.found, /has the present schema; it is version \d+\.\d+$/);
    const later = { name: "0009-later", isAdditive: false, sql: "select 1" };
    await migratePostgres({ url: DATABASE_URL }, [...postgresSteps, later]);
    assert.match((await finding("fail", database, dataDir, given)).found, /newer.*'0009-later'/);
  },
);

test("a server that is not there is named", async (t) => {
  const dataDir = temporaryFolder(t);
  const of = (DATABASE_URL: string) => look(database, dataDir, { settings: { DATABASE_URL } });
  const [away, ...others] = await of("postgres://u:geheim@127.0.0.1:1/records");
  assert.deepEqual(others, []);
  assert.match(away!.found, /PostgreSQL at 127\.0\.0\.1:1\/records cannot be reached/);
  assert.doesNotMatch(JSON.stringify(away), /geheim/);
});
