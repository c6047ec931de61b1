/** Names of GPs, and the hosts made from them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { someSpecialty } from "#demo/gps.ts";
import { hostOf, inventLegalName, inventName } from "#demo/names.ts";
import { startRandom } from "#demo/random.ts";

const random = startRandom(1, "test");
const names = Array.from({ length: 20_000 }, () => inventName(random, someSpecialty(random)));

test("a host is one label that DNS allows, below example", () => {
  for (const name of names)
    assert.match(hostOf(name), /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.example$/);
});

test("a host drops accents and apostrophes", () => {
  const host = (latin: string, country: string) =>
    hostOf({ name: latin, stem: latin, latin, country });
  assert.equal(host("O'Malley & Hale Realty", "US"), "omalley-hale-realty.example");
  assert.equal(host("Société São Müller", "FR"), "societe-sao-muller.example");
});

test("a name of another script has its Latin spelling in the legal name", () => {
  const others = names.filter(({ name, latin }) => name !== latin);
  assert.ok(others.length > 10);
  for (const other of others)
    assert.match(inventLegalName(random, other) ?? "A b, LLC", /^[A-Z][A-Za-z .,]+$/);
});

test("a name of a sector belongs to a GP of the sector", () => {
  for (let count = 0; count < 5000; count++) {
    const specialty = someSpecialty(random);
    const { name } = inventName(random, specialty);
    if (/ Self Storage /.test(name)) assert.deepEqual(specialty.main, ["self_storage"]);
    if (/ Logistics /.test(name)) assert.deepEqual(specialty.main, ["industrial"]);
  }
});
