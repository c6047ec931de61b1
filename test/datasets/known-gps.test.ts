import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Catalogue } from "#datasets/catalogue.ts";
import { mintId } from "#datasets/draft-record.ts";
import type { CanonicalGp, SourceEntry } from "#records/canonical.ts";
import { entriesOf, importRecords, temporaryCatalogue } from "../support/dataset.ts";
import { day, documentOf, gp, namesLedTo, project, rows, signal } from "./published.ts";

const idOf = (key: string, source = "sec") => mintId("gp", source, key);

/** A project of an award list, and the GPs that its row names. */
const award = (id: string, ...names: (string | CanonicalGp)[]): SourceEntry => {
  const named = names.map((name) =>
    typeof name === "string" ? gp(`named:${name.toLowerCase()}`, { name }) : name,
  ) as CanonicalGp[];
  const entry = entriesOf([project(id, { gps: named.map((one) => one.id) })], "awards.csv")[0]!;
  return { ...entry, namedGps: named, known: "sec" };
};

/** Opens a dataset with imports on the first, second, … of the month. */
function workplace(t: TestContext) {
  const catalogue = temporaryCatalogue(t);
  let days = 0;
  const put = async (source: string, entries: SourceEntry[]) => {
    const result = await importRecords(catalogue, [], {
      source,
      entries,
      nowMilliseconds: day(++days),
    });
    assert.equal(result.refusal, null, JSON.stringify(result.collected.rejections.listed));
    return result;
  };
  return {
    catalogue,
    awards: (...entries: SourceEntry[]) => put("awards", entries),
    sec: (...gps: object[]) => put("sec", entriesOf(gps)),
    /** Source `sec` keeps ids by claims. */
    claims: (...gps: [record: object, claims: string[]][]) =>
      put(
        "sec",
        gps.map(([record, claims]) => ({ ...entriesOf([record])[0]!, claims })),
      ),
    put,
    gpsOf: (id: string) => documentOf(catalogue, "project", id)["gps"],
    namesOf: (id: string) =>
      documentOf(catalogue, "project", id)["gps"].map(({ name }: { name: string }) => name),
  };
}

const named = (catalogue: Catalogue) =>
  rows(catalogue, "select id from gp where source = 'awards'");

test("a name that is one GP of the known source becomes a link, whatever its legal form", async (t) => {
  const { catalogue, sec, awards, gpsOf } = workplace(t);
  await sec(gp("a", { name: "Birch Homes, Inc." }), gp("b", { name: "B", legal_name: "Fir LP" }));
  const { linkedNames } = await awards(award("p", "BIRCH HOMES LLC", "Fir"), award("q", "Fir"));
  assert.equal(linkedNames, 2);
  assert.deepEqual(gpsOf("p"), [
    { id: idOf("a"), name: "Birch Homes, Inc." },
    { id: idOf("b"), name: "B" },
  ]);
  assert.deepEqual(named(catalogue), []);
  const { basis, confidence } = documentOf(catalogue, "project", "p")["provenance"];
  assert.deepEqual([basis, confidence], ["named_sponsor", 0.6]);
});

test("a name that several GPs have, or none, stays a GP of its own", async (t) => {
  const { catalogue, sec, awards, namesOf } = workplace(t);
  await sec(gp("a", { name: "Birch LLC" }), gp("b", { name: "Birch Inc." }));
  const { linkedNames } = await awards(award("p", "Birch", "Cedar"));
  assert.equal(linkedNames, 0);
  assert.deepEqual(namesOf("p"), ["Birch", "Cedar"]);
  assert.equal(named(catalogue).length, 2);
  assert.equal(documentOf(catalogue, "project", "p")["provenance"].confidence, 1);
});

test("an external id goes before a name, and is sure", async (t) => {
  const { catalogue, sec, awards, gpsOf } = workplace(t);
  const cik = (id: string) => ({ external_ids: { cik: [id] } });
  await sec(gp("a", { name: "Birch" }), gp("b", { name: "Oak", ...cik("0001900013") }));
  const birch = gp("named:birch", { name: "Birch", ...cik("1900013") }) as CanonicalGp;
  await awards(award("p", birch));
  assert.deepEqual(gpsOf("p"), [{ id: idOf("b"), name: "Oak" }]);
  assert.equal(documentOf(catalogue, "project", "p")["provenance"].confidence, 1);
});

test("a record of any source links to another source's GP by its public id, also by a former one", async (t) => {
  const { sec, put, gpsOf, catalogue } = workplace(t);
  await sec(gp("a"), gp("b"));
  await sec(gp("b", { former_ids: ["a"] }));
  await put("own", [
    ...entriesOf([gp("mine"), project("p", { gps: ["mine", idOf("b"), idOf("a")] })]),
    ...entriesOf([signal("s", { gps: [idOf("a")] })], "more.ndjson"),
  ]);
  const b = documentOf(catalogue, "gp", "b")["id"];
  assert.deepEqual(
    gpsOf("p").map(({ id }: { id: string }) => id),
    [idOf("mine", "own"), b],
  );
  assert.deepEqual(documentOf(catalogue, "signal", "s")["gps"], [{ id: b, name: "b" }]);
});

test("a public id that no GP has is dropped and told, and its record stays", async (t) => {
  const { catalogue, sec, put, gpsOf } = workplace(t);
  await sec(gp("a"));
  const gps = [idOf("gone"), idOf("a")];
  const { changes } = await put("own", entriesOf([project("p", { gps })]));
  assert.deepEqual(changes.unlinked, [
    { source: "own", record: "project", id: "p", gp: idOf("gone") },
  ]);
  assert.deepEqual(gpsOf("p"), [{ id: idOf("a"), name: "a" }]);
  const { outcome } = await importRecords(catalogue, [project("p", { gps })]);
  assert.equal(outcome, "unchanged");
});

test("links follow GPs that become one, and stay through imports of either source", async (t) => {
  const { claims, awards, gpsOf, namesOf, catalogue } = workplace(t);
  await claims([gp("a", { name: "Birch" }), []], [gp("b", { name: "Oak" }), []]);
  await awards(award("p", "Birch"));
  const before = gpsOf("p");
  await claims([gp("c", { name: "Birch Oak" }), ["a", "b"]]);
  assert.notDeepEqual(gpsOf("p"), before);
  assert.deepEqual(namesOf("p"), ["Birch Oak"]);
  const { outcome, changes } = await claims([gp("c", { name: "Birch Oak" }), ["a", "b"]]);
  assert.deepEqual([outcome, changes.unlinked], ["unchanged", []]);
  assert.deepEqual(namesLedTo(catalogue, before[0].id), ["Birch Oak"]);
});

test("the import that removes a GP drops links to it, and says which", async (t) => {
  const { sec, awards, gpsOf, put } = workplace(t);
  await sec(gp("a", { name: "Birch" }), gp("b", { name: "Oak" }));
  await awards(award("p", "Birch", "Cedar"));
  const { changes } = await sec(gp("b", { name: "Oak" }));
  assert.deepEqual(changes.unlinked, [
    { source: "awards", record: "project", id: "p", gp: idOf("a") },
  ]);
  assert.deepEqual(gpsOf("p"), [{ id: idOf("named:cedar", "awards"), name: "Cedar" }]);
  assert.deepEqual((await put("third", entriesOf([gp("x")]))).changes.unlinked, []);
});

test("the id of a named GP leads to the GP that replaces it, and is its own again after that", async (t) => {
  const { catalogue, claims, awards, gpsOf } = workplace(t);
  const own = idOf("named:birch", "awards");
  await awards(award("p", "Birch"));
  assert.deepEqual(gpsOf("p"), [{ id: own, name: "Birch" }]);
  await claims([gp("a", { name: "Birch LLC" }), []]);
  await awards(award("p", "Birch"));
  assert.deepEqual(gpsOf("p"), [{ id: idOf("a"), name: "Birch LLC" }]);
  assert.deepEqual(namesLedTo(catalogue, own), ["Birch LLC"]);
  await claims([gp("a", { name: "Birch LLC" }), []], [gp("b", { name: "Birch Inc." }), []]);
  assert.deepEqual(namesLedTo(catalogue, own), ["Birch LLC"]);
  await awards(award("p", "Birch"));
  assert.deepEqual(gpsOf("p"), [{ id: own, name: "Birch" }]);
  assert.deepEqual(
    [namesLedTo(catalogue, own), namesLedTo(catalogue, idOf("a"))],
    [["Birch"], ["Birch LLC"]],
  );
});

test("a merge links the rows it brings, and leaves the others as they were", async (t) => {
  const { catalogue, sec, awards, gpsOf } = workplace(t);
  await awards(award("p", "Birch"), award("q", "Birch"));
  await sec(gp("a", { name: "Birch LLC" }));
  const own = idOf("named:birch", "awards");
  for (const [id, ids] of [["p", [idOf("a")]], ["q", [own]]] as const) {
    await importRecords(catalogue, [], {
      source: "awards",
      entries: [award("p", "Birch")],
      isMerge: true,
      nowMilliseconds: day(9),
    });
    assert.deepEqual(
      gpsOf(id).map((link: { id: string }) => link.id),
      ids,
    );
  } // oxfmt-ignore
  assert.equal(named(catalogue).length, 1);
});
