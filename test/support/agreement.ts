/** Compares the service's answers with the plain reference on random records and queries. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { mintId } from "#datasets/draft-record.ts";
import { formats } from "#operations/formats.ts";
import { operations } from "#operations/index.ts";
import { readQuery } from "#operations/parameters.ts";
import type { CanonicalRecord } from "#records/canonical.ts";
import { type AwkwardCounts, awkwardQueries, awkwardRecords } from "./awkward.ts";
import { importRecords, openCurrent, temporaryCatalogue } from "./dataset.ts";
import { referenceAnswer, type ReferenceQuery } from "./reference.ts";
import { filledCells, readTable, rowOf } from "./tables.ts";

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

/** @returns how many queries were compared. */
export async function compareWithReference(
  t: TestContext,
  seed: number,
  counts: AwkwardCounts,
  queryCount: number,
): Promise<number> {
  const records = awkwardRecords(seed, counts);
  const catalogue = temporaryCatalogue(t);
  const result = await importRecords(catalogue, records);
  assert.equal(
    result.outcome,
    "built",
    JSON.stringify(result.collected.rejections.listed.slice(0, 3)),
  );
  const model = openCurrent(catalogue);
  const publicIdOf = memoise((kind: CanonicalRecord["record"], id: string) =>
    mintId(kind, "own", id),
  );
  const formerIds = new Map(
    records
      .filter((record) => record.record === "gp")
      .map((gp) => [
        gp.id,
        (gp.former_ids ?? []).map((id) =>
          /^gp_[0-9a-z]{16}$/.test(id) ? id : publicIdOf("gp", id),
        ),
      ]),
  );
  const ids = records
    .filter(({ record }) => record === "gp")
    .slice(0, 20)
    .map(({ id }) => publicIdOf("gp", id));
  const queries = awkwardQueries(seed, records, queryCount, ids);
  for (const query of queries) {
    const operation = operations.find(({ name }) => name === query.operation)!;
    const [json, lines, table] = formats.map(({ write }) =>
      write(operation, model, readQuery(operation, textOf(query), 100, operations)),
    );
    const body = JSON.parse(json!.body.toString()) as Body;
    const expected = referenceAnswer(
      records,
      inQueryOrder(query),
      publicIdOf,
      (id) => formerIds.get(id) ?? [],
    );
    const asked = `seed ${seed}: ${JSON.stringify(query)}`;
    assert.deepEqual(simplified(body, query), expected, asked);
    assert.equal(
      lines!.body.toString(),
      body.data.map((record) => `${JSON.stringify(record)}\n`).join(""),
      asked,
    );
    assert.deepEqual(
      readTable(table!.body.toString()).rows,
      body.data.map((record) => filledCells(rowOf(record))),
      asked,
    );
    assert.deepEqual([lines!.total, table!.total], [expected.total, expected.total], asked);
  }
  return queries.length;
}

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

function memoise<A extends string[]>(work: (...args: A) => string): (...args: A) => string {
  const known = new Map<string, string>();
  return (...args) => {
    const key = args.join("\n");
    const value = known.get(key) ?? work(...args);
    known.set(key, value);
    return value;
  };
}
