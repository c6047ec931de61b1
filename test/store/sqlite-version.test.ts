import assert from "node:assert/strict";
import { test } from "node:test";
import { refuseOldSqlite } from "#store/sqlite-file.ts";

test("an SQLite that can lose commits is refused, and the versions without the fault are not", () => {
  for (const version of ["3.51.2", "3.50.99", "3.9.0", "2.99.99", "none"])
    assert.throws(() => refuseOldSqlite(version), /needs 3\.51\.3 or newer/, version);
  for (const version of ["3.51.3", "3.51.10", "3.52.0", "4.0.0"]) refuseOldSqlite(version);
});

test("the SQLite in use is one without the fault", () => {
  refuseOldSqlite();
});
