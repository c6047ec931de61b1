/** The demo as a source: whole, valid, linked, the same for the same seed. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { type DemoSize, inventRecords } from "#demo/invent.ts";
import { checkRecord } from "#records/check-record.ts";
import { entries, gps, principals, projects, records, signals } from "./invented.ts";

const small: DemoSize = { seed: 7, gps: 300, principals: 500, signals: 400, projects: 200 };

function digest(size: DemoSize): string {
  const hash = createHash("sha256");
  for (const entry of inventRecords(size)) hash.update(JSON.stringify(entry));
  return hash.digest("hex");
}

test("the demo has 12,000 GPs, 25,000 principals, 8,000 projects and 20,000 signals", () => {
  assert.equal(gps.length, 12_000);
  assert.equal(principals.length, 25_000);
  assert.equal(projects.length, 8_000);
  assert.equal(signals.length, 20_000);
  assert.equal(records.length, 65_000);
});

test("each entry holds one record without a fault, lines running from 1", () => {
  entries.forEach((entry, at) => {
    assert.equal(entry.file, "demo");
    assert.equal(entry.line, at + 1);
    assert.equal(entry.records.length, 1);
    assert.deepEqual(entry.namedGps, []);
    assert.deepEqual(entry.faults, []);
  });
});

test("every one of the records may be published", () => {
  for (const record of records) {
    const faults = checkRecord(record);
    assert.deepEqual(faults, [], JSON.stringify(record));
  }
});

test("the same seed invents the same records, byte for byte", () => {
  assert.equal(digest(small), digest({ ...small }));
});

test("another seed invents other records", () => {
  assert.notEqual(digest(small), digest({ ...small, seed: 8 }));
});

test("inventing twice in turns gives each the whole of its records", () => {
  const alone = [...inventRecords(small)];
  const first = inventRecords(small);
  const second = inventRecords(small);
  for (const entry of alone) {
    assert.deepEqual(first.next().value, entry);
    assert.deepEqual(second.next().value, entry);
  }
});

test("a larger demo begins with the GPs of a smaller one", () => {
  const larger = inventRecords({ ...small, gps: 400, signals: 10 });
  const expected = [...inventRecords(small)].slice(0, small.gps);
  for (const entry of expected) assert.deepEqual(larger.next().value, entry);
});

test("no two records of a kind have the same id", () => {
  for (const kind of [gps, principals, projects, signals])
    assert.equal(new Set(kind.map(({ id }) => id)).size, kind.length);
});

test("every link names a record that came before", () => {
  const seen = new Set<string>();
  for (const record of records) {
    if (record.record !== "gp") for (const id of record.gps ?? []) assert.ok(seen.has(id), id);
    if (record.record === "signal")
      for (const id of record.project_ids ?? []) assert.ok(seen.has(id), id);
    seen.add(record.id);
  }
});

test("no record names one GP twice", () => {
  for (const { gps: links = [] } of [...principals, ...projects, ...signals])
    assert.equal(new Set(links).size, links.length);
});

test("without GPs the other records stand alone", () => {
  const alone = [...inventRecords({ ...small, gps: 0 })].flatMap((entry) => entry.records);
  assert.equal(alone.length, 1100);
  for (const record of alone) {
    assert.deepEqual(checkRecord(record), []);
    if (record.record !== "gp") assert.deepEqual(record.gps, []);
  }
});

test("one GP alone gets all records and is never its own neighbour", () => {
  const [gp, ...others] = [...inventRecords({ ...small, gps: 1 })].flatMap((one) => one.records);
  for (const record of others)
    if (record.record !== "gp" && record.gps?.length !== 0) assert.deepEqual(record.gps, [gp?.id]);
});
