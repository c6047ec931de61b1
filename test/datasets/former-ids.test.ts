import assert from "node:assert/strict";
import { test } from "node:test";
import type { Catalogue } from "#datasets/catalogue.ts";
import { mintId } from "#datasets/draft-record.ts";
import { importRecords, openCurrent, rollBack, temporaryCatalogue } from "../support/dataset.ts";
import { day, documents, filesOf, gp, importDaily, imported } from "./published.ts";

const a = mintId("gp", "own", "a");
const b = mintId("gp", "own", "b");
const c = mintId("gp", "own", "c");

/** GP b, which GP a turned out to be. */
const bOnceA = gp("b", { former_ids: ["a"] });

const ids = (catalogue: Catalogue) =>
  Object.fromEntries(documents(catalogue, "gp").map(({ id, former_ids }) => [id, former_ids]));

/** Ids of the GPs that this id leads to. */
function found(catalogue: Catalogue, id: string): string[] {
  const bounds = { limit: 10, offset: 0 };
  const { positions } = openCurrent(catalogue).select("gp", { gp_name: id }, bounds);
  return positions.map((position) => documents(catalogue, "gp")[position]!["id"]);
}

test("when two GPs turn out to be one, the older id stays, and the other stands in former_ids and leads to it", async (t) => {
  for (const formerId of ["a", a]) {
    const catalogue = await imported(
      t,
      [gp("a")],
      [gp("a"), gp("b")],
      [gp("b", { former_ids: [formerId] })],
    );
    assert.deepEqual(ids(catalogue), { [a]: [b] });
    assert.deepEqual([found(catalogue, a), found(catalogue, b)], [[a], [a]]);
  }
});

test("of two GPs equally old the id of the one that stays, stays", async (t) => {
  const catalogue = await imported(t, [gp("a"), gp("b")], [bOnceA]);
  assert.deepEqual(ids(catalogue), { [b]: [a] });
});

test("a former id leads to its GP also after later imports that no longer mention it", async (t) => {
  const catalogue = await imported(
    t,
    [gp("a")],
    [gp("a"), gp("b")],
    [bOnceA],
    [gp("b"), gp("c")],
    [gp("b", { name: "renamed" })],
  );
  assert.deepEqual(ids(catalogue), { [a]: [b] });
  assert.deepEqual([found(catalogue, a), found(catalogue, b)], [[a], [a]]);
});

test("former ids lead through chains of merges to the GP that is left", async (t) => {
  const merges = [
    [bOnceA, gp("c")],
    [gp("c", { former_ids: ["b"] })],
    [gp("c", { name: "renamed" })],
  ];
  const all = [gp("a"), gp("b"), gp("c")];
  const oldestFirst = await imported(t, [gp("a")], [gp("a"), gp("b")], all, ...merges);
  assert.deepEqual(ids(oldestFirst), { [a]: [b, c].toSorted() });
  const youngestFirst = await imported(t, [gp("c")], [gp("c"), gp("b")], all, ...merges);
  assert.deepEqual(ids(youngestFirst), { [c]: [a, b].toSorted() });
  for (const id of [a, b, c]) assert.deepEqual(found(youngestFirst, id), [c]);
});

test("GPs that are one have their one id also when they come back after being left out, under either source id", async (t) => {
  for (const back of ["a", "b"]) {
    const catalogue = await imported(
      t,
      [gp("a")],
      [gp("a"), gp("b")],
      [bOnceA, gp("c")],
      [gp("c")],
      [gp("c"), gp(back)],
    );
    assert.deepEqual(ids(catalogue), { [a]: [b], [c]: [] });
  }
});

test("a source id that gave way to an older one is a name for it still", async (t) => {
  const catalogue = await imported(
    t,
    [gp("a")],
    [gp("a"), gp("b")],
    [bOnceA],
    [gp("c", { former_ids: ["b"] })],
  );
  assert.deepEqual(ids(catalogue), { [a]: [b, c].toSorted() });
});

test("the order of the lines does not decide which id stays", async (t) => {
  const last = [bOnceA, gp("d", { former_ids: ["e", "c"] }), gp("f")];
  const results = [];
  for (const lines of [last, last.toReversed()]) {
    const catalogue = await imported(
      t,
      [gp("a"), gp("c")],
      [..."abcde"].map((id) => gp(id)),
      lines,
    );
    results.push(ids(catalogue));
  }
  assert.deepEqual(results[0], results[1]);
  assert.equal(Object.keys(results[0]!).length, 3);
});

const stillExists = /'a' of source 'own' and 'b' of source 'own'.*still exist/;
const bothClaim = /'[bc]' and '[bc]' of source 'own' both claim the id gp_/;

/** Deliveries, the last of which contradicts itself or what came before. */
const contradictions: [which: string, words: RegExp, ...deliveries: object[][]][] = [
  ["equally old", stillExists, [gp("a"), gp("b")], [gp("a"), bOnceA]],
  ["older than the one that names it", stillExists, [gp("a")], [gp("a"), bOnceA]],
  ["named by its public id", stillExists, [gp("a")], [gp("a"), gp("b", { former_ids: [a] })]],
  ["back after the merge, younger", stillExists, [gp("a"), gp("b")], [bOnceA], [gp("a"), gp("b")]],
  ["back after the merge, older", stillExists, [gp("a")], [bOnceA], [gp("a"), gp("b")]],
  ["claimed by two", bothClaim, [gp("a")], [bOnceA, gp("c", { former_ids: [a] })]],
  ["claimed from one that claims", bothClaim, [gp("a")], [bOnceA, gp("c", { former_ids: ["b"] })]],
];

for (const [which, words, ...deliveries] of contradictions)
  test(`a former id that is still a GP of its own is refused with a clear error, and the old dataset stays: ${which}`, async (t) => {
    for (const last of [deliveries.at(-1)!, deliveries.at(-1)!.toReversed()]) {
      const catalogue = await imported(t, ...deliveries.slice(0, -1));
      const before = filesOf(catalogue);
      const refused = { name: "DatasetFault", message: words };
      await assert.rejects(importRecords(catalogue, last, { nowMilliseconds: day(9) }), refused);
      assert.deepEqual(filesOf(catalogue), before);
    }
  });

test("a former id of another source is refused while that source has it, and leads on when it has not", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const other = (records: object[], dayNumber: number) =>
    importRecords(catalogue, records, { source: "other", nowMilliseconds: day(dayNumber) });
  const x = mintId("gp", "other", "x");
  await importDaily(catalogue, [gp("a")]);
  await other([gp("x"), gp("y")], 2);
  const claims = [gp("a", { former_ids: [x] })];
  await assert.rejects(
    importRecords(catalogue, claims, { nowMilliseconds: day(3) }),
    /'a' of source 'own' and 'x' of source 'other'/,
  );
  await other([gp("y")], 4);
  await importRecords(catalogue, claims, { nowMilliseconds: day(5) });
  assert.deepEqual(ids(catalogue)[a], [x]);
  await other([gp("y", { name: "renamed" })], 6);
  assert.deepEqual(found(catalogue, x), [a]);
  await assert.rejects(
    other([gp("x"), gp("y")], 7),
    /'a' of source 'own' and 'x' of source 'other'/,
  );
});

test("a roll-back parts GPs that had become one", async (t) => {
  const catalogue = await imported(t, [gp("a"), gp("b")], [bOnceA]);
  await rollBack(catalogue, day(3));
  await importRecords(catalogue, [gp("a"), gp("b", { name: "renamed" })], {
    nowMilliseconds: day(4),
  });
  assert.deepEqual(ids(catalogue), { [a]: [], [b]: [] });
});

test("former ids that no GP ever had are accepted, and a GP may name itself", async (t) => {
  const catalogue = await imported(t, [gp("a", { former_ids: ["a", a, "gp_0123456789abcdef"] })]);
  assert.deepEqual(ids(catalogue), { [a]: ["gp_0123456789abcdef"] });
});
