/** Which records of a kind satisfy a filter, worked out by looking at every one of them. */
import type { CanonicalGp, CanonicalRecord } from "#records/canonical.ts";
import type { RecordKind } from "#records/kinds.ts";
import {
  fold,
  type IdOf,
  inOrder,
  isLinked,
  type LinkedRecord,
  marketSpellings,
  carriesAny,
  type Facet,
  facets,
  rankOf,
  sortedBy,
} from "../reference.ts";

export interface ReferenceDates {
  from?: string | undefined;
  to?: string | undefined;
}

type ReferenceGpFilter = { gp_name?: string | undefined } & {
  [facet in Facet]?: readonly string[] | undefined;
};

/** Conditions by name; a condition left out or without a value is none. */
export interface ReferenceFilter {
  gp_name?: string | undefined;
  /** On one signal of a GP. */
  signal?: ReferenceFilter | undefined;
  values?: Readonly<Record<string, readonly string[] | undefined>>;
  dates?: Readonly<Record<string, ReferenceDates>>;
}

export type ReferenceOrder = "usual" | "name" | "latest";

/** Public ids of all records that satisfy the filter, in order. */
export function referenceList(
  records: readonly CanonicalRecord[],
  kind: RecordKind,
  filter: ReferenceFilter,
  order: ReferenceOrder,
  idOf: IdOf,
): string[] {
  const gps = records.filter((record) => record.record === "gp");
  const linked = records.filter((record) => record.record !== "gp");
  if (kind !== "gp") {
    const ofKind = linked.filter(
      (record) => record.record === kind && isLinkedOne(record, gps, filter, idOf),
    );
    return inOrder(ofKind, idOf).map(idOf);
  }
  const signals = inOrder(
    linked.filter(({ record }) => record === "signal"),
    idOf,
  );
  const found = gps.filter((gp) => isGp(gp, signals, gps, filter, idOf));
  // Signals are newest first, so the place of the first one with a date is the same for all with that date.
  const dates = signals.map((signal) => dateOf(signal, "date"));
  const latest = (gp: CanonicalGp) => {
    const place = signals.findIndex((signal) => isLinked(signal, gp));
    return place === -1 ? signals.length : dates.indexOf(dates[place]!);
  };
  const rank = (gp: CanonicalGp) =>
    order === "usual" ? (rankFor(gp, filter.gp_name, idOf) ?? 0) : 0;
  const keysOf = (gp: CanonicalGp) =>
    order === "latest" ? [latest(gp)] : [rank(gp), fold(gp.name)];
  return sortedBy(found, (gp) => [...keysOf(gp), idOf(gp)]).map(idOf);
}

function isGp(
  gp: CanonicalGp,
  signals: readonly LinkedRecord[],
  gps: readonly CanonicalGp[],
  { signal, values = {}, ...filter }: ReferenceFilter,
  idOf: IdOf,
): boolean {
  const own = { ...filter, ...(values as ReferenceGpFilter) };
  return (
    isOneGp(gp, own, idOf) &&
    carries(gp.property_types ?? [], values["property_type"]) &&
    (signal === undefined ||
      !hasConditions(signal) ||
      signals.some((one) => isLinked(one, gp) && isLinkedOne(one, gps, signal, idOf)))
  );
}

function isLinkedOne(
  record: LinkedRecord,
  gps: readonly CanonicalGp[],
  { gp_name, values = {}, dates = {} }: ReferenceFilter,
  idOf: IdOf,
): boolean {
  const ofPrincipal = record.record === "principal" ? (values as ReferenceGpFilter) : {};
  const ofGp = { gp_name, ...ofPrincipal };
  const isOfNone = gp_name === undefined && facets.every((facet) => isEmpty(ofGp[facet]));
  if (!isOfNone && !gps.some((one) => isLinked(record, one) && isOneGp(one, ofGp, idOf)))
    return false;
  if (record.record === "principal") return true;
  return (
    Object.entries(values).every(([name, asked]) => carries(textsOf(record, name), asked)) &&
    Object.entries(dates).every(([name, asked]) => isBetween(dateOf(record, name), asked))
  );
}

const isEmpty = (values: readonly string[] | undefined) => (values ?? []).length === 0;

const hasConditions = ({ values = {}, dates = {}, gp_name }: ReferenceFilter) =>
  gp_name !== undefined ||
  Object.values(values).some((asked) => !isEmpty(asked)) ||
  Object.values(dates).some(({ from, to }) => from !== undefined || to !== undefined);

const isOneGp = (gp: CanonicalGp, filter: ReferenceGpFilter, idOf: IdOf) =>
  (filter.gp_name === undefined || rankFor(gp, filter.gp_name, idOf) !== undefined) &&
  facets.every((facet) => {
    const { [facet]: values = [] } = filter;
    return values.length === 0 || carriesAny(gp, facet, values);
  });

const rankFor = (gp: CanonicalGp, name: string | undefined, idOf: IdOf) =>
  name === undefined || name === idOf(gp) ? 0 : rankOf(gp, fold(name));

/** Every spelling by which a record is found by a condition. */
export function textsOf(record: CanonicalRecord, name: string): readonly string[] {
  if (record.record === "principal") return [];
  if (record.record === "gp") return name === "property_type" ? (record.property_types ?? []) : [];
  const ofProject = record.record === "project";
  const types = ofProject ? [record.property_type ?? "unknown"] : (record.property_types ?? []);
  const strategies = ofProject ? [record.strategy ?? []].flat() : [];
  switch (name) {
    case "market":
      return [record.market ?? []].flat().flatMap(marketSpellings);
    case "tag":
      return [...(record.tags ?? []), ...types, ...strategies];
    case "theme":
      return record.themes ?? [];
    case "property_type":
      return types;
    case "type":
      return [record.type ?? "other"];
    default:
      return ofProject && name === "status" ? [record.status ?? "unknown"] : [];
  }
}

const carries = (carried: readonly string[], asked: readonly string[] | undefined) =>
  isEmpty(asked) ||
  asked!.some((one) => fold(one) !== "" && carried.some((other) => fold(other) === fold(one)));

const dateOf = (record: LinkedRecord, name: string): string | null =>
  (record as unknown as Record<string, string | null | undefined>)[name] ?? null;

function isBetween(date: string | null, { from, to }: ReferenceDates): boolean {
  if (from === undefined && to === undefined) return true;
  if (date === null) return false;
  return (from === undefined || !isBefore(date, from)) && (to === undefined || !isBefore(to, date));
}

/** Compares what is given of two dates, as far as both are given. */
function isBefore(one: string, other: string): boolean {
  const length = Math.min(one.length, other.length);
  return one.slice(0, length) < other.slice(0, length);
}
