import assert from "node:assert/strict";
import { test } from "node:test";
import type { Catalogue } from "#datasets/catalogue.ts";
import { importRecords } from "../support/dataset.ts";
import { day, documentOf, gp, imported, principal, project, signal } from "./published.ts";

const onDay = (number: number) => `2026-11-0${number}T03:00:00Z`;
const updatedAt = (catalogue: Catalogue, kind: string, sourceId: string) =>
  documentOf(catalogue, kind, sourceId)["updated_at"];

test("updated_at is the source's if it says one, and a time that it corrects is published, though nothing else has changed", async (t) => {
  const [early, late] = ["2025-01-02T03:04:05.678Z", "2025-01-03T00:00:00Z"];
  const named = (name: string, updated_at: string) => [gp("a", { name, updated_at }), gp("b")];
  const catalogue = await imported(t, named("a", early), named("c", early));
  assert.equal(updatedAt(catalogue, "gp", "a"), early);
  const { changes } = await importRecords(catalogue, named("c", late));
  assert.deepEqual(changes, { added: 0, updated: 1, removed: 0, unlinked: [] });
  assert.equal(updatedAt(catalogue, "gp", "a"), late);
});

test("a source that stops to say a time has changed nothing", async (t) => {
  const stated = "2025-01-02T00:00:00Z";
  const catalogue = await imported(t, [gp("a", { updated_at: stated })]);
  assert.equal((await importRecords(catalogue, [gp("a")])).outcome, "unchanged");
  await importRecords(catalogue, [gp("a"), gp("b")]);
  assert.equal(updatedAt(catalogue, "gp", "a"), stated);
});

test("updated_at is else the time of the import that changed the content; unchanged records keep theirs when others change", async (t) => {
  const [a, p] = [gp("a"), project("p")];
  const changed = gp("b", { website: "https://example.org" });
  const catalogue = await imported(
    t,
    [a, gp("b"), signal("s"), p],
    [a, changed, signal("s"), p],
    [a, changed, signal("s", { title: "t" }), p],
  );
  assert.equal(updatedAt(catalogue, "gp", "a"), onDay(1));
  assert.equal(updatedAt(catalogue, "gp", "b"), onDay(2));
  assert.equal(updatedAt(catalogue, "signal", "s"), onDay(3));
  assert.equal(updatedAt(catalogue, "project", "p"), onDay(1));
});

test("a record that moves to another place in the order has not changed", async (t) => {
  const catalogue = await imported(t, [gp("m"), gp("z")], [gp("a"), gp("m"), gp("z")]);
  assert.equal(updatedAt(catalogue, "gp", "z"), onDay(1));
});

test("a principal's updated_at changes when it inherits another tag, theme or market, or its GP another name", async (t) => {
  for (const change of [
    { tags: ["x"] },
    { themes: ["x"] },
    { markets: ["Reno, NV"] },
    { name: "renamed" },
  ]) {
    const people = [principal("p", ["a"]), principal("q", ["b"])];
    const catalogue = await imported(
      t,
      [gp("a"), gp("b"), ...people],
      [gp("a", change), gp("b"), ...people],
    );
    assert.equal(updatedAt(catalogue, "principal", "p"), onDay(2));
    assert.equal(updatedAt(catalogue, "principal", "q"), onDay(1));
  }
});

test("a signal's or project's updated_at changes with the name of its GP, not with its tags", async (t) => {
  const rest = [signal("s", { gps: ["a"] }), project("p", { gps: ["a"] })];
  const catalogue = await imported(t, [gp("a"), ...rest], [gp("a", { tags: ["x"] }), ...rest]);
  const times = () => [updatedAt(catalogue, "signal", "s"), updatedAt(catalogue, "project", "p")];
  assert.deepEqual(times(), [onDay(1), onDay(1)]);
  await importRecords(catalogue, [gp("a", { name: "b" }), ...rest], { nowMilliseconds: day(3) });
  assert.deepEqual(times(), [onDay(3), onDay(3)]);
});

test("a GP's updated_at is about its own members: what it embeds has times of its own", async (t) => {
  const catalogue = await imported(
    t,
    [gp("a"), principal("p", ["a"]), signal("s", { gps: ["a"] })],
    [
      gp("a"),
      principal("p", ["a"], { title: "Partner" }),
      signal("s", { gps: ["a"] }),
      signal("t", { gps: ["a"] }),
    ],
  );
  assert.equal(updatedAt(catalogue, "gp", "a"), onDay(1));
  assert.equal(updatedAt(catalogue, "principal", "p"), onDay(2));
  assert.equal(updatedAt(catalogue, "signal", "t"), onDay(2));
});

test("a GP's updated_at changes when another becomes one with it", async (t) => {
  const catalogue = await imported(t, [gp("a"), gp("b")], [gp("b", { former_ids: ["a"] })]);
  assert.equal(updatedAt(catalogue, "gp", "b"), onDay(2));
});

test("a time that a source states stays when the content changes with another record, and one it does not state changes", async (t) => {
  const stated = "2025-01-02T00:00:00Z";
  const people = [principal("p", ["a"], { updated_at: stated }), principal("q", ["a"])];
  const catalogue = await imported(
    t,
    [gp("a"), ...people],
    [gp("a", { hq_city: "Reno" }), ...people],
  );
  const options = { isMerge: true, nowMilliseconds: day(3) };
  await importRecords(catalogue, [gp("a", { tags: ["x"] })], options);
  assert.deepEqual(documentOf(catalogue, "principal", "p")["tags"], ["x"]);
  assert.equal(updatedAt(catalogue, "principal", "p"), stated);
  assert.equal(updatedAt(catalogue, "principal", "q"), onDay(3));
});
