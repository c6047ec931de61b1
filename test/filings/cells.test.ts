import assert from "node:assert/strict";
import { test } from "node:test";
import {
  accessionIn,
  cik,
  crd,
  date,
  flag,
  formDFile,
  isIndefinite,
  roles,
  text,
  whole,
} from "#filings/cells.ts";

test("text has single spaces and no control characters, and neither a blank nor the word None is text", () => {
  const texts: Record<string, string | null> = {
    "  Over\u00a0$1,000 \t x ": "Over $1,000 x",
    "": null,
    "   ": null,
    None: null,
    " none ": null,
    "None Such LLC": "None Such LLC",
    "a\u0000b": "a b",
    "a\u202eb": "ab",
  };
  for (const [cell, expected] of Object.entries(texts)) assert.equal(text(cell), expected, cell);
  assert.equal(text(undefined), null);
});

test("an e-mail address or phone number in a text is left out, and no other number", () => {
  const cells = [
    "Director, ann@acme.example; tel. (407) 555-0100",
    "+1 407.555.0100",
    "ann@ac\u200bme.example, 40\u00ad7-555-0100",
    "0001900013-26-000001",
    "805-1234567890",
    "021-400013",
    "32801-1234",
    "100 200 300",
  ];
  assert.deepEqual(cells.map(text), ["Director; tel.", "+1", null, ...cells.slice(3)]);
});

test("a text that is longer than any form allows is cut", () => {
  assert.equal(text(" a".repeat(500_000))?.length, 3999);
});

test("a date is read in every spelling of the SEC's files, and a day that does not exist is none", () => {
  const same = [
    "2026-06-30",
    "20260630",
    "30-JUN-2026",
    "30-jun-26 ",
    "06/30/2026",
    "6/30/2026 04:20:33 PM",
    "2026-06-30T00:00:00",
  ];
  for (const one of same) assert.equal(date(one), "2026-06-30", one);
  for (const none of ["31-JUN-2026", "30-XXX-2026", "2026", "", "202606301", null])
    assert.equal(date(none), null);
});

test("an amount is whole dollars, and Indefinite is no amount", () => {
  const amounts = {
    "788172352.00": 788_172_352,
    "2200.50": 2201,
    "$1,234,567": 1_234_567,
    "'   628,902,725.00'": 628_902_725,
    "0": 0,
  };
  for (const [cell, amount] of Object.entries(amounts)) assert.equal(whole(cell), amount, cell);
  for (const none of ["Indefinite", "-5", "1e6", "99999999999999999999", ""])
    assert.equal(whole(none), null, none);
  assert.ok(isIndefinite(" Indefinite "));
  assert.ok(!isIndefinite("10"));
});

test("flags, numbers and relationships are read whatever their padding and case", () => {
  const flags = ["true", "1", "Y", "yes ", "false", "", "N", "0"];
  assert.deepEqual(flags.filter(flag), flags.slice(0, 4));
  for (const same of ["0001900013", "1900013"]) assert.equal(cik(same), "0001900013");
  for (const none of ["x", "00000000000", "12345678901"]) assert.equal(cik(none), null, none);
  assert.deepEqual(["000123", "123 ", "0", "None"].map(crd), ["123", "123", null, null]);
  assert.deepEqual(
    ["021-400013              ", "21-400013", "021-067023", "811-1", ""].map(formDFile),
    ["021-400013", "021-400013", "021-67023", null, null],
  );
  const relations = ["Executive Officer", "DIRECTOR", "", "Owner", null, "Promoter"];
  assert.deepEqual(roles(relations), ["executive_officer", "director", "promoter"]);
});

test("the accession number of a path is the last, with or without dashes", () => {
  assert.equal(accessionIn("edgar/data/1806014/0001140361-20-006155.txt"), "0001140361-20-006155");
  assert.equal(accessionIn("000104216711000159-primary_doc.xml"), "0001042167-11-000159");
  assert.equal(
    accessionIn("0001042167-11-000159/000104216711000160/primary_doc.xml"),
    "0001042167-11-000160",
  );
  assert.equal(accessionIn("primary_doc.xml"), null);
  assert.equal(accessionIn("1000104216711000159"), null);
});
