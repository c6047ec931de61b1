import assert from "node:assert/strict";
import test from "node:test";
import { managerOf, person } from "./form-d.ts";
import { adviserOf, corrected, formD, fundOf, ownerOf, resolved, type World } from "./world.ts";

const alder = "Alder Ridge Capital LLC";
const ada = person("ADA", "MOSS", managerOf(alder));
const [first, second] = ["cik:0000000001", "cik:0000000002"];

/** What the records of a kind claim beside their own keys, by key. */
function claimsOf(kind: string, world: World): Record<string, readonly string[] | undefined> {
  const entries = resolved(world).entries.filter(({ records }) => records[0]!.record === kind);
  return Object.fromEntries(entries.map(({ records, claims }) => [records[0]!.id, claims]));
}

const quarry = (given: Partial<Parameters<typeof formD>[0]> = {}) =>
  formD({ cik: 1, name: "QUARRY APARTMENTS, LLC", address: "x", persons: [ada], ...given });
const mill = (given: Partial<Parameters<typeof formD>[0]> = {}) =>
  formD({ cik: 2, name: "MILL APARTMENTS, LLC", address: "x", persons: [ada], ...given });
const adviser = (owners: readonly ReturnType<typeof ownerOf>[]) => [
  adviserOf("7", alder, { owners, funds: [fundOf("Alder Ridge Real Estate Fund")] }),
];

test("a GP claims the key of each CRD number and of each vehicle", () => {
  assert.deepEqual(claimsOf("gp", { forms: [quarry(), mill()] }), { [first]: [second] });
  assert.deepEqual(claimsOf("gp", { forms: [quarry(), mill()], advisers: [adviser([])] }), {
    "crd:7": [first, second],
  });
});

test("a person claims the key of each vehicle and adviser that names him, in each spelling", () => {
  const spelled = person("JONATHAN", "MOSS", ada.clarification);
  const other = person("JONATHON", "MOSS", ada.clarification);
  const forms = [quarry({ persons: [spelled] }), mill({ persons: [other] })];
  const ofSpelled = claimsOf("principal", { forms })[`${first}/jonathan moss`]!;
  const ofVehicles = ofSpelled.filter((key) => !/\/\d$/.test(key));
  assert.deepEqual(ofVehicles, [`${second}/jonathon moss`]);
  const claims = claimsOf("principal", {
    forms: [quarry()],
    advisers: [adviser([ownerOf("MOSS, ADA", { crd: "55" })])],
  })[`${first}/ada moss`]!;
  assert.ok(claims.includes("crd:7/ada moss"));
  // So that he keeps his id when another of this name appears, or is gone again.
  assert.ok(claims.includes("crd:7/ada moss/55"));
});

test("signals and projects claim nothing", () => {
  for (const kind of ["signal", "project"])
    for (const claims of Object.values(claimsOf(kind, { forms: [quarry()] })))
      assert.equal(claims, undefined);
});

const apart = (accession: string) =>
  corrected({ kind: "personApart", person: `${first}/ada moss`, accessions: [accession] });

test("no key is claimed by two, and all are people: namesakes of one adviser, and those whom a correction parts", () => {
  const again = quarry({ accession: "0000000001-26-000002", type: "D/A" });
  const owners = [ownerOf("MOSS, ADA", { crd: "55" }), ownerOf("MOSS, ADA", { crd: "66" })];
  for (const [world, keys] of [
    [
      { forms: [quarry(), again], corrections: [apart("0000000001-26-000002")] },
      [`${first}/ada moss`, `${first}/ada moss/2`],
    ],
    [
      { forms: [quarry(), mill()], corrections: [apart("0000000002-26-000001")] },
      [`${first}/ada moss`, `${second}/ada moss`],
    ],
    [{ advisers: [adviser(owners)] }, ["crd:7/ada moss/55", "crd:7/ada moss/66"]],
  ] as [World, string[]][]) {
    const claims = claimsOf("principal", world);
    assert.deepEqual(Object.keys(claims).sort(), keys);
    const all = [...Object.keys(claims), ...Object.values(claims).flatMap((some) => some!)];
    assert.equal(new Set(all).size, all.length);
  }
});

test("of two who could claim a key the one with the better link does, then the one with the lower key", () => {
  const owners = ["55", "66"].map((crd) => ownerOf("MOSS, ADA", { crd }));
  const claims = claimsOf("principal", { advisers: [adviser(owners)] });
  assert.deepEqual(claims, { "crd:7/ada moss/55": ["crd:7/ada moss"], "crd:7/ada moss/66": [] });
});

test("a correction meets a person by the public id of any key that he claims", () => {
  const field = corrected({
    kind: "personField",
    person: "pr_crd:7/ada moss",
    field: "email",
    value: "ada@example.com",
  });
  const { all, unmet } = resolved({
    forms: [quarry()],
    advisers: [adviser([ownerOf("MOSS, ADA")])],
    corrections: [field],
  });
  assert.deepEqual(
    all("principal").map(({ id, email }) => [id, email]),
    [[`${first}/ada moss`, "ada@example.com"]],
  );
  assert.equal(unmet.size, 0);
});
