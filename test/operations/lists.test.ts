import assert from "node:assert/strict";
import { test } from "node:test";
import { lists } from "#operations/lists.ts";
import { operations } from "#operations/index.ts";
import { canonicalQuery, readQuery } from "#operations/parameters.ts";
import type { ParameterFault } from "#problems/kinds.ts";
import type { Problem } from "#problems.ts";
import { eachOf, recordKinds } from "#records/kinds.ts";
import { readDocuments } from "#search/dataset-parts.ts";
import { filterable } from "#search/read-model.ts";
import { seededRandom } from "../support/awkward/random.ts";
import { modelOf } from "../support/dataset.ts";
import { filledRecords, randomQuery, textOf } from "../support/list-queries.ts";
import { referenceQuery, type Served } from "../support/reference/queries.ts";

for (const kind of recordKinds)
  test(`2,000 random queries for /list-${kind}s return what a look at every record does, in its order`, async (t) => {
    const random = seededRandom(7 + recordKinds.indexOf(kind));
    const model = await modelOf(t, filledRecords(5, random));
    const records = eachOf(recordKinds, (one) => {
      const { documents } = model.parts;
      return readDocuments<Served>(documents[one], [...documents[one].lengths.keys()]);
    });
    const conditions = Object.keys(filterable[kind]);
    const day = model.parts.updatedAt.slice(0, 10);
    let found = 0;
    const used = new Set<string>();
    for (let i = 0; i < 2000; i++) {
      const asked = randomQuery(kind, records, random);
      const bounds = {
        limit: 1 + random.below(12),
        offset: random.chance(0.7) ? 0 : random.below(30),
      };
      const text = textOf(asked, { limit: `${bounds.limit}`, offset: `${bounds.offset}` });
      let query;
      try {
        query = readQuery(lists[kind], text, 100, operations, { day });
      } catch (error) {
        const faults = (error as Problem).members["errors"] as ParameterFault[];
        assert.deepEqual([...new Set(faults.map(({ code }) => code))], ["out_of_order"], text);
        continue;
      }
      const expected = referenceQuery(records, kind, asked, day);
      // A condition that asks for nothing is none.
      const idle = conditions.find((name) => !Object.hasOwn(query.filter, name))!;
      const filter = { ...query.filter, [idle]: random.pick([[], {}, undefined]) };
      const { total, positions } = model.select(kind, filter, query, query.order);
      const ids = readDocuments<Served>(model.parts.documents[kind], positions).map(({ id }) => id);
      const { limit, offset } = bounds;
      assert.deepEqual(
        { total, ids },
        { total: expected.length, ids: expected.slice(offset, offset + limit) },
        text,
      );
      if (total > 0) for (const name of Object.keys(asked)) used.add(name);
      found += total;
      const again = readQuery(lists[kind], canonicalQuery(query), 100, operations, { day });
      assert.deepEqual(again, query, text);
    }
    assert.ok(found > 1000, `${found}`);
    const names = [...Object.keys(lists[kind].filters), "sort"];
    assert.deepEqual(
      names.filter((name) => !used.has(name)),
      [],
      "never found anything",
    );
  });
