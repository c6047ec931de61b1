import assert from "node:assert/strict";
import { test } from "node:test";
import { fold } from "#records/fold.ts";
import { readDocuments } from "#search/documents.ts";
import {
  type ListedKind,
  listedKinds,
  type ListingFilter,
  openListings,
  projectDates,
} from "#search/listings.ts";
import { spellingsOfMarket } from "#search/market-spellings.ts";
import type { ReadModel } from "#search/read-model.ts";
import { awkwardRecords } from "../support/awkward.ts";
import { seededRandom } from "../support/awkward/random.ts";
import { cast } from "../support/cast.ts";
import { modelOf } from "../support/dataset.ts";

const everything = { limit: 1000, offset: 0 };
const noPause = () => {};

interface Listed {
  id: string;
  tags: string[];
  themes: string[];
  markets?: string[];
  market?: string | null;
  strategies?: string[];
  strategy?: string | null;
  property_types?: string[];
  property_type?: string;
  type?: string;
  status?: string;
  date?: string;
  gps?: { id: string }[];
  [date: string]: unknown;
}

const all = (model: ReadModel, kind: ListedKind): Listed[] => {
  const documents = model.parts.documents[kind];
  return readDocuments<Listed>(
    documents,
    Array.from(documents.lengths, (_, i) => i),
  );
};

const anyOf = (
  asked: readonly string[] | undefined,
  carried: readonly (string | null | undefined)[],
) =>
  asked === undefined ||
  asked.length === 0 ||
  asked.some((one) => carried.some((other) => fold(other ?? "") === fold(one) && fold(one) !== ""));

const marketsOf = (titles: readonly (string | null | undefined)[]) =>
  titles.flatMap((title) =>
    title == null ? [] : spellingsOfMarket(title).map(({ shown }) => shown),
  );

/** Compares what is given of two dates, as far as both are given. */
const isBefore = (one: string, other: string) => {
  const length = Math.min(one.length, other.length);
  return one.slice(0, length) < other.slice(0, length);
};

const isBetween = (dates: readonly unknown[], { since, until }: ListingFilter) =>
  (since === undefined && until === undefined) ||
  dates.some(
    (date) =>
      typeof date === "string" &&
      (since === undefined || !isBefore(date, since)) &&
      (until === undefined || !isBefore(until, date)),
  );

/** The list worked out the plain way. */
function expected(model: ReadModel, kind: ListedKind, filter: ListingFilter): string[] {
  const named =
    filter.name === undefined
      ? null
      : new Set(
          readDocuments<{ id: string }>(
            model.parts.documents.gp,
            model.selectGps({ name: filter.name }, everything).positions,
          ).map(({ id }) => id),
        );
  const signals = all(model, "signal");
  const satisfies = (record: Listed) => {
    const types = record.property_types ?? [record.property_type];
    const dates =
      kind === "gp"
        ? signals
            .filter(({ gps }) => gps!.some(({ id }) => id === record.id))
            .map(({ date }) => date)
        : [kind === "signal" ? record.date : record[filter.dateOf ?? "start_date"]];
    return (
      anyOf(filter.tag, [...record.tags, ...types, ...(record.strategies ?? [record.strategy])]) &&
      anyOf(filter.theme, record.themes) &&
      anyOf(filter.market, marketsOf(record.markets ?? [record.market])) &&
      anyOf(filter.propertyTypes, types) &&
      anyOf(filter.types, [record.type]) &&
      anyOf(filter.statuses, [record.status]) &&
      isBetween(dates, filter) &&
      (named === null || (record.gps ?? [record]).some(({ id }) => named.has(id)))
    );
  };
  const found = all(model, kind)
    .filter(satisfies)
    .map(({ id }) => id);
  if (kind !== "gp" || filter.name === undefined) return found;
  // With a name GPs stand in the order of their rank.
  const order = model.selectGps({ name: filter.name }, everything).positions;
  const ranked = readDocuments<{ id: string }>(model.parts.documents.gp, order).map(({ id }) => id);
  return ranked.filter((id) => found.includes(id));
}

for (const [what, records] of [
  ["the cast", cast],
  ["awkward records", awkwardRecords(11, { gps: 60, principals: 5, signals: 120, projects: 80 })],
] as const)
  test(`a list of ${what} holds what a plain look at every record finds, in the same order`, async (t) => {
    const model = await modelOf(t, records);
    const listings = await openListings(model.parts, noPause);
    const random = seededRandom(5);
    const { pick } = random;
    const maybe = <T>(value: () => T): T | undefined =>
      random.below(4) === 0 ? value() : undefined;
    const sometimes = (values: readonly (string | null | undefined)[]) =>
      maybe(() => [
        pick(values) ?? "none",
        ...(random.below(3) === 0 ? [pick(values) ?? "none"] : []),
      ]);
    for (const kind of listedKinds) {
      const known = all(model, kind);
      const days = all(model, "signal").flatMap(({ date }) => date ?? []);
      const names = all(model, "gp").map(({ name }) => String(name).split(" ")[0]!);
      for (let i = 0; i < 150; i++) {
        const record = pick(known);
        const filter: ListingFilter = {
          name: maybe(() => pick(names)),
          tag: sometimes([...record.tags, ...(record.property_types ?? [record.property_type])]),
          theme: sometimes(record.themes),
          market: sometimes(marketsOf(record.markets ?? [record.market])),
          propertyTypes: sometimes(record.property_types ?? [record.property_type]),
          ...(kind !== "gp" && { types: sometimes([record.type]) }),
          ...(kind === "project" && {
            statuses: sometimes([record.status]),
            dateOf: pick(projectDates),
          }),
          since: maybe(() => pick(days).slice(0, pick([4, 7, 10]))),
          until: maybe(() => pick(days).slice(0, pick([4, 7, 10]))),
        };
        const ids = expected(model, kind, filter);
        const offset = random.below(5);
        const { total, positions } = listings[kind].select(filter, { limit: 10, offset });
        const found = readDocuments<Listed>(model.parts.documents[kind], positions).map(
          ({ id }) => id,
        );
        assert.deepEqual(
          { total, found },
          { total: ids.length, found: ids.slice(offset, offset + 10) },
          `${kind} ${JSON.stringify(filter)}`,
        );
      }
    }
  });

test("a date that is less precise than a day fits where some day of it would", async (t) => {
  const dates = ["2026-03-31", "2026-03", "2026", "2025-12-31", "2026-04-01"];
  const model = await modelOf(
    t,
    dates.map((date) => ({ record: "signal", id: date, title: date, date })),
  );
  const { signal } = await openListings(model.parts, noPause);
  const between = (since?: string, until?: string) =>
    readDocuments<Listed>(
      model.parts.documents.signal,
      signal.select({ since, until }, everything).positions,
    )
      .map(({ date }) => date!)
      .toSorted((one, other) => (one < other ? -1 : 1));
  assert.deepEqual(between("2026-03-31", "2026-03-31"), ["2026", "2026-03", "2026-03-31"]);
  assert.deepEqual(between("2026-04"), ["2026", "2026-04-01"]);
  assert.deepEqual(between(undefined, "2025"), ["2025-12-31"]);
  assert.deepEqual(between("2026", "2026"), ["2026", "2026-03", "2026-03-31", "2026-04-01"]);
});

test("a value that no record of the kind carries is missed, with what is near among those of the kind", async (t) => {
  const model = await modelOf(t, [
    { record: "gp", id: "a", name: "Alder", tags: ["serial_filer"], markets: ["Austin, TX"] },
    {
      record: "project",
      id: "p",
      name: "P",
      tags: ["serial_file"],
      market: "Boston, MA",
      gps: ["a"],
    },
  ]);
  const { project } = await openListings(model.parts, noPause);
  const { misses } = project.select({ tag: ["serial_filers"], market: ["bostn"] }, everything);
  assert.deepEqual(
    misses.map((miss) => [miss.parameter, miss.value, project.suggestionsFor(miss)]),
    [
      ["tag", "serial_filers", ["serial_file"]],
      ["market", "bostn", ["Boston", "Boston, MA"]],
    ],
  );
});

test("other work of the thread goes between the documents that are read, and may end the reading", async (t) => {
  const many = Array.from({ length: 300 }, (_, i) => ({
    record: "gp",
    id: `g${i}`,
    name: `G ${i}`,
  }));
  const model = await modelOf(t, many);
  let pauses = 0;
  await openListings(model.parts, () => void pauses++);
  assert.ok(pauses >= 3, `${pauses}`);
  const ended = openListings(model.parts, () => Promise.reject(new Error("no longer wanted")));
  await assert.rejects(ended, /no longer wanted/);
});
