import assert from "node:assert/strict";
import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Catalogue } from "#datasets/catalogue.ts";
import { changeFacts } from "../support/damage.ts";
import { importRecords, openCurrent, publishVersion, rollBack } from "../support/dataset.ts";
import { day, documents, filesOf, gp, imported, twoGenerations } from "./published.ts";

const factsPath = ({ folder }: Catalogue, version: string) => join(folder, `${version}.json`);
const publish = (catalogue: Catalogue, version: string) =>
  publishVersion(catalogue, { version, nowMilliseconds: day(9) });
const importAgain = (catalogue: Catalogue, id: string) =>
  importRecords(catalogue, [gp(id)], { nowMilliseconds: day(9) });

/** What a disk or an editor may make of the facts, and the words for it. */
const changes: [change: object, words: RegExp][] = [
  [{ sha256: "0".repeat(64) }, /its SHA-256 differs/],
  [
    { built_at: "2036-11-02T03:00:00Z" },
    /"built_at" is "2036-11-02T03:00:00Z" instead of "2026-11-02T/,
  ],
  [{ version: "20261102T030000Z-00000000" }, /"version" is "\S+-00000000" instead of "2026/],
  [{ bytes: 5 }, /it has \d+ bytes instead of 5/],
];

for (const [change, words] of changes)
  test(`a dataset whose facts say ${JSON.stringify(change)} is not published or built upon until they are restored, and the one before is still gone back to`, async (t) => {
    const [catalogue, older, current] = await twoGenerations(t);
    const sound = readFileSync(factsPath(catalogue, current));
    changeFacts(catalogue.folder, current, change);
    const files = filesOf(catalogue);
    await assert.rejects(publish(catalogue, current), words);
    for (const id of ["b", "c"])
      await assert.rejects(importAgain(catalogue, id), { name: "DatasetFault", message: words });
    assert.deepEqual(filesOf(catalogue), files);

    writeFileSync(factsPath(catalogue, current), sound);
    await publish(catalogue, current);
    assert.equal((await importAgain(catalogue, "b")).outcome, "unchanged");
    changeFacts(catalogue.folder, current, change);
    assert.equal((await rollBack(catalogue, day(9))).version, older);
    assert.deepEqual(documents(catalogue, "gp").length, 1);
    assert.equal(openCurrent(catalogue).parts.version, older);
    assert.equal((await importAgain(catalogue, "c")).outcome, "built");
  });

test("without the pointer an import makes anew what the facts kept from being served, and the same again later", async (t) => {
  for (const [change] of changes) {
    const catalogue = await imported(t, [gp("a")]);
    const only = catalogue.currentVersion()!;
    changeFacts(catalogue.folder, only, change);
    rmSync(join(catalogue.folder, "current"));
    const { published } = await importAgain(catalogue, "a");
    assert.ok(published!.version > only);
    assert.equal(published!.built_at, "2026-11-09T03:00:00Z");
    assert.equal(openCurrent(catalogue).parts.version, published!.version);
    assert.equal((await importAgain(catalogue, "a")).outcome, "unchanged");
  }
});

test("facts that are of another dataset, or no facts at all, are a fault that names their file", async (t) => {
  const [catalogue, older, current] = await twoGenerations(t);
  const facts = factsPath(catalogue, current);
  copyFileSync(factsPath(catalogue, older), facts);
  assert.throws(() => catalogue.current(), {
    name: "DatasetFault",
    message: `${facts} does not describe its dataset: "version" is "${older}" instead of "${current}". 'gp-records datasets verify' says how to fix it.`,
  });
  assert.deepEqual(
    catalogue.list().map(({ version }) => version),
    [older],
  );
  assert.equal(catalogue.findReadable(current), null);
  assert.equal(catalogue.findReadable(older)!.version, older);
});

test("the version of an import is later than those there are by their names, whatever their facts say", async (t) => {
  const [catalogue, , newest] = await twoGenerations(t);
  await rollBack(catalogue, day(2));
  changeFacts(catalogue.folder, newest, { built_at: "2036-01-01T00:00:00Z" });
  const { published } = await importRecords(catalogue, [gp("c")], { nowMilliseconds: day(2) });
  assert.equal(published!.built_at, "2026-11-02T03:00:01Z");
});
