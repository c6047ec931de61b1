import assert from "node:assert/strict";
import { hash } from "node:crypto";
import {
  appendFileSync,
  copyFileSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import type { Catalogue } from "#datasets/catalogue.ts";
import { DatasetFault } from "#datasets/dataset-fault.ts";
import { loadGeneration } from "#datasets/served.ts";
import { arraysIn } from "#datasets/stored-arrays.ts";
import type { DatasetParts } from "#search/dataset-parts.ts";
import { seededRandom } from "../support/awkward/random.ts";
import { cast } from "../support/cast.ts";
import { changeDatabase } from "../support/damage.ts";
import { importRecords, temporaryCatalogue } from "../support/dataset.ts";
import { filesOf, gp, imported } from "./published.ts";

const currentPath = (catalogue: Catalogue) => catalogue.pathOf(catalogue.currentVersion()!);
const load = (catalogue: Catalogue) => loadGeneration(currentPath(catalogue), catalogue.current()!);

test("load refuses a file in which anything that is served was changed, another format and another fold", async (t) => {
  const catalogue = await imported(t, cast);
  const path = currentPath(catalogue);
  const sound = readFileSync(path);
  for (const [sql, words] of [
    ["update signal set document = replace(document, '2026', '2027')", /its documents differs/],
    ["delete from project where position = 1", /its documents differs/],
    ["update project set document = document || ' ' where position = 1", /are longer than/],
    ["update principal set position = 99 where position = 0", /its documents differs/],
    ["update array set bytes = zeroblob(length(bytes)) where rowid = 9", /its index differs/],
    ["update array set element = 'u8' where name = 'ids.gpOfId'", /its index differs/],
    ["update array set name = name || 's' where rowid = 20", /its index differs/],
    ["delete from array where rowid = (select max(rowid) from array)", /its index differs/],
    ["update array set rowid = 999 where rowid = 5", /its index differs/],
    ["update meta set value = '00000000' where key = 'index_crc32'", /its index differs/],
    [
      "update meta set value = '2020-01-01T00:00:00Z' where key = 'built_at'",
      /it is dataset 2026\S+, built at 2020-01-01T00:00:00Z/,
    ],
    [
      "update meta set value = replace(value, '2026', '2025') where key = 'version'",
      /it is dataset 2025\S+, built at 2026/,
    ],
    ["drop table array", /no such table/],
    ["update meta set value = '9' where key = 'format_version'", /has format 9/],
    ["update meta set value = '9' where key = 'fold_version'", /folded by rule 9 \(fold_version\)/],
  ] as const) {
    changeDatabase(path, sql);
    const expected = { ...catalogue.current()!, bytes: statSync(path).size };
    const refused = { name: "DatasetFault", message: words };
    assert.throws(() => loadGeneration(path, expected), refused);
    writeFileSync(path, sound);
  }
});

test("of 200 flipped bytes none changes what is served: load refuses the file, or reads what was written", async (t) => {
  const catalogue = await imported(t, cast);
  const path = currentPath(catalogue);
  const sound = readFileSync(path);
  const written = servedBytes(load(catalogue));
  const random = seededRandom(13);
  let refused = 0;
  for (let i = 0; i < 200; i++) {
    const damaged = Buffer.from(sound);
    damaged[random.below(sound.length)]! ^= 1 + random.below(255);
    writeFileSync(path, damaged);
    try {
      assert.deepEqual(servedBytes(load(catalogue)), written);
    } catch (error) {
      assert.ok(error instanceof DatasetFault, String(error));
      refused++;
    }
  }
  assert.ok(refused > 10 && refused < 200, `${refused} were refused`);
});

/** All that an answer is made from, as text that can be compared. */
const servedBytes = (parts: DatasetParts) => [
  parts.version,
  parts.updatedAt,
  ...Array.from(arraysIn(parts), ({ name, bytes }) => `${name} ${hash("sha1", bytes)}`),
];

test("load refuses a file of another size, and an import builds on no file but the published one, so that damage is not carried over", async (t) => {
  for (const [damage, isOfOtherSize] of [
    [(path: string) => appendFileSync(path, "\n"), true],
    [(path: string) => truncateSync(path, 8192), true],
    [(path: string) => truncateSync(path, 0), true],
    [(path: string) => changeDatabase(path, "update source set imported_at = 'x'"), false],
  ] as const) {
    const catalogue = temporaryCatalogue(t);
    await importRecords(catalogue, cast, { source: "other" });
    const sound = `${catalogue.folder}/sound`;
    const path = currentPath(catalogue);
    copyFileSync(path, sound);
    damage(path);
    const before = filesOf(catalogue);
    const ofSize = /is not the file that was published: it has \d+ bytes instead/;
    const refused = { name: "DatasetFault", message: ofSize };
    if (isOfOtherSize) assert.throws(() => load(catalogue), refused);
    await assert.rejects(importRecords(catalogue, [gp("a")]), DatasetFault);
    assert.deepEqual(filesOf(catalogue), before);
    copyFileSync(sound, path);
    assert.equal((await importRecords(catalogue, [gp("a")])).outcome, "built");
  }
});

test("the worker that loads a dataset does without the schemas, which take longer to start than it takes to load", () => {
  const reached = new Set<string>();
  const visit = (path: string) => {
    if (reached.has(path)) return;
    reached.add(path);
    const code = readFileSync(path, "utf8");
    for (const [, target] of code.matchAll(
      /^(?:import|\} from|export)(?! type)[^"]*"([#.][^"]+)";$/gm,
    ))
      visit(target!.startsWith("#") ? target!.replace("#", "src/") : join(dirname(path), target!));
  };
  visit("src/datasets/load-worker.ts");
  assert.ok(reached.has("src/datasets/served.ts") && reached.has("src/search/dataset-parts.ts"));
  assert.ok(!reached.has("src/records/canonical.ts"));
});
