import assert from "node:assert/strict";
import { test } from "node:test";
import { csvEntries, gpMapping } from "./written-file.ts";

test("a row makes one record for each block, linked by their ids", async (t) => {
  const mapping = {
    records: [
      { record: "gp", id: "Crd", fields: { name: "Firm" } },
      {
        record: "principal",
        id: { template: "{Crd}/{Person}" },
        fields: { name: "Person", gps: "Crd" },
      },
    ],
  };
  const [entry] = await csvEntries(t, "Crd,Firm,Person\n7,Acme,Ada Moss\n", mapping);
  assert.deepEqual(entry?.records, [
    { record: "gp", id: "7", name: "Acme" },
    { record: "principal", id: "7/Ada Moss", name: "Ada Moss", gps: ["7"] },
  ]);
});

test("a block with a condition makes its record only where the condition holds", async (t) => {
  const mapping = {
    missing: ["-"],
    records: [
      { record: "gp", when: { column: "Kind", is: ["Firm"] }, id: "Id", fields: { name: "Name" } },
      { record: "signal", when: "Date", id: "Id", fields: { title: "Name", date: "Date" } },
    ],
    named_gps: { names: "Name" },
  };
  const text = "Id,Kind,Name,Date\n1,FIRM,Acme,\n2,Deal,Birch,2031\n3,Deal,Cedar,-\n";
  const entries = await csvEntries(t, text, mapping);
  assert.deepEqual(
    entries.map((entry) => entry.records.map(({ record, id }) => [record, id])),
    [[["gp", "1"]], [["signal", "2"]], []],
  );
  assert.deepEqual(
    entries.map((entry) => entry.namedGps.length),
    [1, 1, 0],
  );
});

test("a row without the columns of its id is rejected", async (t) => {
  const mapping = {
    records: [{ record: "gp", id: { template: "{Id}/{City}" }, fields: { name: "Name" } }],
  };
  const entries = await csvEntries(t, "Id,City,Name\n1,Reno,Acme\n2,,Birch\n", mapping);
  assert.deepEqual(entries[0]?.records[0]?.id, "1/Reno");
  assert.equal(entries[1]?.faults[0]?.field, "id");
});

test("an id may be a folded text, so that its spelling does not matter", async (t) => {
  const mapping = {
    records: [{ record: "gp", id: { column: "Name", fold: true }, fields: { name: "Name" } }],
  };
  const entries = await csvEntries(t, 'Name\n"ACME & CO., L.P."\n—\n', mapping);
  assert.equal(entries[0]?.records[0]?.id, "acme co lp");
  assert.match(entries[1]?.faults[0]?.reason ?? "", /^must hold a letter or a digit/);
});

test("a field that no cell fills is left out", async (t) => {
  const [entry] = await csvEntries(
    t,
    "Id,Name,City\n1,Acme,\n",
    gpMapping({ hq_city: "City", tags: "City" }),
  );
  assert.deepEqual(Object.keys(entry?.records[0] ?? {}), ["record", "id", "name"]);
});
