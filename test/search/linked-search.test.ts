import assert from "node:assert/strict";
import { test } from "node:test";
import { readDocuments } from "#search/dataset-parts.ts";
import type { GpFilter } from "#search/gp-search.ts";
import type { ReadModel } from "#search/read-model.ts";
import { gp, principal as principalOf } from "../datasets/published.ts";
import { modelOf } from "../support/dataset.ts";

/** So many GPs that a word or a value of one of them is rare, and one of many is common. */
const manyGps = (count: number, rest: (i: number) => object) =>
  Array.from({ length: count }, (_, i) =>
    gp(`gp-${i}`, { name: `Fund ${i} Partners`, ...rest(i) }),
  );

const principal = (id: string, ...gps: number[]) =>
  principalOf(
    id,
    gps.map((gp) => `gp-${gp}`),
  );

function principalsOf(model: ReadModel, filter: GpFilter): string[] {
  const { positions, total } = model.select("principal", filter, { limit: 100, offset: 0 });
  assert.equal(total, positions.length);
  return readDocuments<{ name: string }>(model.parts.documents.principal, positions).map(
    ({ name }) => name,
  );
}

test("a record of several GPs is found only where one of them satisfies every part of a filter", async (t) => {
  const model = await modelOf(t, [
    ...manyGps(400, (i) => ({
      tags: i % 2 === 0 ? ["even"] : ["odd"],
      themes: i % 3 === 0 ? ["third"] : ["other"],
      markets: i === 7 ? ["Rare"] : [],
    })),
    principal("both in one", 6),
    principal("each in another", 2, 3),
    principal("both in the second of two", 1, 12),
    principal("neither", 5),
    principal("rare and odd", 7),
    principal("rare in one, even in the other", 7, 8),
    principal("of nobody"),
  ]);
  const both = ["both in one", "both in the second of two"];
  assert.deepEqual(principalsOf(model, { tag: ["even"], theme: ["third"] }), both);
  assert.deepEqual(principalsOf(model, { tag: ["even"], theme: ["third"], gp_name: "fund" }), both);
  assert.deepEqual(
    principalsOf(model, { tag: ["even"], theme: ["third"], gp_name: "fund partners" }),
    both,
  );
  assert.deepEqual(principalsOf(model, { tag: ["even"], market: ["rare"] }), []);
  assert.deepEqual(principalsOf(model, { tag: ["odd"], market: ["rare"] }), [
    "rare and odd",
    "rare in one, even in the other",
  ]);
  assert.deepEqual(principalsOf(model, { tag: ["even"], gp_name: "7" }), []);
  assert.deepEqual(principalsOf(model, { tag: ["even", "odd"], gp_name: "fund 7" }), [
    "rare and odd",
    "rare in one, even in the other",
  ]);
});

test("pages of any size at any offset are parts of the whole list, in its order", async (t) => {
  const model = await modelOf(t, [
    ...manyGps(3000, (i) => ({
      name: i % 3 === 0 ? `Stone ${i}` : i % 3 === 1 ? `Big Stone ${i}` : `Blackstone ${i}`,
      tags: i % 2 === 0 ? ["even"] : ["odd"],
    })),
    ...Array.from({ length: 2500 }, (_, i) => principal(`person ${i}`, i, (i * 7) % 3000)),
  ]);
  for (const filter of [
    { gp_name: "stone" },
    { gp_name: "stone", tag: ["odd"] },
    { tag: ["even"] },
  ])
    for (const kind of ["gp", "principal"] as const) {
      const select = (limit: number, offset: number) =>
        model.select(kind, filter, { limit, offset });
      const whole = select(4000, 0);
      assert.equal(whole.total, whole.positions.length);
      assert.equal(new Set(whole.positions).size, whole.total);
      const { total, positions } = whole;
      for (const offset of [0, 993, 1020, 2047, total - 3, total, total + 5])
        for (const limit of [7, 33, 100]) {
          const expected = { total, positions: positions.slice(offset, offset + limit) };
          assert.deepEqual(select(limit, offset), { ...whole, ...expected });
        }
    }
});
