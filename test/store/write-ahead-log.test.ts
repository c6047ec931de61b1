import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { useWriteAheadLog } from "#store/open-store.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

test("a new store waits for the process that is making it, for as long as it was told to", (t) => {
  const file = join(temporaryFolder(t), "some.sqlite");
  const maker = new DatabaseSync(file);
  maker.exec("create table thing (id integer); begin immediate");
  const other = new DatabaseSync(file, { timeout: 10 });
  const began = performance.now();
  assert.throws(() => useWriteAheadLog(other, 100), /locked/);
  assert.ok(performance.now() - began >= 100);
  maker.exec("commit");
  useWriteAheadLog(other, 100);
  assert.deepEqual({ ...other.prepare("pragma journal_mode").get() }, { journal_mode: "wal" });
  maker.close();
  other.close();
});
