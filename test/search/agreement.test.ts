import assert from "node:assert/strict";
import { test } from "node:test";
import { mintId } from "#datasets/draft-record.ts";
import { operations } from "#operations/index.ts";
import { answer } from "#operations/page.ts";
import { readQuery } from "#operations/parameters.ts";
import { awkwardQueries, awkwardRecords } from "../support/awkward.ts";
import { modelOf } from "../support/dataset.ts";
import { type PublicIdOf, referenceAnswer, type ReferenceQuery } from "../support/reference.ts";

interface Body {
  data: {
    id: string;
    principals: { id: string }[];
    principals_total: number;
    signals: { id: string }[];
    signals_total: number;
  }[];
  pagination: { total: number };
  meta: { hints: { code: string; parameter: string | null; suggestions: string[] }[] };
}

const publicIdOf: PublicIdOf = (kind, id) => mintId(kind, "own", id);

for (const seed of [1, 2, 3])
  test(`answers agree with the plain reference on random awkward records and 200 queries of seed ${seed}`, async (t) => {
    const counts = { gps: 150, principals: 120, signals: 120, projects: 60 };
    const records = awkwardRecords(seed, counts);
    const model = await modelOf(t, records);
    const gps = records.filter((record) => record.record === "gp");
    const formerIds = new Map(
      gps.map((gp) => [
        gp.id,
        (gp.former_ids ?? []).map((id) =>
          /^gp_[0-9a-z]{16}$/.test(id) ? id : publicIdOf("gp", id),
        ),
      ]),
    );
    const ids = gps.slice(0, 20).map(({ id }) => publicIdOf("gp", id));
    const queries = awkwardQueries(seed, records, 200, ids);
    assert.equal(queries.length, 200);
    for (const query of queries) {
      const operation = operations.find(({ name }) => name === query.operation)!;
      const read = readQuery(operation, textOf(query), 100, operations);
      const body = JSON.parse(answer(operation, model, read).body.toString()) as Body;
      const expected = referenceAnswer(
        records,
        inQueryOrder(query),
        publicIdOf,
        (id) => formerIds.get(id) ?? [],
      );
      const asked = `seed ${seed}: ${JSON.stringify(query)}`;
      assert.deepEqual(simplified(body, query), expected, asked);
    }
  });

/** Values of one parameter are taken once each and in one order, so that one question has one answer. */
function inQueryOrder(query: ReferenceQuery): ReferenceQuery {
  const tidy = { ...query };
  for (const facet of ["tag", "theme", "market"] as const) {
    const values = query[facet];
    if (values !== undefined)
      tidy[facet] = [...new Set(values.map((value) => value.normalize()))].toSorted();
  }
  return tidy;
}

function textOf(query: ReferenceQuery): string {
  const { operation: _, ...parameters } = query;
  const text = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters))
    for (const one of [value].flat()) text.append(name, String(one));
  return text.toString();
}

const idsIn = (records: readonly { id: string }[]) => records.map(({ id }) => id);

function simplified({ data, pagination, meta }: Body, query: ReferenceQuery) {
  return {
    total: pagination.total,
    ids: idsIn(data),
    ...(query.operation === "fetch-gp" && {
      embedded: data.map(({ principals, principals_total, signals, signals_total }) => ({
        principals: idsIn(principals),
        principals_total,
        signals: idsIn(signals),
        signals_total,
      })),
    }),
    hints: meta.hints.map(({ code, parameter, suggestions }) => ({ code, parameter, suggestions })),
  };
}
