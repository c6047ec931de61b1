import assert from "node:assert/strict";
import { test } from "node:test";
import { documents, gp, imported, principal, project, signal } from "./published.ts";

const names = (records: Record<string, any>[]) => records.map(({ name, title }) => name ?? title);
const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

test("GPs, principals and projects come by folded name, whatever their case and accents, and equal names by id", async (t) => {
  const spellings = ["Zeta", "alpha", "Äther", "ALPINE", "Beta & Co.", "beta", "42 North"];
  const catalogue = await imported(
    t,
    spellings.flatMap((name, i) => [
      gp(`g${i}`, { name }),
      principal(`p${i}`, [], { name }),
      project(`j${i}`, { name }),
    ]),
  );
  const expected = ["42 North", "alpha", "ALPINE", "Äther", "beta", "Beta & Co.", "Zeta"];
  for (const kind of ["gp", "principal", "project"])
    assert.deepEqual(names(documents(catalogue, kind)), expected);
  const same = Array.from({ length: 12 }, (_, i) => gp(`g${i}`, { name: "Same" }));
  const ids = documents(await imported(t, same), "gp").map(({ id }) => id);
  assert.deepEqual(ids, ids.toSorted(byBytes));
});

test("signals come newest first, a day before its month before its year, equal dates by id", async (t) => {
  const dates = "2025 2026 2026-10 2026-10-01 2026-10-31 2026-11 2026-10 0999-12-31".split(" ");
  const catalogue = await imported(
    t,
    dates.map((date, i) => signal(`s${i}`, { date })),
  );
  const found = documents(catalogue, "signal");
  assert.deepEqual(
    found.map(({ date }) => date),
    ["2026-11", "2026-10-31", "2026-10-01", "2026-10", "2026-10", "2026", "2025", "0999-12-31"],
  );
  const [one, other] = found.filter(({ date }) => date === "2026-10");
  assert.ok(one!["id"] < other!["id"]);
});
