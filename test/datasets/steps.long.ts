import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openCatalogue } from "#datasets/catalogue.ts";
import { followHistory } from "./histories.ts";

const firstSeed = Number(process.env["SEED"] ?? Date.now() % 1_000_000);

test("in 1,000 random histories a copy that applies each step is the new dataset, byte for byte", async (t) => {
  t.diagnostic(`SEED=${firstSeed}`);
  const all = { publications: 0, rollBacks: 0, merged: 0, changes: 0 };
  for (let seed = firstSeed; seed < firstSeed + 1000; seed++) {
    const folder = mkdtempSync(join(tmpdir(), "gp-records-history-"));
    const happened = await followHistory(openCatalogue(folder), seed);
    rmSync(folder, { recursive: true });
    for (const key of Object.keys(all) as (keyof typeof all)[]) all[key] += happened[key];
  }
  t.diagnostic(JSON.stringify(all));
  assert.ok(Object.values(all).every((count) => count > 100));
});
