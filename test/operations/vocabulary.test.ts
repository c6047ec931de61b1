import assert from "node:assert/strict";
import { test } from "node:test";
import { vocabularyOf } from "#operations/vocabulary.ts";
import type { CanonicalRecord } from "#records/canonical.ts";
import { closedLists } from "#records/vocabulary.ts";
import { facetNames } from "#search/dataset-parts.ts";
import { awkwardRecords } from "../support/awkward.ts";
import { cast } from "../support/cast.ts";
import { modelOf } from "../support/dataset.ts";
import { fold } from "../support/reference.ts";

const page = { limit: 1, offset: 0 };

for (const [what, records] of [
  ["the cast", cast as unknown as readonly CanonicalRecord[]],
  ["awkward records", awkwardRecords(11, { gps: 80, principals: 0, signals: 0, projects: 0 })],
] as const)
  test(`each value of ${what} has as many GPs as a search by it alone finds, and so has what every GP carries`, async (t) => {
    const model = await modelOf(t, records);
    const { data } = vocabularyOf(model);
    for (const facet of facetNames) {
      const values = data[`${facet}s`];
      assert.ok(values.length > 0, facet);
      for (const { value, gps_total: total, spellings } of values) {
        const found = model.select("gp", { [facet]: [value] }, page).total;
        assert.equal(total, found, `${facet} ${value}`);
        for (const spelling of spellings)
          assert.ok(model.select("gp", { [facet]: [spelling] }, page).total >= total, spelling);
      }
      const listed = new Set(values.map(({ value }) => fold(value)));
      assert.equal(listed.size, values.length, "each value once");
      const counts = values.map(({ gps_total: total }) => total);
      assert.deepEqual(
        counts,
        counts.toSorted((a, b) => b - a),
      );
    }
    const listed = (facet: keyof typeof data) =>
      new Set(data[facet].map((one) => fold("value" in one ? one.value : "")));
    const carried = (members: readonly string[]) =>
      records
        .filter(({ record }) => record === "gp")
        .flatMap((gp) =>
          members.flatMap(
            (member) => ((gp as Record<string, unknown>)[member] as string[] | undefined) ?? [],
          ),
        )
        .map(fold)
        .filter((folded) => folded !== "");
    assert.deepEqual(
      listed("tags"),
      new Set(carried(["tags", "strategies", "property_types"]).toSorted()),
    );
    assert.deepEqual(listed("themes"), new Set(carried(["themes"])));
    assert.deepEqual(listed("markets"), new Set(carried(["markets"])));
  });

test("a market stands under its whole title, with every other spelling that finds it", async (t) => {
  const { data } = vocabularyOf(await modelOf(t, cast));
  assert.deepEqual(data.markets.slice(0, 2), [
    {
      value: "Dallas-Fort Worth-Arlington, TX",
      gps_total: 2,
      spellings: [
        "Dallas-Fort Worth-Arlington",
        "Dallas",
        "Fort Worth",
        "Arlington",
        "Dallas, TX",
        "Fort Worth, TX",
        "Arlington, TX",
      ],
    },
    { value: "Asia-Pacific", gps_total: 1, spellings: [] },
  ]);
});

test("every closed list is in it with a sentence for each value, and the members that use it", async (t) => {
  const { data } = vocabularyOf(await modelOf(t, cast));
  assert.deepEqual(
    data.enums
      .map(({ values }) => Object.fromEntries(values.map(({ value, meaning }) => [value, meaning])))
      .toSorted(byText),
    Object.values(closedLists).toSorted(byText),
  );
  for (const { members, values } of data.enums) {
    assert.ok(members.length > 0);
    for (const { meaning } of values) assert.match(meaning, /^[A-Z0-9].+\.$/);
  }
  const strategies = data.enums.find(({ members }) => members.includes("gp.strategies"))!;
  assert.deepEqual(strategies.members, ["gp.strategies", "project.strategy"]);
});

const byText = (a: unknown, b: unknown) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
