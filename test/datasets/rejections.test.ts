import assert from "node:assert/strict";
import { test } from "node:test";
import { entriesOf, importRecords, temporaryCatalogue } from "../support/dataset.ts";
import { documents, gp, importEntries, principal } from "./published.ts";

test("an id that stands twice is rejected with both lines, whether the records are equal or not, and the first stays", async (t) => {
  for (const second of [gp("a"), gp("a", { name: "again" })]) {
    const catalogue = temporaryCatalogue(t);
    const entries = [
      ...entriesOf([gp("a"), principal("a", [])], "one.ndjson"),
      ...entriesOf([gp("b"), second], "two.ndjson"),
    ];
    const { collected } = await importEntries(catalogue, entries, { lines: 1 });
    assert.deepEqual(collected.rejections.listed, [
      {
        file: "two.ndjson",
        line: 2,
        field: "id",
        reason: "'a' is also the id of the gp at one.ndjson:1",
        count: 1,
      },
    ]);
    const names = documents(catalogue, "gp").map(({ name }) => name);
    assert.deepEqual(names, ["a", "b"]);
  }
});

test("an id twice in one row is a repeated id", async (t) => {
  const [entry] = entriesOf([gp("a")]);
  const entries = [{ ...entry!, records: [...entry!.records, ...entry!.records] }];
  const { collected } = await importEntries(temporaryCatalogue(t), entries);
  assert.equal(
    collected.rejections.listed[0]!.reason,
    "'a' is also the id of the gp at records.ndjson:1",
  );
});

test("a record of no kind there is has its line rejected, whatever stands in the place of the kind", async (t) => {
  const kinds = ["fund", "__proto__", "constructor", null, 7, ["gp"], undefined];
  const strange = kinds.map((record) => ({ ...gp("b"), record }));
  const { collected } = await importEntries(
    temporaryCatalogue(t),
    entriesOf([gp("a"), ...strange]),
    { lines: kinds.length },
  );
  assert.equal(collected.accepted, 1);
  assert.deepEqual(
    collected.rejections.listed.map(({ line, field }) => `${line} ${field}`),
    kinds.map((_, i) => `${i + 2} record`),
  );
});

test("the id of a rejected line is free", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const records = [gp("a", { aum_usd: -1 }), gp("a", { name: "right" })];
  const { collected } = await importRecords(catalogue, records, { rejectedMax: { lines: 1 } });
  assert.equal(collected.rejections.count, 1);
  assert.equal(documents(catalogue, "gp")[0]!["name"], "right");
});

test("a record that claims another source is rejected", async (t) => {
  const records = [gp("a", { provenance: { source: "sec" } })];
  const { collected } = await importRecords(temporaryCatalogue(t), records);
  assert.equal(collected.rejections.listed[0]!.field, "provenance.source");
});

test("all faults of a line are listed, however many, and the line counts once", async (t) => {
  const names = Array.from({ length: 30 }, (_, i) => `member_${i}`);
  const unknown = Object.fromEntries(names.map((name) => [name, 1]));
  for (const wrong of [{ aum_usd: -1, website: "ftp://x", founded_year: 1 }, unknown]) {
    const { collected } = await importRecords(temporaryCatalogue(t), [gp("a", wrong)]);
    assert.equal(collected.rejections.count, 1);
    const fields = collected.rejections.listed.map(({ field }) => field);
    assert.deepEqual(fields.toSorted(), Object.keys(wrong).toSorted());
  }
});

test("what the importer could not read is rejected with its reason", async (t) => {
  const entries = entriesOf([gp("a")]).map((entry) => ({
    ...entry,
    records: [],
    faults: [{ field: "line", reason: "is not JSON" }],
  }));
  const { collected } = await importEntries(temporaryCatalogue(t), entries);
  assert.deepEqual(collected.rejections.listed, [
    { file: "records.ndjson", line: 1, field: "line", reason: "is not JSON", count: 1 },
  ]);
});
