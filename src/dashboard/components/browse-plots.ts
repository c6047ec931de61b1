/** The plots of a view: its records by place, time and size. */
import { html, type Part } from "#pages/html.ts";
import { usMap } from "#pages/map.ts";
import { type ColumnPlot, columnPlot, figure, periodsUntil, signalGroups } from "#pages/plot.ts";
import { counted, grouped } from "#pages/prose.ts";
import { money, valueLabel } from "#pages/values.ts";
import { kinds, type RecordKind } from "#records/kinds.ts";
import { documentCount } from "#search/dataset-parts.ts";
import { dateKey, lastDay } from "#search/dates.ts";
import { getOrCompute } from "#search/get-or-compute.ts";
import { placeOfMarket } from "#search/market-places.ts";
import type { Filter, ReadModel } from "#search/read-model.ts";
import { countEach, type Facet } from "./facets.ts";
import { browseOf, type Plot, type RangePlot } from "./records.ts";
import { capital, dayOf, endsOf, filterLabel, hrefWith, type View } from "./view.ts";

/** Returns the plots of a view, without those that have nothing to show. */
export const plotsOf = (view: View, facets: readonly Facet[]): Part[] =>
  browseOf(view.kind).plots.flatMap((plot) => plotOf(view, facets, plot) ?? []);

function plotOf(view: View, facets: readonly Facet[], plot: Plot): Part {
  if (plot === "market") return byMarket(view, facets);
  if (plot === "signals") return signalsBy(view, "month");
  return "range" in plot ? byRange(view, plot) : amountsByMonth(view, plot.amounts, plot.verb);
}

const positionsOf = (model: ReadModel, kind: RecordKind, filter: Filter): number[] =>
  model.select(kind, filter, { limit: Infinity, offset: 0 }).positions;

/** Maximum number of circles on a map. More would cover each other. */
const placesMax = 25;

/** Returns a map of the records by market, with the facet's links. Returns null if no market can be shown. */
export function byMarket(view: View, facets: readonly Facet[], isClose = false): Part {
  const { rows } = facets.find(({ name }) => name === "market")!;
  // Once a market is chosen, the facet counts what each other market would add. The map counts all records of a market.
  const isChosen = rows.some(({ state }) => state === "chosen");
  const values = rows.map(({ value }) => value);
  const counts = isChosen ? countEach(view, "market", values, []) : rows.map(({ count }) => count);
  const places = rows.flatMap(({ value, label, state, href }, i) => {
    const place = counts[i] === 0 ? null : placeOfMarket(view.model, value);
    const more = {
      label: label.split(",")[0]!,
      name: label,
      count: counts[i]!,
      isChosen: state === "chosen",
    };
    return place === null ? [] : [{ ...place, ...more, href: href ?? undefined }];
  });
  const shown = places.slice(0, placesMax);
  const [first] = shown;
  if (first === undefined) return null;
  const many = kinds[view.kind].label;
  const count = grouped(first.count);
  const isAhead = rows.every(({ label }, i) => label === first.name || counts[i]! < first.count);
  const leads = isAhead ? `${first.label} leads with ${count}` : counted(places.length, "market");
  const finding = first.isChosen ? `${count} in ${first.label}` : leads;
  const measure = `${many} by market`;
  // A close-up has few places.
  const look = isClose ? { namesMax: 8, radiusMax: 9 } : { namesMax: 3, radiusMax: 14 };
  const label = `${finding}. ${measure}.`;
  const drawing = usMap({ label, places: shown, width: 320, height: 200, ...look, isClose });
  const numbers = {
    columns: ["Market", { label: many, isNumber: true }],
    rows: shown.map(({ name, count }) => [name, grouped(count)]),
  };
  return drawing === null ? null : figure({ finding, measure }, html`${drawing}`, null, numbers);
}

interface Bin {
  label: string;
  tick: string | undefined;
  /** Lowest and highest value in the column: numbers, or dates as `dateKey` returns them. */
  least: number;
  most: number;
  /** Ends of the range that the column's link sets; empty for an open end. */
  from: readonly string[];
  to: readonly string[];
}

/** Returns a bin for each period. A date that names only a year is in no month or quarter. */
const binsOf = (periods: ReturnType<typeof periodsUntil>): Bin[] =>
  periods.map(({ from, until, label, tick }) => {
    const [least, most] = [dateKey(from), lastDay(dateKey(until))];
    return { label, tick, least, most, from: [from], to: [until] };
  });

interface Histogram extends Pick<ColumnPlot, "head" | "measure" | "series" | "format"> {
  /** Filter range that a column's link sets. */
  range: string;
  bins: readonly Bin[];
  positions: Iterable<number>;
  valueAt(position: number): number | undefined;
  seriesOf?(position: number): number;
  amountOf?(position: number): number;
  finding(columns: readonly Column[]): string;
}
type Column = ColumnPlot["columns"][number];

/** Returns a plot of records by the bins of their values. Returns null if all sums are 0. */
function histogram(view: View, given: Histogram): Part {
  const { range, bins, positions, valueAt, seriesOf = () => 0, amountOf = () => 1 } = given;
  const { finding, ...words } = given;
  const sums = bins.map(() => words.series.map(() => 0));
  for (const position of positions) {
    const value = valueAt(position);
    if (value === undefined || value < bins[0]!.least) continue;
    const bin = bins.findLastIndex(({ least }) => least <= value);
    if (value <= bins[bin]!.most) sums[bin]![seriesOf(position)]! += amountOf(position);
  }
  if (sums.flat().every((sum) => sum === 0)) return null;
  const [from, to] = endsOf(view.kind, range);
  const { [from]: chosenFrom = [], [to]: chosenTo = [] } = view.query.values;
  const columns = bins.map((bin, i) => ({
    ...bin,
    values: sums[i]!,
    href: hrefWith(view, { [from]: bin.from, [to]: bin.to }),
    isChosen: bin.from[0] === chosenFrom[0] && bin.to[0] === chosenTo[0],
  }));
  return columnPlot({ ...words, finding: finding(columns), columns });
}

const periodOf = ({ label }: Column) => label.split(" ")[0];
const sumOf = ({ values }: Column) => values.reduce((sum, value) => sum + value, 0);

/** Returns a function that describes the last two columns, as in `126 signals in Nov, 80 in Oct`. */
const lastTwo =
  (verbOf: (sum: number) => string, words = grouped) =>
  (columns: readonly Column[]): string => {
    const [before, last] = columns.slice(-2) as [Column, Column];
    const sum = sumOf(last);
    const latest = columns.findLast((one) => sumOf(one) !== 0);
    if (latest !== undefined && latest !== last && latest !== before)
      return `Nothing since ${latest.label}`;
    return `${words(sum)} ${verbOf(sum)} in ${periodOf(last)}, ${words(sumOf(before))} in ${periodOf(before)}`;
  };

/** Index in `signalGroups` of each signal's group, computed once for each dataset. */
const groupsOf = new WeakMap<ReadModel, Uint8Array>();

function groupOfSignals(model: ReadModel): Uint8Array {
  const groups = new Uint8Array(documentCount(model.parts.documents.signal));
  signalGroups.forEach(({ types }, group) => {
    for (const signal of positionsOf(model, "signal", { type: types })) groups[signal] = group;
  });
  return groups;
}

/**
 * Returns a plot of signals by kind over 24 periods: the signals of a view, or those of the GPs in it. Ignores the
 * view's filter on dates or, for GPs, on their signals. Returns null if there is no signal to show.
 */
export function signalsBy(view: View, unit: "month" | "quarter"): Part {
  const { kind, model, query } = view;
  const isOfGps = kind === "gp";
  const whose = query.filter["signal"] ? "GPs that match the other filters" : "these GPs";
  const groups = getOrCompute(groupsOf, model, groupOfSignals);
  return histogram(view, {
    range: isOfGps ? "signal_date" : "date",
    bins: binsOf(periodsUntil(dayOf(model), unit, 24)),
    positions: isOfGps
      ? signalsOf(model, positionsOf(model, "gp", { ...query.filter, signal: undefined }))
      : positionsOf(model, "signal", { ...query.filter, date: undefined }),
    valueAt: model.numberAt("signal", "date"),
    seriesOf: (signal) => groups[signal]!,
    finding: lastTwo((sum) => (sum === 1 ? "signal" : "signals")),
    measure: `Signals${isOfGps ? ` of ${whose}` : ""} by ${unit} and kind`,
    head: capital(unit),
    series: signalGroups,
  });
}

function* signalsOf({ parts }: ReadModel, gps: readonly number[]): Generator<number> {
  const { starts, items } = parts.recordsOfGp.signal;
  const isSeen = new Uint8Array(documentCount(parts.documents.signal));
  for (const gp of gps)
    for (const signal of items.subarray(starts[gp], starts[gp + 1])) {
      if (isSeen[signal] === 1) continue;
      isSeen[signal] = 1;
      yield signal;
    }
}

/**
 * Returns a plot of amounts by month. It shows only one basis, because amounts of different bases must not be added.
 * Returns null if there are none.
 */
function amountsByMonth(view: View, basis: string, verb: string): Part {
  const label = `${valueLabel(basis)}s`;
  const { model, query } = view;
  const { amount_basis = [basis], ...filter } = query.filter;
  if (!(amount_basis as readonly string[]).includes(basis)) return null;
  const amountAt = model.numberAt("signal", "amount_usd");
  const asked = { ...filter, date: undefined, amount_basis: [basis] };
  return histogram(view, {
    range: "date",
    bins: binsOf(periodsUntil(dayOf(model), "month", 24)),
    positions: positionsOf(model, "signal", asked),
    valueAt: model.numberAt("signal", "date"),
    amountOf: (signal) => amountAt(signal) ?? 0,
    finding: lastTwo(() => verb, money),
    measure: `${label} by month, US dollars`,
    head: "Month",
    series: [{ label, hue: "deals" }],
    format: money,
  });
}

function byRange(view: View, { range, edges, yearsAhead = 0 }: RangePlot): Part {
  const label = filterLabel(range);
  const { kind, model, query } = view;
  const valueAt = model.numberAt(kind, range);
  const positions = positionsOf(model, kind, { ...query.filter, [range]: undefined });
  const known = positions.filter((position) => valueAt(position) !== undefined).length;
  const many = kinds[kind].label;
  const lastYear = Number(dayOf(model).slice(0, 4)) + yearsAhead;
  return histogram(view, {
    range,
    bins:
      edges === undefined
        ? binsOf(periodsUntil(`${lastYear}-12`, "year", 12))
        : sizes(edges, range.endsWith("_usd") ? money : grouped),
    positions,
    valueAt,
    finding: () =>
      `${label} known for ${grouped(known)} of ${counted(positions.length, ...kinds[kind].nouns)}`,
    measure: `${many} by ${label.toLowerCase()}${edges === undefined ? `, ${lastYear - 11} to ${lastYear}` : ""}`,
    head: label,
    series: [{ label: many, hue: "accent" }],
  });
}

/** Returns bins between numbers. @param edges lowest number in each bin. */
const sizes = (edges: readonly number[], words: (edge: number) => string) =>
  edges.map((least, i): Bin => {
    const next = edges[i + 1] ?? Infinity;
    return {
      label: next === Infinity ? `${words(least)} or more` : `${words(least)} to ${words(next)}`,
      tick: words(least),
      least,
      most: next - 1,
      from: least === 0 ? [] : [String(least)],
      to: next === Infinity ? [] : [String(next - 1)],
    };
  });
