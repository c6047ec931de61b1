import assert from "node:assert/strict";
import { test } from "node:test";
import { cast } from "../support/cast.ts";
import { entriesOf, importRecords, temporaryCatalogue } from "../support/dataset.ts";
import {
  day,
  documents,
  filesOf,
  gp,
  importDaily,
  imported,
  importEntries,
  principal,
  rows,
  signal,
} from "./published.ts";

const rich = [
  gp("a", {
    description: null,
    tags: [..."xyabcdefghijklmnopqrst"],
    aliases: ["Ä", "B"],
    external_ids: { cik: ["1", "2"], crd: ["3"] },
    provenance: { basis: "cluster", confidence: 0.5 },
  }),
  principal("p", ["a"], { roles: ["owner", "director"] }),
  signal("s", { gps: ["a"], amount_usd: 0 }),
];

const reversedMembers = (record: object): object =>
  Object.fromEntries(
    Object.entries(record)
      .toReversed()
      .map(([name, value]) => [
        name,
        typeof value === "object" && value !== null && !Array.isArray(value)
          ? reversedMembers(value)
          : value,
      ]),
  );
const withoutNulls = (record: object) =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null));
const unknown: Record<string, object> = {
  gp: {
    legal_name: null,
    aum_usd: null,
    provenance: { basis: "cluster", confidence: 0.5, url: null },
  },
  principal: { title: null, ownership_band: null },
  signal: { summary: null, amount_basis: null },
};
const doubled = (list: string[]) => [...list, ...list];
const repeated = (record: any) => ({
  ...record,
  ...(record.tags && { tags: doubled(record.tags), aliases: doubled(record.aliases) }),
  ...(record.gps && { gps: doubled(record.gps) }),
  ...(record.external_ids && { external_ids: { cik: ["1", "2", "1"], crd: ["3", "3"], lei: [] } }),
});

const sameContent: Record<string, object[]> = {
  "the same lines": rich,
  "lines in another order": rich.toReversed(),
  "members in another order": rich.map(reversedMembers),
  "members left out that were null": rich.map(withoutNulls),
  "nulls instead of absent members": rich.map((record) => ({
    ...record,
    ...unknown[record.record],
  })),
  "repeated list entries": rich.map(repeated),
  "empty lists instead of absent members": [
    { ...rich[0], themes: [], former_ids: [] },
    rich[1]!,
    { ...rich[2], tags: [], project_ids: [] },
  ],
  "the source's own name in provenance": rich.map((record: any) => ({
    ...record,
    provenance: { ...record.provenance, source: "own", url: null },
  })),
};

test("an import that changes nothing publishes nothing, however its content is written", async (t) => {
  const catalogue = await imported(t, rich);
  const before = filesOf(catalogue);
  for (const [which, records] of Object.entries(sameContent)) {
    const result = await importRecords(catalogue, records, { nowMilliseconds: day(2) });
    assert.equal(result.outcome, "unchanged", JSON.stringify(result.collected.rejections.listed));
    assert.deepEqual(result.changes, { added: 0, updated: 0, removed: 0, unlinked: [] }, which);
    assert.equal(result.published, null);
    assert.deepEqual(filesOf(catalogue), before, which);
  }
});

test("the same input gives the same hash at another time, in another order, in another folder, and after another one", async (t) => {
  const [one, other] = [temporaryCatalogue(t), temporaryCatalogue(t)];
  await importDaily(one, cast, rich, cast);
  const { published } = await importRecords(other, cast.toReversed(), { nowMilliseconds: day(20) });
  assert.ok(published!.version.endsWith(`-${published!.hash.slice(0, 8)}`));
  const [first, second, third] = one.list();
  assert.deepEqual([first!.hash, third!.hash], [published!.hash, published!.hash]);
  assert.notEqual(second!.hash, published!.hash);
  assert.notEqual(third!.version, first!.version);
});

test("a change of any record is a change of the hash", async (t) => {
  const hashOf = async (records: readonly unknown[]) =>
    (await importRecords(temporaryCatalogue(t), records)).published!.hash;
  const changed = [
    rich.slice(0, 2),
    rich.with(0, gp("a")),
    rich.with(1, principal("p", [])),
    rich.with(2, signal("s", { gps: ["a"], amount_usd: 1 })),
  ];
  const hashes = await Promise.all([rich, ...changed].map(hashOf));
  assert.equal(new Set(hashes).size, hashes.length);
});

test("a source is replaced, and other sources are carried over byte for byte", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const others = `select * from canonical where source <> 'own' order by source, kind, source_id`;
  const documentsOfOthers = () =>
    ["gp", "principal", "signal", "project"].map((kind) =>
      rows(
        catalogue,
        `select id, since, content_hash, updated_at, own_length, document from ${kind}
         where source <> 'own' order by position`,
      ),
    );
  await importRecords(catalogue, cast, { source: "left", nowMilliseconds: day(1) });
  await importRecords(catalogue, rich, { source: "right", nowMilliseconds: day(2) });
  const before = [rows(catalogue, others), documentsOfOthers()];
  await importDaily(catalogue, rich, [gp("b")]);
  assert.deepEqual([rows(catalogue, others), documentsOfOthers()], before);
  assert.deepEqual(rows(catalogue, "select source_id from canonical where source = 'own'"), [
    { source_id: "b" },
  ]);
  assert.deepEqual(rows(catalogue, "select name from source"), [
    { name: "left" },
    { name: "own" },
    { name: "right" },
  ]);
});

test("an import of invented records leaves the real ones alone", async (t) => {
  const catalogue = await imported(t, rich);
  const { changes } = await importRecords(catalogue, [gp("invented")], { source: "demo" });
  assert.deepEqual(changes, { added: 1, updated: 0, removed: 0, unlinked: [] });
  const names = documents(catalogue, "gp").map(({ name }) => name);
  assert.deepEqual(names, ["a", "invented"]);
});

test("a dry run tells what would change and changes nothing on disk", async (t) => {
  for (const before of [[], [gp("a"), gp("b")]]) {
    const catalogue = temporaryCatalogue(t);
    if (before.length > 0) await importDaily(catalogue, before);
    const files = filesOf(catalogue);
    const records = [gp("b", { name: "renamed" }), gp("c"), signal("s")];
    const result = await importRecords(catalogue, records, { isDryRun: true });
    assert.deepEqual(filesOf(catalogue), files);
    assert.equal(result.published, null);
    assert.deepEqual(result.records, { gp: 2, principal: 0, signal: 1, project: 0 });
    const isFirst = before.length === 0;
    assert.deepEqual(
      result.changes,
      isFirst
        ? { added: 3, updated: 0, removed: 0, unlinked: [] }
        : { added: 2, updated: 1, removed: 1, unlinked: [] },
    );
  }
});

test("nothing is published and no draft is left when the entries break off half-way", async (t) => {
  for (const before of [[], [gp("a")]]) {
    const catalogue = temporaryCatalogue(t);
    if (before.length > 0) await importDaily(catalogue, before);
    const files = filesOf(catalogue);
    async function* entries() {
      yield* entriesOf([gp("b"), gp("c")]);
      throw new Error("the file ends here");
    }
    await assert.rejects(importEntries(catalogue, entries()), /the file ends here/);
    assert.deepEqual(filesOf(catalogue), files);
  }
});
