/** The plots of a view: where its records are, when something happened, and how large they are. */
import { html, type Part } from "#pages/html.ts";
import { usMap } from "#pages/map.ts";
import { columnPlot, figure, periodsUntil, signalGroups } from "#pages/plot.ts";
import { counted, grouped } from "#pages/prose.ts";
import { money, valueLabel } from "#pages/values.ts";
import type { EachKind } from "#records/kinds.ts";
import { documentCount } from "#search/dataset-parts.ts";
import { onDay } from "#search/dates.ts";
import { getOrCompute } from "#search/get-or-compute.ts";
import { placeOfMarket } from "#search/market-places.ts";
import type { Filter, ReadModel } from "#search/read-model.ts";
import { countEach, type Facet } from "./facets.ts";
import { capital, filterLabel, nouns, type View, viewHref, withValues } from "./view.ts";

type Plot = (view: View, facets: readonly Facet[]) => Part;

/** Returns the plots of a view, without those that have nothing to show. */
export const plotsOf = (view: View, facets: readonly Facet[]): Part[] =>
  plots[view.kind].map((plot) => plot(view, facets)).filter((plot) => plot !== null);

/** Plots of each kind, from the left. */
const plots: EachKind<readonly Plot[]> = {
  gp: [byMarket, signalsByMonth, bySize("aum_usd", [0, 50e6, 100e6, 500e6, 1e9, 5e9])],
  principal: [byMarket, byYear("start_date", 0)],
  signal: [signalsByMonth, amountsByMonth("price", "paid"), amountsByMonth("loan", "lent")],
  project: [byMarket, byYear("completion_date", 4), bySize("units", [0, 50, 100, 250, 500, 1000])],
};

const positionsOf = (model: ReadModel, kind: View["kind"], filter: Filter): number[] =>
  model.select(kind, filter, { limit: Infinity, offset: 0 }).positions;

const dayOf = ({ model }: View): string => model.parts.updatedAt.slice(0, 10);

/** More circles would cover each other. */
const placesMax = 25;
/** Each month's link repeats the whole query, so more would fill the page. */
const monthsShown = 12;

/** Returns a map of the records by market. A circle leads where the facet's link does. */
function byMarket(view: View, facets: readonly Facet[]): Part {
  const { rows } = facets.find(({ name }) => name === "market")!;
  // Beside a choice the facet says what is added; the map shows all the same.
  const isChosen = rows.some(({ state }) => state === "chosen");
  const values = rows.map(({ value }) => value);
  const counts = isChosen ? countEach(view, "market", values, []) : rows.map(({ count }) => count);
  const places = rows.flatMap(({ value, label, state, href }, i) => {
    const place = counts[i] === 0 ? null : placeOfMarket(view.model, value);
    const more = { label, count: counts[i]!, isChosen: state === "chosen" };
    return place === null ? [] : [{ ...place, ...more, href: href ?? undefined }];
  });
  const shown = places.slice(0, placesMax);
  const [first] = shown;
  if (first === undefined) return null;
  const [, many] = nouns[view.kind];
  const finding = first.isChosen
    ? `${grouped(first.count)} in ${first.label}`
    : `${first.label} leads with ${grouped(first.count)}`;
  const measure = `${capital(many)} by market`;
  const size = { width: 320, height: 200, namesMax: 3, radiusMax: 14 };
  const drawing = usMap({ label: `${finding}. ${measure}.`, places: shown, ...size });
  const numbers = {
    label: measure,
    columns: ["Market", { label: capital(many), isNumber: true }],
    rows: shown.map(({ label, count }) => [label, grouped(count)]),
  };
  return drawing === null ? null : figure({ finding, measure }, html`${drawing}`, null, numbers);
}

/** Signal → place of its group in `signalGroups`. Each dataset's is made once. */
const groupsOf = new WeakMap<ReadModel, Uint8Array>();

function groupOfSignals(model: ReadModel): Uint8Array {
  const groups = new Uint8Array(documentCount(model.parts.documents.signal));
  signalGroups.forEach(({ types }, group) => {
    for (const signal of positionsOf(model, "signal", { type: types })) groups[signal] = group;
  });
  return groups;
}

interface Tally {
  /** Filter of the range by whose value a record is in a period. */
  range: string;
  periods: ReturnType<typeof periodsUntil>;
  positions: Iterable<number>;
  dateAt(position: number): number | undefined;
  /** Number of series, and the one to which a record belongs. */
  seriesCount?: number;
  seriesOf?(position: number): number;
  amountOf?(position: number): number;
}

/** Adds up records by period, with a number for each series. A date that names no month is in no month. */
function columnsOf(view: View, { range, periods, positions, dateAt, ...given }: Tally) {
  const { seriesCount = 1, seriesOf = () => 0, amountOf = () => 1 } = given;
  const sums = periods.map(() => Array.from({ length: seriesCount }, () => 0));
  const monthOf = (month: string) => Number(month.slice(0, 4)) * 12 + Number(month.slice(5, 7)) - 1;
  const months = monthOf(periods[0]!.until) - monthOf(periods[0]!.from) + 1;
  const begin = monthOf(periods[0]!.from);
  for (const position of positions) {
    const date = dateAt(position);
    if (date === undefined || (months < 12 && date % 10_000 < 100)) continue;
    const month =
      Math.floor(date / 10_000) * 12 + Math.max(0, Math.floor((date % 10_000) / 100) - 1);
    const column = sums[Math.floor((month - begin) / months)];
    if (column !== undefined) column[seriesOf(position)]! += amountOf(position);
  }
  const { values } = view.query;
  const [from, to] = [`${range}_from`, `${range}_to`] as const;
  const [first, last] = [from, to].map((end) => values[end]?.[0]);
  const day = dayOf(view);
  return periods.map((period, i) => ({
    label: period.label,
    tick: period.tick,
    values: sums[i]!,
    href: viewHref(view, {
      values: withValues(withValues(values, from, [period.from]), to, [period.until]),
    }),
    isChosen:
      (first ?? last) !== undefined &&
      onDay(first ?? "", day).slice(0, 7) <= period.until &&
      period.from <= (last === undefined ? period.from : onDay(last, day).slice(0, 7)),
  }));
}

/** Returns words for the last column beside the one before it, such as `126 signals in Nov 2026, 80 in Oct 2026`. */
function finding(
  columns: readonly { label: string; values: readonly number[] }[],
  words: (sum: number) => string,
) {
  const [before, last] = columns.slice(-2).map(({ label, values }) => ({
    label,
    sum: values.reduce((sum, value) => sum + value, 0),
  }));
  return `${words(last!.sum)} in ${last!.label}, ${words(before!.sum).replace(/ [a-z]+$/, "")} in ${before!.label}`;
}

/** Returns the signals by month and kind: those of the view, or of the GPs in it. */
function signalsByMonth(view: View): Part {
  const { kind, model, query } = view;
  const { filter } = query;
  const isOfGps = kind === "gp";
  const range = isOfGps ? "signal_date" : "date";
  const positions = isOfGps
    ? signalsOf(model, positionsOf(model, "gp", { ...filter, signal: undefined }))
    : positionsOf(model, "signal", { ...filter, date: undefined });
  const groups = getOrCompute(groupsOf, model, groupOfSignals);
  const columns = columnsOf(view, {
    range,
    periods: periodsUntil(dayOf(view), "month", monthsShown),
    positions,
    dateAt: model.numberAt("signal", "date"),
    seriesCount: signalGroups.length,
    seriesOf: (signal) => groups[signal]!,
  });
  if (columns.every(({ values }) => values.every((value) => value === 0))) return null;
  return columnPlot({
    finding: finding(columns, (sum) => counted(sum, "signal")),
    measure: `Signals${isOfGps ? " of these GPs" : ""} by month and kind`,
    head: "Month",
    series: signalGroups,
    columns,
  });
}

/** Returns the signals of GPs, each once. */
function signalsOf({ parts }: ReadModel, gps: readonly number[]): Set<number> | number[] {
  const { starts, items } = parts.recordsOfGp.signal;
  const seen = new Uint8Array(documentCount(parts.documents.signal));
  const signals: number[] = [];
  for (const gp of gps)
    for (let at = starts[gp]!; at < starts[gp + 1]!; at++) {
      if (seen[items[at]!] === 1) continue;
      seen[items[at]!] = 1;
      signals.push(items[at]!);
    }
  return signals;
}

/** Returns a plot of the amounts of one meaning by month. Amounts of unlike meanings are never added. */
function amountsByMonth(basis: string, verb: string): Plot {
  return (view) => {
    const { model, query } = view;
    const { amount_basis, ...filter } = query.filter as Record<string, never>;
    if (amount_basis !== undefined && !(amount_basis as string[]).includes(basis)) return null;
    const amountAt = model.numberAt("signal", "amount_usd");
    const columns = columnsOf(view, {
      range: "date",
      periods: periodsUntil(dayOf(view), "month", monthsShown),
      positions: positionsOf(model, "signal", {
        ...filter,
        date: undefined,
        amount_basis: [basis],
      }),
      dateAt: model.numberAt("signal", "date"),
      amountOf: (signal) => amountAt(signal) ?? 0,
    });
    if (columns.every(({ values }) => values[0] === 0)) return null;
    return columnPlot({
      finding: finding(columns, (sum) => `${money(sum) || "$0"} ${verb}`),
      measure: `${valueLabel(basis)}s by month, US dollars`,
      head: "Month",
      series: [{ label: `${valueLabel(basis)}s`, hue: "deals" }],
      columns,
      format: (value) => money(value) || "$0",
    });
  };
}

/** Returns a plot of the records by the year of a date, up to some years ahead of the dataset. */
function byYear(range: string, yearsAhead: number): Plot {
  return (view) => {
    const { kind, model, query } = view;
    const last = `${Number(dayOf(view).slice(0, 4)) + yearsAhead}-12-31`;
    const columns = columnsOf(view, {
      range,
      periods: periodsUntil(last, "year", 12),
      positions: positionsOf(model, kind, { ...query.filter, [range]: undefined }),
      dateAt: model.numberAt(kind, range),
    });
    if (columns.every(({ values }) => values[0] === 0)) return null;
    const most = columns.toSorted((a, b) => b.values[0]! - a.values[0]!)[0]!;
    return columnPlot({
      finding: `${filterLabel(range)} in ${most.label}: ${counted(most.values[0]!, ...nouns[kind])}`,
      measure: `${capital(nouns[kind][1])} by year of ${filterLabel(range).toLowerCase()}`,
      head: "Year",
      series: [{ label: capital(nouns[kind][1]), hue: "accent" }],
      columns,
    });
  };
}

/** Returns a histogram of a number. @param edges lowest number of each column. */
function bySize(range: string, edges: readonly number[]): Plot {
  return (view) => {
    const { kind, model, query } = view;
    const numberAt = model.numberAt(kind, range);
    const counts = edges.map(() => 0);
    const positions = positionsOf(model, kind, { ...query.filter, [range]: undefined });
    for (const position of positions) {
      const number = numberAt(position);
      if (number !== undefined) counts[edges.findLastIndex((edge) => edge <= number)]!++;
    }
    const known = counts.reduce((sum, count) => sum + count, 0);
    if (known === 0) return null;
    const { values } = query;
    const words = (edge: number) => (range.endsWith("_usd") ? money(edge) : grouped(edge));
    const columns = edges.map((edge, i) => {
      const next = edges[i + 1];
      const least = edge === 0 ? [] : [String(edge)];
      const most = next === undefined ? [] : [String(next - 1)];
      const asked = withValues(withValues(values, `${range}_min`, least), `${range}_max`, most);
      return {
        label: next === undefined ? `${words(edge)} or more` : `${words(edge)} to ${words(next)}`,
        tick: words(edge),
        values: [counts[i]!],
        href: viewHref(view, { values: asked }),
        isChosen:
          asked[`${range}_min`]?.[0] === values[`${range}_min`]?.[0] &&
          asked[`${range}_max`]?.[0] === values[`${range}_max`]?.[0],
      };
    });
    const label = filterLabel(range).toLowerCase();
    return columnPlot({
      finding: `${grouped(known)} of ${grouped(positions.length)} state their ${label}`,
      measure: `${capital(nouns[kind][1])} by ${label}`,
      head: filterLabel(range),
      series: [{ label: capital(nouns[kind][1]), hue: "accent" }],
      columns,
    });
  };
}
