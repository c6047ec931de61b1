import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import type { Catalogue } from "#datasets/catalogue.ts";
import { DatasetFault } from "#datasets/dataset-fault.ts";
import { mintId } from "#datasets/draft-record.ts";
import { evidenceColumns, explainPublished, openEvidenceReader } from "#datasets/evidence.ts";
import { verifyGeneration } from "#datasets/verify.ts";
import type { Evidence, SourceEntry } from "#records/canonical.ts";
import { changeDataset, flipByte } from "../support/damage.ts";
import {
  entriesOf,
  type ImportOptions,
  importRecords,
  temporaryCatalogue,
} from "../support/dataset.ts";
import { day, evidenceOf, gp, project, rows } from "./published.ts";

const entry = (record: object, evidence: readonly Evidence[] = []): SourceEntry => ({
  ...entriesOf([record])[0]!,
  evidence,
});

const deliver = (
  catalogue: Catalogue,
  number: number,
  entries: readonly SourceEntry[],
  options: ImportOptions = {},
) => importRecords(catalogue, [], { entries, nowMilliseconds: day(number), ...options });

/** Evidence in the current dataset, by the source's id of each record that has any. */
function kept(catalogue: Catalogue): Record<string, { evidence: any[]; leftOut: number }> {
  using db = new DatabaseSync(catalogue.pathOf(catalogue.currentVersion()!), { readOnly: true });
  const read = openEvidenceReader(db);
  const all = rows(catalogue, "select source_id, public_id from canonical").flatMap(
    ({ source_id, public_id }) => {
      const evidence = read(public_id);
      if (evidence === null) return [];
      const named = evidence.rows.map((row) =>
        Object.fromEntries(row.map((value, i) => [evidenceColumns[i], value])),
      );
      return [[source_id, { evidence: named, leftOut: evidence.leftOut }] as const];
    },
  );
  return Object.fromEntries(all);
}

test("a record's evidence is kept in its order, each document once", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const refused = { is_taken: 0 as const, confidence: 0.3, why: "the firm is a registered agent" };
  await deliver(catalogue, 1, [
    entry(gp("acme"), [evidenceOf(1)]),
    entry(project("quarry"), [evidenceOf(2), evidenceOf(1, refused)]),
    entry(project("oak")),
  ]);
  const { acme, quarry, oak } = kept(catalogue);
  assert.equal(oak, undefined);
  assert.deepEqual(acme?.evidence, [evidenceOf(1)]);
  assert.deepEqual(
    quarry?.evidence.map((one) => [one.number, one.is_taken, one.why]),
    [
      ["a-2", 1, "the filing states its role"],
      ["a-1", 0, "the firm is a registered agent"],
    ],
  );
  assert.equal(rows(catalogue, "select * from evidence_document").length, 2);
});

test("a record keeps 20 rows at most, and the number of the other documents", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const many = Array.from({ length: 24 }, (_, i) => evidenceOf(i));
  const twice = evidenceOf(0, { others: ["a-30", "a-1"] });
  await deliver(catalogue, 1, [entry(gp("acme"), [twice, ...many])]);
  const { evidence, leftOut } = kept(catalogue)["acme"]!;
  assert.equal(evidence.length, 20);
  // Of the 25 documents, 19 have a row: the first has two.
  assert.equal(leftOut, 6);
});

test("texts of evidence are short, and have neither control nor bidirectional characters", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const text = `a\u0007b\u202ec\n${"d".repeat(492)}😀😀😀`;
  await deliver(catalogue, 1, [
    entry(gp("acme"), [evidenceOf(1, { text, why: "x\u2066", filer: "\ud83d" })]),
  ]);
  const [row] = kept(catalogue)["acme"]!.evidence;
  assert.equal(row!.text, `a b c ${"d".repeat(492)}…`);
  assert.deepEqual([row!.why, row!.filer], ["x", "\ufffd"]);
});

test("evidence lies outside the hash: where it alone differs, nothing is published", async (t) => {
  const [without, catalogue] = [temporaryCatalogue(t), temporaryCatalogue(t)];
  const hashes = [
    await deliver(without, 1, [entry(gp("acme"))]),
    await deliver(catalogue, 1, [entry(gp("acme"), [evidenceOf(1)])]),
  ].map(({ published }) => published!.hash);
  assert.equal(hashes[0], hashes[1]);
  const again = await deliver(catalogue, 2, [entry(gp("acme"), [evidenceOf(2)])]);
  assert.equal(again.outcome, "unchanged");
  assert.equal(kept(catalogue)["acme"]!.evidence[0]!.number, "a-1");
});

test("evidence is carried on when another source is imported, and goes with its record", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const many = Array.from({ length: 23 }, (_, i) => evidenceOf(i));
  await deliver(catalogue, 1, [entry(gp("acme"), many), entry(project("quarry"), [evidenceOf(1)])]);
  const before = kept(catalogue);
  await deliver(catalogue, 2, [entry(gp("other"))], { source: "another" });
  assert.deepEqual(kept(catalogue), before);
  await deliver(catalogue, 3, [entry(gp("acme"), [evidenceOf(9)])]);
  assert.deepEqual(Object.keys(kept(catalogue)), ["acme"]);
  assert.equal(kept(catalogue)["acme"]!.evidence[0]!.number, "a-9");
  await deliver(catalogue, 4, [entry(gp("beech"))]);
  assert.deepEqual(kept(catalogue), {});
  assert.deepEqual(rows(catalogue, "select * from evidence_document"), []);
});

test("an import that merges replaces the evidence of what it delivers, and keeps the rest", async (t) => {
  const catalogue = temporaryCatalogue(t);
  await deliver(catalogue, 1, [
    entry(gp("acme"), [evidenceOf(1)]),
    entry(gp("oak"), [evidenceOf(2)]),
  ]);
  await deliver(catalogue, 2, [entry(gp("oak", { name: "Oak" }), [evidenceOf(3)])], {
    isMerge: true,
  });
  const { acme, oak } = kept(catalogue);
  const numbers = [acme!, oak!].map(({ evidence }) => evidence.map(({ number }) => number));
  assert.deepEqual(numbers, [["a-1"], ["a-3"]]);
});

test("a dataset whose evidence is of no record, or was changed, is damaged", async (t) => {
  for (const [sql, fault] of [
    [
      "update evidence set record = 'gp_0000000000000000'",
      /evidence for gp_0000000000000000, which does not exist/,
    ],
    [
      "insert into evidence_of values ('gp_0000000000000000', 3, 0)",
      /evidence for gp_0000000000000000/,
    ],
    ["update evidence_of set documents_left_out = 3", /evidence of gp_\w+ does not match/],
    ["update evidence set text = 'Manager of Nobody'", /evidence of gp_\w+ does not match/],
    ["update evidence_document set url = null", /evidence of gp_\w+ does not match/],
    ["delete from evidence_document", /evidence of gp_\w+ does not match/],
  ] as const) {
    const catalogue = temporaryCatalogue(t);
    const { published } = await deliver(catalogue, 1, [entry(gp("acme"), [evidenceOf(1)])]);
    changeDataset(catalogue, published!.version, sql);
    assert.throws(() => verifyGeneration(catalogue.pathOf(published!.version)), fault);
  }
});

test("a flipped bit of a dataset leaves an explanation as it was, or is refused, and never explains otherwise", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const record = project("quarry", { provenance: { basis: "sponsor_text", confidence: 0.9 } });
  const evidence = [evidenceOf(1), evidenceOf(2, { is_taken: 0, others: ["a-3"] })];
  await deliver(catalogue, 1, [entry(record, evidence), entry(gp("acme"), [evidenceOf(3)])]);
  const generation = catalogue.find(catalogue.currentVersion()!)!;
  const path = catalogue.pathOf(generation.version);
  const id = mintId("project", "own", "quarry");
  const explain = () => explainPublished(path, generation, id);
  const sound = explain();
  assert.equal(sound!.evidence.length, 2);
  const outcomes = { same: 0, refused: 0, missing: 0 };
  const written = Array.from(readFileSync(path).entries()).filter(([, byte]) => byte !== 0);
  for (const [offset] of written.filter((_, i) => i % 5 === 0)) {
    flipByte(path, offset);
    try {
      const told = explain();
      if (told !== null) assert.deepEqual(told, sound, `byte ${offset}`);
      outcomes[told === null ? "missing" : "same"]++;
    } catch (error) {
      if (!(error instanceof DatasetFault)) throw error;
      assert.match(error.message, /^The dataset .+datasets publish VERSION/s);
      outcomes.refused++;
    }
    flipByte(path, offset);
  }
  assert.ok(outcomes.same > 0 && outcomes.refused > 0, JSON.stringify(outcomes));
});

test("a dataset without the tables, as an older program makes it, has no evidence and is sound", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const { published } = await deliver(catalogue, 1, [entry(gp("acme"), [evidenceOf(1)])]);
  const drop = "drop table evidence; drop table evidence_document; drop table evidence_of";
  changeDataset(catalogue, published!.version, drop);
  verifyGeneration(catalogue.pathOf(published!.version));
  assert.deepEqual(kept(catalogue), {});
  await deliver(catalogue, 2, [entry(gp("other"))], { source: "another" });
  assert.deepEqual(kept(catalogue), {});
});
