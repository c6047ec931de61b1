import assert from "node:assert/strict";
import { renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { test } from "node:test";
import type { Catalogue } from "#datasets/catalogue.ts";
import { checkGeneration } from "#datasets/check-generations.ts";
import { openGeneration } from "#datasets/open-generation.ts";
import { changeDataset, changeFacts, flipByte } from "../support/damage.ts";
import { gp, imported, twoGenerations } from "./published.ts";

const checkGenerations = (catalogue: Catalogue, readsBack: boolean) =>
  catalogue.versions().map((version) => checkGeneration(catalogue, version, readsBack));
const faults = (catalogue: Catalogue, readsBack = false) =>
  checkGenerations(catalogue, readsBack).map(({ fault }) => fault);

test("sound datasets are listed oldest first, with the one that is served", async (t) => {
  const [catalogue, older, current] = await twoGenerations(t);
  assert.deepEqual(
    [...checkGenerations(catalogue, true)],
    [older, current].map((version) => ({
      version,
      file: catalogue.pathOf(version),
      isCurrent: version === current,
      fault: null,
      mend: null,
    })),
  );
});

const damages: [what: string, damage: (path: string) => void][] = [
  ["one bit is flipped", (path) => flipByte(path, 20_000)],
  ["the file is cut in half", (path) => truncateSync(path, 30_000)],
  ["the file is empty", (path) => truncateSync(path, 0)],
  ["the file is a text", (path) => writeFileSync(path, "no dataset")],
  ["the file is gone", (path) => rmSync(path)],
  ["its facts are gone", (path) => rmSync(path.replace(/sqlite$/, "json"))],
  ["its facts are no JSON", (path) => writeFileSync(path.replace(/sqlite$/, "json"), "{")],
  [
    "its facts are untrue",
    (path) => changeFacts(dirname(path), basename(path, ".sqlite"), { bytes: 5 }),
  ],
];
for (const [what, damage] of damages)
  test(`where ${what}, that dataset alone is at fault, by name, with what mends it`, async (t) => {
    const [catalogue, older, current] = await twoGenerations(t);
    damage(catalogue.pathOf(older));
    const [first, second] = [...checkGenerations(catalogue, false)];
    assert.ok(first!.fault!.includes(join(catalogue.folder, older)), first!.fault!);
    assert.match(
      first!.mend!,
      /^This dataset is not the current one\. Put .* back from a backup, or delete both files\.$/,
    );
    assert.equal(second!.fault, null);

    const [other] = await twoGenerations(t);
    damage(other.pathOf(current));
    const [before, served] = [...checkGenerations(other, false)];
    assert.equal(before!.fault, null);
    assert.match(served!.mend!, /'gp-records datasets rollback'\.$/);
  });

test("a dataset that agrees with its facts is still read back on request", async (t) => {
  const [catalogue, older] = await twoGenerations(t);
  const sql = "update array set bytes = zeroblob(length(bytes)) where name = 'ids.ids.bytes'";
  changeDataset(catalogue, older, sql);
  assert.deepEqual(faults(catalogue), [null, null]);
  assert.match(faults(catalogue, true)[0]!, /the checksum of its index differs/);
});

test("a dataset of another format is no fault unless it is read back, and then reported as such, without advice to restore it", async (t) => {
  const [catalogue, older] = await twoGenerations(t);
  const sql = "update meta set value = '99' where key = 'format_version'; drop table gp";
  changeDataset(catalogue, older, sql);
  assert.deepEqual(faults(catalogue), [null, null]);
  const [first] = [...checkGenerations(catalogue, true)];
  assert.match(
    first!.fault!,
    /has format 99 of a newer version of gp-records; this program reads only format \d+\.$/,
  );
  assert.doesNotMatch(first!.mend!, /backup/);
});

test("datasets can be checked while the pointer names nothing", async (t) => {
  const [catalogue] = await twoGenerations(t);
  writeFileSync(join(catalogue.folder, "current"), "?");
  assert.deepEqual(faults(catalogue), [null, null]);
});

const untrue: [change: object, words: RegExp][] = [
  [{ version: "20261102T030000Z-00000000" }, /"version" is "\S+-00000000" instead of "2026\S+"\.$/],
  [{ built_at: "2036-01-01T00:00:00Z" }, /"built_at" is "2036\S+" instead of "2026\S+"\.$/],
];
for (const [change, words] of untrue)
  test(`where the facts of a sound dataset say ${JSON.stringify(change)}, they are at fault, with what mends them`, async (t) => {
    const [catalogue, , current] = await twoGenerations(t);
    changeFacts(catalogue.folder, current, change);
    const [before, served] = [...checkGenerations(catalogue, false)];
    const facts = join(catalogue.folder, `${current}.json`);
    assert.equal(before!.fault, null);
    assert.ok(served!.fault!.startsWith(`${facts} `), served!.fault!);
    assert.match(served!.fault!, words);
    assert.equal(
      served!.mend,
      `Put ${facts} back from a backup, and run 'gp-records datasets publish ${current}'; or return to the dataset before it with 'gp-records datasets rollback'.`,
    );
  });

test("without a previous dataset nobody is told to roll back", async (t) => {
  const catalogue = await imported(t, [gp("a")]);
  changeFacts(catalogue.folder, catalogue.currentVersion()!, { bytes: 5 });
  const [only] = [...checkGenerations(catalogue, false)];
  const pointer = join(catalogue.folder, "current");
  assert.ok(only!.mend!.endsWith(`; or remove ${pointer} and import every source again.`));
});

test("a dataset that the system does not let us read comes with no advice to delete or replace it", async (t) => {
  const [catalogue, older, current] = await twoGenerations(t);
  const hidden = [join(catalogue.folder, `${older}.json`), catalogue.pathOf(current)];
  // The memory of a process can be opened and its first byte not be read, whoever asks: root may read any file.
  for (const path of hidden) {
    renameSync(path, `${path}.aside`);
    symlinkSync("/proc/self/mem", path);
  }
  const checks = [...checkGenerations(catalogue, true)];
  for (const [place, { fault, mend }] of checks.entries()) {
    assert.ok(fault!.startsWith(`${hidden[place]} could not be read: E`), fault!);
    assert.match(mend!, /^Run gp-records as the user who owns DATA_DIR/);
  }
  assert.throws(
    () => openGeneration(catalogue.pathOf(current)),
    ({ message }: Error) => !/publish|remove/i.test(message) && message.includes(checks[1]!.mend!),
  );
});
