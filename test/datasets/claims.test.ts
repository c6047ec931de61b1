import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Catalogue } from "#datasets/catalogue.ts";
import { mintId } from "#datasets/draft-record.ts";
import { verifyGeneration } from "#datasets/verify.ts";
import type { SourceEntry } from "#records/canonical.ts";
import { seededRandom } from "../support/awkward/random.ts";
import { changeDataset } from "../support/damage.ts";
import { entriesOf, importRecords, temporaryCatalogue } from "../support/dataset.ts";
import { day, documents, filesOf, gp, namesLedTo, principal, rows } from "./published.ts";

const gpId = (key: string) => mintId("gp", "own", key);
const personId = (key: string) => mintId("principal", "own", key);

/** A record with the keys that it claims beside its own. */
type Claiming = readonly [record: object, claims?: readonly string[]];

const entry = ([record, claims = []]: Claiming): SourceEntry => ({
  ...entriesOf([record])[0]!,
  claims,
});

/** Imports of source "own" on the first, second, … of the month. */
async function claimed(t: TestContext, ...deliveries: Claiming[][]): Promise<Catalogue> {
  const catalogue = temporaryCatalogue(t);
  for (const [i, delivery] of deliveries.entries()) await deliver(catalogue, i + 1, delivery);
  return catalogue;
}

const deliver = (catalogue: Catalogue, number: number, delivery: readonly Claiming[]) =>
  importRecords(catalogue, [], { entries: delivery.map(entry), nowMilliseconds: day(number) });

/** Public id of each GP and principal by its key. */
const idsOf = (catalogue: Catalogue): Record<string, string> =>
  Object.fromEntries(
    rows(catalogue, "select source_id, public_id from canonical").map(
      ({ source_id, public_id }) => [source_id, public_id],
    ),
  );

const merged: Claiming = [gp("crd:5", { name: "Oak" }), ["cik:1", "cik:2"]];
const apart: Claiming[] = [[gp("cik:1", { name: "Oak" })], [gp("cik:2", { name: "Ash" })]];

test("when GPs become one under another key, the oldest id stays, and the others lead to it", async (t) => {
  const catalogue = await claimed(t, [apart[1]!], apart, [merged]);
  assert.deepEqual(idsOf(catalogue), { "crd:5": gpId("cik:2") });
  assert.deepEqual(documents(catalogue, "gp")[0]!["former_ids"], [gpId("cik:1")]);
  for (const key of ["cik:1", "cik:2"]) assert.deepEqual(namesLedTo(catalogue, gpId(key)), ["Oak"]);
});

test("a GP that gets a CRD number keeps its id, and so do its people", async (t) => {
  const catalogue = await claimed(
    t,
    [[gp("cik:1")], [principal("cik:1/ada", ["cik:1"])]],
    [
      [gp("crd:5"), ["cik:1"]],
      [principal("crd:5/ada", ["crd:5"]), ["cik:1/ada"]],
    ],
  );
  assert.deepEqual(idsOf(catalogue), {
    "crd:5": gpId("cik:1"),
    "crd:5/ada": personId("cik:1/ada"),
  });
  assert.deepEqual(documents(catalogue, "principal")[0]!["gps"], [
    { id: gpId("cik:1"), name: "crd:5" },
  ]);
});

test("when what was one is parted, each former id goes back to the holder of its key", async (t) => {
  const catalogue = await claimed(
    t,
    apart,
    [merged],
    [[gp("crd:5", { name: "Oak" }), ["cik:1"]], [gp("cik:2", { name: "Ash" })]],
  );
  assert.deepEqual(idsOf(catalogue), { "crd:5": gpId("cik:1"), "cik:2": gpId("cik:2") });
  assert.deepEqual(namesLedTo(catalogue, gpId("cik:2")), ["Ash"]);
  for (const { former_ids } of documents(catalogue, "gp")) assert.deepEqual(former_ids, []);
});

test("a record that was gone has its id when it is back, under any key that it claims", async (t) => {
  const rest: Claiming = [gp("z")];
  const catalogue = await claimed(
    t,
    [[gp("cik:1")], rest],
    [rest],
    [rest, [gp("z2")]],
    [[gp("crd:5"), ["cik:1"]], rest],
  );
  assert.deepEqual(idsOf(catalogue), { "crd:5": gpId("cik:1"), z: gpId("z") });
  const since = rows(catalogue, `select since from published_id where id = '${gpId("cik:1")}'`);
  assert.deepEqual(since, [{ since: "2026-11-01T03:00:00Z" }]);
});

test("a former id that nobody claims leads on to where it led, also through a further merge", async (t) => {
  const catalogue = await claimed(
    t,
    [[gp("cik:0", { name: "Elm" })]],
    [[gp("cik:0", { name: "Elm" })], ...apart],
    [[gp("cik:0", { name: "Elm" })], [gp("cik:1", { name: "Oak" }), ["cik:2"]]],
    [[gp("crd:5", { name: "Elm" }), ["cik:0", "cik:1"]]],
  );
  assert.deepEqual(
    documents(catalogue, "gp")[0]!["former_ids"].toSorted(),
    [gpId("cik:1"), gpId("cik:2")].toSorted(),
  );
  for (const key of ["cik:0", "cik:1", "cik:2"])
    assert.deepEqual(namesLedTo(catalogue, gpId(key)), ["Elm"]);
});

test("a former id of a principal leads on to it, though no record shows it", async (t) => {
  const catalogue = await claimed(
    t,
    [[gp("a")], [principal("x", ["a"], { name: "Ada" })], [principal("y", ["a"], { name: "Bo" })]],
    [[gp("a")], [principal("x", ["a"], { name: "Ada" }), ["y"]]],
  );
  assert.deepEqual(namesLedTo(catalogue, personId("y")), ["Ada"]);
  assert.ok(!("former_ids" in documents(catalogue, "principal")[0]!));
  await importRecords(catalogue, [gp("other")], { source: "other", nowMilliseconds: day(3) });
  assert.deepEqual(namesLedTo(catalogue, personId("y")), ["Ada"]);
});

test("of ids equally old that of the record that is there stays, also when its key changes", async (t) => {
  for (const [stays, goes] of [
    ["cik:1", "cik:2"],
    ["cik:2", "cik:1"],
  ] as const) {
    const catalogue = await claimed(
      t,
      apart,
      [[gp(stays), [goes]]],
      [[gp("crd:5"), ["cik:1", "cik:2"]]],
    );
    assert.deepEqual(idsOf(catalogue), { "crd:5": gpId(stays) });
  }
});

test("the order of entries and of claims decides nothing: ten orders give one hash", async (t) => {
  const before: Claiming[] = [..."abcdef"].map((key) => [gp(key)] as const);
  const after: Claiming[] = [
    [gp("m"), ["a", "b", "c"]],
    [gp("d"), ["e", "n"]],
    [principal("p", ["m"]), ["f", "q"]],
  ];
  const { below } = seededRandom(26);
  const shuffled = <T>(all: readonly T[]) =>
    all
      .map((one) => ({ one, at: below(1e6) }))
      .sort((a, b) => a.at - b.at)
      .map(({ one }) => one);
  const hashes = new Set<string>();
  for (let order = 0; order < 10; order++) {
    const last = shuffled(after).map(([record, claims]): Claiming => [record, shuffled(claims!)]);
    const catalogue = await claimed(t, shuffled(before), last);
    hashes.add(catalogue.current()!.hash);
  }
  assert.equal(hashes.size, 1);
});

test("an import without a change publishes nothing", async (t) => {
  const catalogue = await claimed(t, apart, [merged, [gp("b")]]);
  const before = filesOf(catalogue);
  const { outcome } = await deliver(catalogue, 9, [[gp("b")], merged]);
  assert.equal(outcome, "unchanged");
  assert.deepEqual(filesOf(catalogue), before);
});

test("two records that claim one key are refused as a fault of the importer, and the old dataset stays", async (t) => {
  const catalogue = await claimed(t, [[gp("a")]]);
  const before = filesOf(catalogue);
  for (const [delivery, words] of [
    [
      [
        [gp("a"), ["k"]],
        [gp("b"), ["k"]],
      ],
      /GPs 'a' and 'b' of source 'own' both claim the id gp_/,
    ],
    [[[gp("a"), ["b"]], [gp("b")]], /GPs 'a' and 'b' of source 'own' both claim the id gp_/],
    [
      [
        [principal("p", []), ["k"]],
        [principal("q", []), ["k"]],
      ],
      /Principals 'p' and 'q' of source 'own' both claim the id pr_.*bug in the source's importer/,
    ],
  ] as [Claiming[], RegExp][])
    await assert.rejects(deliver(catalogue, 2, delivery), { name: "DatasetFault", message: words });
  assert.deepEqual(filesOf(catalogue), before);
});

test("a GP and a principal may claim the same key", async (t) => {
  const catalogue = await claimed(t, [
    [gp("a"), ["k"]],
    [principal("b", ["a"]), ["k"]],
  ]);
  assert.equal(documents(catalogue, "gp").length, 1);
});

test("a dataset of a program that knew no claims is built upon: ids of its records and former ids count as published", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const options = (number: number) => ({ nowMilliseconds: day(number) });
  await importRecords(catalogue, [gp("a"), gp("b"), gp("c"), principal("p", ["a"])], options(1));
  const last = [gp("b", { former_ids: ["a"] }), gp("c"), principal("p", ["b"])];
  await importRecords(catalogue, last, options(2));
  const version = catalogue.currentVersion()!;
  changeDataset(catalogue, version, "drop table published_id");
  verifyGeneration(catalogue.pathOf(version));
  await deliver(catalogue, 3, [
    [gp("m"), ["a", "b"]],
    [principal("q", ["m"]), ["p"]],
  ]);
  assert.deepEqual(idsOf(catalogue), { m: gpId("b"), q: personId("p") });
  assert.deepEqual(namesLedTo(catalogue, gpId("a")), ["m"]);
  const kept = rows(catalogue, "select id from published_id").map(({ id }) => id);
  assert.deepEqual(new Set(kept), new Set([gpId("a"), gpId("b"), gpId("c"), personId("p")]));
});

test("ids of a source that claims are kept for good, those of others are not", async (t) => {
  const catalogue = await claimed(t, [[gp("a")], [principal("p", ["a"])]], [[gp("b")]]);
  await importRecords(catalogue, [gp("x")], { source: "other", nowMilliseconds: day(3) });
  await importRecords(catalogue, [gp("b"), gp("d")], { nowMilliseconds: day(4) });
  const kept = rows(catalogue, "select id from published_id").map(({ id }) => id);
  const ids = [gpId("a"), gpId("b"), gpId("d"), personId("p")];
  assert.deepEqual(new Set(kept), new Set(ids));
});
