/** Random histories of publications and roll-backs, each followed by a mirror. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type Catalogue, findBefore, openCatalogue } from "#datasets/catalogue.ts";
import { compareGenerations } from "#datasets/steps.ts";
import { openChangesReader, publicationsSince } from "#datasets/joined-steps.ts";
import { openPublications } from "#datasets/publications.ts";
import type { ImportResult } from "#datasets/publish.ts";
import { recordKinds } from "#records/kinds.ts";
import { seededRandom } from "../support/awkward/random.ts";
import { applyStep, emptyMirror, hashOf, linesOf, type Mirror } from "../support/mirror.ts";
import { importRecords, keepingSteps, publishVersion, rollBack } from "../support/dataset.ts";
import { day, gp, principal, project, rows, signal } from "./published.ts";

/** Records of a dataset, read from its file. */
export function recordsOf(catalogue: Catalogue, version: string): Mirror {
  const mirror = emptyMirror();
  for (const kind of recordKinds)
    for (const { id, document } of rows(catalogue, `select id, document from ${kind}`, version))
      mirror[kind].set(id, document);
  return mirror;
}

type PartOf = Parameters<ReturnType<typeof openChangesReader>["join"]>[1];

/**
 * Joins the steps since each earlier publication, and compares the result with both datasets.
 * @returns the number of changes that more than one step made.
 */
async function joinEach(
  { folder, pathOf }: Catalogue,
  now: string,
  partOf: PartOf,
): Promise<number> {
  const reader = openChangesReader(folder);
  const listed = reader.list(now);
  let joined = 0;
  for (const { version } of listed.slice(0, -1)) {
    const since = publicationsSince(listed, version)!;
    const { changes, gaps } = await reader.join(since, partOf);
    using comparison = compareGenerations(pathOf(version), pathOf(now));
    const direct = [...comparison.differences()];
    const told = changes.map(({ change, kind, id, into }) => ({ change, kind, id, into }));
    const sorted = (all: object[]) => all.map((one) => JSON.stringify(one)).toSorted();
    assert.deepEqual({ told: sorted(told), gaps }, { told: sorted(direct), gaps: [] });
    if (since.length > 1) joined += direct.length;
  }
  return joined;
}

/**
 * Publishes random datasets, goes back now and then, and after each publication applies its step to a mirror.
 * @param folder with no dataset yet.
 * @returns what happened, so that a test can make sure that everything did.
 */
async function followHistory(folder: Catalogue, seed: number) {
  const { below } = seededRandom(seed);
  const warnings: string[] = [];
  const catalogue = keepingSteps(folder, (sentence) => warnings.push(sentence));
  const publications = openPublications(folder.folder);
  const happened = { publications: 0, rollBacks: 0, merged: 0, changes: 0, joined: 0 };
  const world = openWorld(below);
  let mirror: Mirror | null = null;
  let version: string | null = null;
  for (let move = 1; happened.publications < 5 && move < 30; move++) {
    const versions = folder.versions();
    let counted: ImportResult["changes"] | null = null;
    if (versions.length > 1 && below(4) === 0) {
      happened.rollBacks++;
      const nowMilliseconds = day(move);
      if (below(2) === 0 && findBefore(folder) !== undefined)
        await rollBack(catalogue, nowMilliseconds);
      else {
        const chosen = versions[below(versions.length)]!;
        await publishVersion(catalogue, { version: chosen, discardsNewer: true, nowMilliseconds });
      }
    } else {
      world.change();
      const options = { nowMilliseconds: day(move), allowsEmpty: true, shrinkPercentMax: 100 };
      // A merged GP that is parted again is refused, as by design; the history goes on.
      const result = await importRecords(catalogue, world.records(), options).catch(() => null);
      if (result?.published == null) continue;
      counted = result.changes;
    }
    const now = folder.currentVersion()!;
    const listed = publications.list(now);
    if (now === version) continue;
    happened.publications++;
    const last = listed.at(-1)!;
    assert.equal(last.version, now);
    assert.equal(last.from, version);
    if (mirror === null) mirror = recordsOf(folder, now);
    else {
      const step: string = readFileSync(publications.stepPath(version!, now), "utf8");
      const before = hashOf(mirror);
      const head = applyStep(mirror, step);
      happened.changes += head["changes"];
      happened.merged += head["counts"].gp.merged;
      const { from, to, from_hash, to_hash } = head;
      assert.deepEqual([from, to, from_hash, to_hash], [version, now, before, hashOf(mirror)]);
      assert.equal(head["changes"], step.trimEnd().split("\n").length - 1);
      // An import counts what it changes; a step, by kind, how both datasets differ.
      const sum = (change: string) =>
        recordKinds.reduce((all, kind) => all + head["counts"][kind][change], 0);
      const differing = [sum("added"), sum("changed"), sum("removed") + sum("merged")];
      if (counted !== null)
        assert.deepEqual([counted.added, counted.updated, counted.removed], differing);
      assert.deepEqual(last.step, { changes: head["changes"], counts: head["counts"] });
      assert.equal(last.hash, head["to_hash"]);
      assert.equal(listed.find((one) => one.version === version)!.hash, before);
    }
    assert.deepEqual(
      linesOf(mirror),
      linesOf(recordsOf(folder, now)),
      `seed ${seed}, move ${move}`,
    );
    const former = rows(
      folder,
      "select former_id, g.id from former_id join gp g on g.id = gp_id",
      now,
    );
    const formerIds = new Map(former.map((row) => [row["former_id"]!, row["id"]!]));
    happened.joined += await joinEach(folder, now, (id) => formerIds.get(id) ?? null);
    version = now;
  }
  assert.deepEqual(warnings, []);
  return happened;
}

/** Follows histories of these seeds, each in a folder of its own. @returns what happened in all of them. */
export async function followHistories(t: TestContext, firstSeed: number, count: number) {
  const all = { publications: 0, rollBacks: 0, merged: 0, changes: 0, joined: 0 };
  for (let seed = firstSeed; seed < firstSeed + count; seed++) {
    const catalogue = openCatalogue(mkdtempSync(join(tmpdir(), "gp-records-history-")));
    const happened = await followHistory(catalogue, seed);
    rmSync(catalogue.folder, { recursive: true });
    for (const key of Object.keys(all) as (keyof typeof all)[]) all[key] += happened[key];
  }
  t.diagnostic(`SEED=${firstSeed} ${JSON.stringify(all)}`);
  return all;
}

/** A source whose records come, change and go, and whose GPs turn out to be one. */
function openWorld(below: (most: number) => number) {
  const gps = new Map<string, { name: string; former: string[]; city: string | null }>();
  const others = new Map<string, unknown>();
  let made = 0;
  const anyOf = <T>(items: readonly T[]): T => items[below(items.length)]!;
  const cities = [null, "Reno", "Zürich", 'Say "hello"', "東京", "line\nbreak"];
  const make = [
    () => void gps.set(`g${++made}`, { name: `GP ${made}`, former: [], city: anyOf(cities) }),
    () => {
      const names = [...gps.keys()];
      const ids = names.length === 0 ? [] : [anyOf(names)];
      const id = `o${++made}`;
      const record = [
        () => principal(id, ids),
        () => signal(id, { gps: ids, amount_usd: below(1e9) }),
        () => project(id, { gps: ids, latitude: below(180) / 7 - 12 }),
      ];
      others.set(id, anyOf(record)());
    },
  ];
  const changes = [
    ...make,
    ...make,
    () => {
      const one = gps.get(anyOf([...gps.keys()]));
      if (one !== undefined) one.name = `renamed ${++made}`;
    },
    () => {
      const one = gps.get(anyOf([...gps.keys()]));
      if (one !== undefined) one.city = anyOf(cities);
    },
    () => void others.delete(anyOf([...others.keys()])),
    () => {
      const names = [...gps.keys()];
      if (names.length < 2) return;
      const gone = names.splice(below(names.length), 1)[0]!;
      const stays = gps.get(anyOf(names))!;
      stays.former.push(gone, ...gps.get(gone)!.former);
      gps.delete(gone);
    },
    () => void gps.delete(anyOf([...gps.keys()])),
  ];
  return {
    change() {
      for (let left = 1 + below(6); left > 0; left--) anyOf(changes)();
    },
    records: () => [
      ...[...gps].map(([id, { name, former, city }]) =>
        gp(id, { name, former_ids: former, hq_city: city ?? undefined }),
      ),
      ...[...others.values()].map((record) => {
        const { gps: links = [], ...rest } = record as { gps?: string[] };
        return { ...rest, gps: links.filter((id) => gps.has(id)) };
      }),
    ],
  };
}
