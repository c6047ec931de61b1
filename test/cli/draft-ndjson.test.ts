import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { draftInWorkers, draftNdjson } from "#cli/draft-ndjson.ts";
import { openCatalogue } from "#datasets/catalogue.ts";
import type { ImportRequest } from "#datasets/publish.ts";
import { ImportFault } from "#importers/import-fault.ts";
import { readNdjson } from "#importers/ndjson.ts";
import { importRecords } from "../support/dataset.ts";
import { writtenFile } from "../importers/written-file.ts";

const sound = Array.from({ length: 3000 }, (_, i) => [
  { record: "signal", id: `s${i}`, title: `Signal ${i} ж`, date: "2026-01-02", gps: [`g${i}`] },
  { record: "gp", id: `g${i}`, name: `GP “${i}”`, tags: ["a", `t${i % 7}`], former_ids: [] },
  { record: "principal", id: `p${i}`, name: `Someone\n${i}`, gps: [`g${i}`, "g0"] },
]).flat();
const faulty = [
  '{"record":"gp","id":"g1","name":"Twice"}',
  '{"record":"gp","id":"x","name":""}',
  '{"record":"principal","id":"y","name":"Y","gps":["nowhere"]}',
  '{"record":"gp","id":"z","name":"A \\u0007 bell"}',
  '{"record":"gp","id":"z","name":"Z","provenance":{"source":"other"}}',
  "",
  "{",
  `{"record":"gp","id":"long","name":"${"x".repeat(1024 * 1024)}"}`,
];

async function importEntries(t: TestContext, entries: ImportRequest["entries"]) {
  const folder = mkdtempSync(join(tmpdir(), "draft-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const { collected, published, changes } = await importRecords(openCatalogue(folder), [], {
    entries,
    rejectedMax: { lines: 100 },
    nowMilliseconds: Date.UTC(2026, 10, 1),
  });
  const { read, accepted, rejections } = collected;
  const { count, listed } = rejections;
  return { read, accepted, rejected: count, listed, changes, hash: published?.hash };
}

test("a dataset is the same whichever threads draft its records, down to the reports of what is refused", async (t) => {
  const lines = sound.map((record) => JSON.stringify(record));
  const text = [...lines.slice(0, 5000), ...faulty, ...lines.slice(5000), '{"record":'].join("\n");
  const files = [writtenFile(t, "1.ndjson", text), writtenFile(t, "2.ndjson", faulty[2]!)];
  const one = await importEntries(t, readNdjson(files));
  assert.equal(one.accepted, sound.length);
  assert.equal(one.rejected, faulty.length + 1);
  assert.deepEqual(await importEntries(t, { blocks: draftNdjson(files, {}, "own") }), one);
  assert.deepEqual(await importEntries(t, { blocks: draftInWorkers(files, {}, "own") }), one);
});

test("a file that cannot be used ends the import with its own fault, after all that came before it", async (t) => {
  const files = [
    writtenFile(t, "1.ndjson", sound.map((record) => `${JSON.stringify(record)}\n`).join("")),
    writtenFile(t, "2.ndjson", new Uint8Array([0x1f, 0x8b, 8, 0])),
  ];
  let entries = 0;
  const read = async () => {
    for await (const block of draftInWorkers(files, {}, "own")) entries += block.entries.length;
  };
  await assert.rejects(read, (error: Error) => {
    assert.ok(error instanceof ImportFault);
    assert.equal(error.file, files[1]);
    return true;
  });
  assert.equal(entries, sound.length);
});
