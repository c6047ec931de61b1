import assert from "node:assert/strict";
import { test } from "node:test";
import { readWebAddress } from "#importers/compile-mapping.ts";
import { Unreadable } from "#importers/import-fault.ts";

const read: [text: string, address: string][] = [
  ["HTTP://WWW.ACME.EXAMPLE", "http://www.acme.example"],
  ["HTTPS://ACME.EXAMPLE/About?ID=A", "https://acme.example/About?ID=A"],
  ["https://acme.example/", "https://acme.example/"],
  ["www.acme.example", "http://www.acme.example"],
  ["acme.example/Team", "http://acme.example/Team"],
  ["http://bücher.example:8080", "http://bücher.example:8080"],
];
for (const [text, address] of read)
  test(`${text} is ${address}: capitals change only where they mean nothing`, () => {
    assert.equal(readWebAddress(text), address);
  });

for (const text of [
  "NONE",
  "SEE BROCHURE",
  "ftp://acme.example",
  "javascript:alert(1)",
  "http://",
  "http://localhost",
  "jane@acme.example",
  "http://acme..example",
  "http://user:word@acme.example",
  "http://acme.example/a b",
])
  test(`${JSON.stringify(text)} is no web address`, () => {
    assert.ok(readWebAddress(text) instanceof Unreadable);
  });
