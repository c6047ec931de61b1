import assert from "node:assert/strict";
import { test } from "node:test";
import { csvEntries } from "./written-file.ts";

const mapping = (named: object, fields: object = {}) => ({
  missing: ["TBD"],
  records: [{ record: "project", id: "Id", fields: { name: "Id", ...fields } }],
  named_gps: { names: { columns: ["Lead", "Co"] }, ...named },
});

const provenance = { basis: "named_sponsor", confidence: 0.5 };

test("a name makes one GP however it is cased and punctuated, under its first spelling", async (t) => {
  const text = 'Id,Lead,Co\n1,"Bluefin Homes, Inc.",Birch\n2,BLUEFIN HOMES INC,\n3,Birch,BIRCH.\n';
  const entries = await csvEntries(t, text, mapping({}));
  const bluefin = {
    record: "gp",
    id: "named:bluefin homes inc",
    name: "Bluefin Homes, Inc.",
    provenance,
  };
  const birch = { record: "gp", id: "named:birch", name: "Birch", provenance };
  assert.deepEqual(
    entries.map((entry) => entry.namedGps),
    [[bluefin, birch], [bluefin], [birch]],
  );
  assert.deepEqual(
    entries.map((entry) => Reflect.get(entry.records[0] as object, "gps")),
    [[bluefin.id, birch.id], [bluefin.id], [birch.id]],
  );
});

test("blank cells and words for nobody make no GP and no link", async (t) => {
  const names = { columns: ["Lead", "Co"], missing: ["Developer not yet selected"] };
  const entries = await csvEntries(
    t,
    "Id,Lead,Co\n1,Developer NOT yet selected,tbd\n2,,\n",
    mapping({ names }),
  );
  for (const entry of entries) {
    assert.deepEqual(entry.namedGps, []);
    assert.deepEqual(entry.records, [
      { record: "project", id: String(entry.line - 1), name: String(entry.line - 1) },
    ]);
  }
});

test("a cell may name several GPs, and another spelling stays findable as an alias", async (t) => {
  const names = {
    columns: ["Lead", "Co"],
    separator: ";",
    values: {
      "Birch / Cedar": ["Birch", "Cedar Co"],
      "The Cedar Company": "Cedar Co",
      "CEDAR CO.": "Cedar Co",
    },
    otherwise: "keep",
  };
  const [entry] = await csvEntries(
    t,
    "Id,Lead,Co\n1,Birch / Cedar,Alder; The Cedar Company\n",
    mapping({ names }),
  );
  assert.deepEqual(
    entry?.namedGps.map(({ name, aliases }) => [name, aliases]),
    [
      ["Birch", undefined],
      ["Cedar Co", ["The Cedar Company"]],
      ["Alder", undefined],
    ],
  );
});

test("links by id come first, GPs only named after them", async (t) => {
  const [entry] = await csvEntries(
    t,
    "Id,Lead,Co\n1,Birch,g7\n",
    mapping({ names: "Lead" }, { gps: "Co" }),
  );
  assert.deepEqual(Reflect.get(entry?.records[0] as object, "gps"), ["g7", "named:birch"]);
});

test("the mapping says how sure it is and what else all of them share", async (t) => {
  const constants = { markets: ["Reno, NV"], provenance: { url: "https://example.org/list" } };
  const [entry] = await csvEntries(
    t,
    "Id,Lead,Co\n1,Birch,\n",
    mapping({ confidence: 0.3, constants }),
  );
  assert.deepEqual(entry?.namedGps, [
    {
      record: "gp",
      id: "named:birch",
      name: "Birch",
      markets: ["Reno, NV"],
      provenance: { basis: "named_sponsor", confidence: 0.3, url: "https://example.org/list" },
    },
  ]);
});

test("a name without a letter or digit rejects its row", async (t) => {
  const [entry] = await csvEntries(t, "Id,Lead,Co\n1,—,\n", mapping({}));
  assert.deepEqual(entry?.faults, [
    { field: "gps", reason: "must hold a letter or a digit, not only —", isOfCell: true },
  ]);
});
