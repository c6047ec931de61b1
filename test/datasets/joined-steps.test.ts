import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { test } from "node:test";
import { compareGenerations } from "#datasets/steps.ts";
import { openChangesReader, publicationsSince } from "#datasets/joined-steps.ts";
import { openPublications } from "#datasets/publications.ts";
import { importRecords, keepingSteps, temporaryCatalogue } from "../support/dataset.ts";
import { day, gp, principal } from "./published.ts";

test("a step that is missing is made up by comparing both datasets, and is a gap once one is gone", async (t) => {
  const folder = temporaryCatalogue(t);
  const catalogue = keepingSteps(folder, assert.fail);
  const publish = async (at: number, ...records: unknown[]) =>
    (await importRecords(catalogue, records, { nowMilliseconds: day(at) })).published!.version;
  const first = await publish(1, gp("a", { name: "Alder" }), gp("b"));
  const second = await publish(2, gp("a", { name: "Alder Two" }), gp("c"));
  const third = await publish(3, gp("a", { name: "Alder Three" }));
  const publications = openPublications(folder.folder);
  const listed = publications.list(third);
  publications.write(listed.map((one) => (one.version === second ? { ...one, step: null } : one)));
  const join = async () => {
    const reader = openChangesReader(folder.folder);
    const { changes, gaps } = await reader.join(
      publicationsSince(reader.list(third), first)!,
      () => null,
    );
    const names = reader
      .members(changes)
      .map(({ before, after }) => [before?.["name"], after["name"]]);
    const departed = changes.map(({ places }) => places.at(-1)!.step.departed());
    return {
      changes: changes.map(({ change }, i) => [change, ...names[i]!]),
      gaps: gaps.map(({ version }) => version),
      removedFrom: departed.map((model) => model?.parts.version),
    };
  };
  assert.deepEqual(await join(), {
    changes: [
      ["changed", "Alder", "Alder Three"],
      ["removed", undefined, undefined],
    ],
    gaps: [],
    removedFrom: [second, first],
  });
  rmSync(folder.pathOf(first));
  assert.deepEqual(await join(), {
    changes: [
      ["removed", undefined, undefined],
      ["changed", "Alder Two", "Alder Three"],
    ],
    gaps: [second],
    removedFrom: [second, second],
  });
});

test("a comparison of large datasets comes in slices, and is the same", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const some = Array.from({ length: 1200 }, (_, i) => gp(`g${i}`));
  const publish = async (at: number, records: unknown[]) =>
    (await importRecords(catalogue, records, { nowMilliseconds: day(at) })).published!;
  const first = await publish(1, some);
  const second = await publish(2, [...some.slice(1), gp("new")]);
  using comparison = compareGenerations(
    catalogue.pathOf(first.version),
    catalogue.pathOf(second.version),
  );
  const told = [...comparison.inTurns()];
  assert.ok(told.filter((one) => one === null).length >= 4);
  const changes = told.flatMap((one) => (one === null ? [] : [one.change]));
  assert.deepEqual(changes.toSorted(), ["added", "removed"]);
});

test("a removed record is found as the dataset that last had it finds it, until that is gone", async (t) => {
  const folder = temporaryCatalogue(t);
  const catalogue = keepingSteps(folder, assert.fail);
  const first = [
    gp("a", { markets: ["Dallas"] }),
    gp("b", { markets: ["Reno"] }),
    principal("p", ["a"]),
    principal("q", ["b"]),
  ];
  const { published } = await importRecords(catalogue, first, { nowMilliseconds: day(1) });
  const { published: now } = await importRecords(catalogue, first.slice(0, 2), {
    nowMilliseconds: day(2),
  });
  const reader = openChangesReader(folder.folder);
  const since = publicationsSince(reader.list(now!.version), day(2) - 1)!;
  assert.deepEqual(
    since.map(({ from, version }) => [from, version]),
    [[published!.version, now!.version]],
  );
  const { changes } = await reader.join(since, () => null);
  assert.equal(changes.length, 2);
  const model = changes[0]!.places[0]!.step.departed()!;
  const filter = { market: ["dallas"], id: changes.map(({ id }) => id) };
  const { total } = model.select("principal", filter, { limit: 10, offset: 0 });
  assert.equal(total, 1);
});

test("the publications since a moment begin after the dataset that was current then", () => {
  const of = (version: string, published_at: string, from: string | null) => ({
    version,
    published_at,
    from,
    hash: null,
    step: null,
  });
  const all = [
    of("a", "2026-11-20T03:00:00Z", null),
    of("b", "2026-11-21T03:00:00Z", "a"),
    of("c", "2026-11-22T03:00:00Z", "b"),
  ];
  const told = (since: number | string, listed = all) =>
    publicationsSince(listed, since)?.map(({ version }) => version);
  assert.deepEqual(told(Date.parse("2026-11-21T00:00:00Z")), ["b", "c"]);
  assert.deepEqual(told("b"), ["c"]);
  assert.equal(told("x"), undefined);
  // The first publication replaced nothing; one whose predecessor is no longer listed did.
  assert.deepEqual(told(0), ["b", "c"]);
  assert.deepEqual(told(0, all.slice(1)), ["b", "c"]);
});
