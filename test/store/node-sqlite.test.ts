import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import { Kysely, sql } from "kysely";
import { nodeSqliteDialect } from "#store/open-store.ts";

interface Tables {
  thing: { id: number; value: unknown };
}

async function memory(t: TestContext) {
  const connection = new DatabaseSync(":memory:");
  connection.exec("create table thing (id integer primary key, value)");
  const database = new Kysely<Tables>({ dialect: nodeSqliteDialect(connection, "some.sqlite") });
  t.after(() => database.destroy());
  return { connection, database };
}

test("whole numbers, truth values, text, bytes and null are stored as what they are", async (t) => {
  const { database } = await memory(t);
  const values = [7, true, 1.5, "seven", Uint8Array.of(1, 2), null, 2n ** 60n];
  const types: string[] = [];
  for (const value of values) {
    const { rows } = await sql<{ type: string }>`select typeof(${value}) as type`.execute(database);
    types.push(rows[0]!.type);
  }
  assert.deepEqual(types, ["integer", "integer", "real", "text", "blob", "null", "integer"]);
});

test("a value that SQLite would take for something else is refused", async (t) => {
  const { database } = await memory(t);
  for (const value of [new Date(0), { a: 1 }])
    await assert.rejects(
      database.insertInto("thing").values({ id: 1, value }).execute(),
      /cannot be stored/,
    );
});

test("statements of the same text share one preparation and never each other's values", async (t) => {
  const { connection, database } = await memory(t);
  let preparations = 0;
  const prepare = connection.prepare.bind(connection);
  connection.prepare = (text) => {
    preparations += 1;
    return prepare(text);
  };
  const insert = (id: number) =>
    database
      .insertInto("thing")
      .values({ id, value: `v${id}` })
      .returning("value")
      .executeTakeFirst();
  for (let id = 1; id <= 50; id++) assert.equal((await insert(id))?.value, `v${id}`);
  assert.equal(preparations, 1);
});
