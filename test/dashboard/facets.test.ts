import assert from "node:assert/strict";
import { test } from "node:test";
import { facetsOf } from "#dashboard/components/facets.ts";
import { type View, viewHref, viewOf } from "#dashboard/components/view.ts";
import { Problem } from "#problems.ts";
import { eachOf, recordKinds } from "#records/kinds.ts";
import { readDocuments } from "#search/dataset-parts.ts";
import { seededRandom } from "../support/awkward/random.ts";
import { modelOf } from "../support/dataset.ts";
import { filledRecords, randomQuery, textOf } from "../support/list-queries.ts";
import { referenceQuery, type Served } from "../support/reference/queries.ts";

for (const kind of recordKinds)
  test(`in 50 random views of every ${kind}, each facet number is what its link gives`, async (t) => {
    const random = seededRandom(70 + recordKinds.indexOf(kind));
    const model = await modelOf(t, filledRecords(6, random));
    const records = eachOf(recordKinds, (one) => {
      const { documents } = model.parts;
      return readDocuments<Served>(documents[one], [...documents[one].lengths.keys()]);
    });
    const day = model.parts.updatedAt.slice(0, 10);
    const readAt = (href: string) => viewOf(model, kind, new URLSearchParams(href));
    const viewAt = (href: string) => {
      const view = readAt(href);
      assert.ok(!(view instanceof Problem), href);
      return view;
    };
    /** Numbers of the records that a view has, by the read model and by looking at every record. */
    const totals = ({ query }: View) => ({
      selected: model.select(kind, query.filter, { limit: 0, offset: 0 }).total,
      expected: referenceQuery(records, kind, query.values, day).length,
    });
    const seen = { chosen: 0, adds: 0, remains: 0, none: 0 };
    let next = "";
    for (let views = 0; views < 50;) {
      const read: View | Problem = readAt(next);
      if (read instanceof Problem) {
        next = textOf(randomQuery(kind, records, random), {});
        continue;
      }
      const view: View = read;
      views++;
      const { selected, expected } = totals(view);
      assert.equal(selected, expected, viewHref(view));
      const facets = facetsOf(view);
      // Either somebody clicks on, or another view is opened.
      const links = facets.flatMap(({ rows }) => rows.flatMap(({ href }) => href ?? []));
      next =
        random.chance(0.6) && links.length > 0
          ? random.pick(links)
          : textOf(randomQuery(kind, records, random), {});
      for (const { name, filters, rows } of facets)
        for (const { label, state, count, href } of rows) {
          const about = `${viewHref(view)} ${name} ${label}`;
          if (href === null) {
            assert.equal(count, 0, about);
            seen.none++;
            continue;
          }
          const after = viewAt(href);
          const { selected, expected } = totals(after);
          assert.equal(selected, expected, about);
          if (state === "chosen") {
            const [filter] = filters;
            const left = after.query.values[filter!] ?? [];
            const only = view.query.values[filter!]!.filter((value) => !left.includes(value));
            const values = { ...view.query.values, [filter!]: only };
            assert.equal(only.length, 1, about);
            assert.equal(count, totals(viewAt(viewHref(view, { values }))).expected, about);
          } else {
            const before = state === "adds" ? totals(view).expected : 0;
            assert.equal(count, expected - before, about);
            assert.ok(count > 0, about);
          }
          seen[state]++;
        }
    }
    for (const [state, number] of Object.entries(seen))
      assert.ok(number > 20, `${state} ${number}`);
  });

test("a tag is left out of the facet of tags only where a facet of its own has it", async (t) => {
  const model = await modelOf(t, [
    { record: "gp", id: "a", name: "Acme", tags: ["multifamily", "family_office"] },
    { record: "principal", id: "b", name: "Ann", gps: ["a"] },
  ]);
  const countTags = (kind: "gp" | "principal") => {
    const view = viewOf(model, kind, new URLSearchParams());
    assert.ok(!(view instanceof Problem));
    return facetsOf(view).find(({ name }) => name === "tag")?.rows.length;
  };
  assert.equal(countTags("gp"), 1);
  assert.equal(countTags("principal"), 2);
});
